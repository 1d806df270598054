//! `boardcast simulate`.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::{Args, builder::RangedU64ValueParser};

use super::{name_of, output};
use crate::{
    accuracy,
    sim::{
        board::BoardSettings,
        capture,
        faults::FaultSpec,
        hand::preset::{Name, Preset},
        pgn,
        score::Score,
    },
    view::capture::{Header, Line, Writer},
};

/// Write the capture that hands playing these games would give.
#[derive(Debug, Args)]
pub struct Simulate {
    /// The games to play: one after the other on one board, or with --bus all at once
    #[arg(long, value_name = "FILE")]
    pgn: PathBuf,
    /// The same seed gives the same capture, byte for byte
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How the hands play and the line behaves: clean, orders, classical, blitz, scramble, lossy,
    /// noclock, casual or hell
    #[arg(long, value_name = "PRESET", default_value = "orders")]
    noise: Name,
    /// Play only game N of the file, counted from 1
    #[arg(long, value_name = "N")]
    game: Option<usize>,
    /// Put the games on the boards of an RS-232 bus and record that
    #[arg(long)]
    bus: bool,
    /// How many boards the bus has; as many as there are games if not given. With fewer boards each
    /// plays every Nth game
    #[arg(long, value_name = "N", requires = "bus", value_parser = boards_on_a_bus())]
    boards: Option<u64>,
    /// What is wrong with the cable and the boards, such as loss=1e-3,pull=60s+4s; docs/faults.md
    /// tells all of it
    #[arg(long, value_name = "SPEC")]
    faults: Option<FaultSpec>,
    /// The capture to write; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the command.
///
/// # Errors
///
/// If the games cannot be read or played, or the capture cannot be written.
pub(super) fn run(command: &Simulate) -> anyhow::Result<ExitCode> {
    let mut scores = read_scores(&command.pgn)?;
    if let Some(n) = command.game {
        let count = scores.len();
        let wanted = n.checked_sub(1).filter(|&i| i < count);
        let Some(i) = wanted else {
            bail!("{}: there is no game {n}; it holds {count}", name_of(&command.pgn));
        };
        scores = vec![scores.swap_remove(i)];
    }
    check_starts(&scores)?;
    let (header, lines) = play(command, &scores)?;
    let sink: Box<dyn Write> = if command.output == Path::new("-") {
        Box::new(io::stdout().lock())
    } else {
        let file = File::create(&command.output).with_context(|| name_of(&command.output))?;
        Box::new(file)
    };
    let write = || -> io::Result<()> {
        let mut writer = Writer::new(BufWriter::new(sink), &header)?;
        for line in &lines {
            writer.write(line)?;
        }
        writer.finish().map(drop)
    };
    match write() {
        Err(error) if output::is_closed_pipe(&error) => return Ok(ExitCode::SUCCESS),
        other => other.with_context(|| name_of(&command.output))?,
    }
    let plies: usize = scores.iter().map(|score| score.plies().len()).sum();
    output::tell(&format!(
        "{} {} ({plies} plies) played{} with preset {}, seed {}: {} lines in {}",
        scores.len(),
        if scores.len() == 1 { "game" } else { "games" },
        if command.bus { " on a bus" } else { "" },
        command.noise,
        command.seed,
        lines.len() + 1,
        name_of(&command.output),
    ));
    Ok(ExitCode::SUCCESS)
}

fn play(command: &Simulate, scores: &[Score]) -> anyhow::Result<(Header, Vec<Line>)> {
    let preset = Preset::new(command.noise);
    let faults = command.faults.clone().unwrap_or_default();
    if !command.bus {
        let settings = BoardSettings::new(capture::SERIAL);
        let simulation = capture::simulate_on(settings, &faults, scores, &preset, command.seed);
        return Ok(accuracy::capture_of(scores, &simulation));
    }
    let boards = command.boards.map_or(scores.len(), |boards| boards as usize).min(scores.len());
    if boards > capture::MOST_BOARDS {
        bail!(
            "{}: {boards} games are too many to play at once; a bus has at most {} boards, so \
             add --boards N",
            name_of(&command.pgn),
            capture::MOST_BOARDS
        );
    }
    let mut games = vec![Vec::new(); boards];
    for (i, score) in scores.iter().enumerate() {
        games[i % boards].push(score.clone());
    }
    let simulation = capture::simulate_bus(&games, &faults, &preset, command.seed);
    Ok(accuracy::bus_capture_of(scores, &simulation))
}

fn boards_on_a_bus() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=capture::MOST_BOARDS as u64)
}

/// Reads all games of a PGN file.
///
/// # Errors
///
/// If the file cannot be read, holds no game, or one of its games cannot be played.
pub(super) fn read_scores(path: &Path) -> anyhow::Result<Vec<Score>> {
    let text = std::fs::read(path).with_context(|| name_of(path))?;
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
    let scores = pgn::read(text)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .with_context(|| name_of(path))?;
    if scores.iter().all(|score| score.plies().is_empty()) {
        bail!("{}: there are no moves in it; is it a PGN file?", name_of(path));
    }
    Ok(scores)
}

/// One board is set up for one kind of start only.
fn check_starts(scores: &[Score]) -> anyhow::Result<()> {
    let Some(first) = scores.first() else {
        return Ok(());
    };
    for (i, score) in scores.iter().enumerate().skip(1) {
        let chess960 = score.castling_mode() == shakmaty::CastlingMode::Chess960;
        let same_kind = score.castling_mode() == first.castling_mode();
        if !same_kind || (!chess960 && score.start() != first.start()) {
            bail!(
                "game {} starts from another position than game 1; a capture holds games from one \
                 start only, so write one capture for each with --game N",
                i + 1
            );
        }
    }
    Ok(())
}

/// Some editors begin a file with it.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What `--help` shows.
pub(super) const EXAMPLES: &str = "\
Examples:
  boardcast simulate --pgn games.pgn -o games.jsonl
  boardcast simulate --pgn games.pgn --game 3 --noise blitz --seed 7 -o blitz.jsonl
  boardcast simulate --pgn games.pgn -o - | boardcast replay - --pgn
  boardcast simulate --pgn games.pgn --bus --boards 8 -o bus.jsonl
  boardcast simulate --pgn games.pgn --faults loss=1e-3,pull=60s+4s -o bad.jsonl

No device is needed. docs/hands.md tells what each preset does, docs/faults.md what can go wrong with
a cable.";
