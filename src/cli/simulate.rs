//! `boardcast simulate`.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::Args;

use super::{name_of, output};
use crate::{
    accuracy,
    sim::{
        capture,
        hand::preset::{Name, Preset},
        pgn,
        score::Score,
    },
    view::capture::Writer,
};

/// Write the capture that hands playing these games would give.
#[derive(Debug, Args)]
pub struct Simulate {
    /// The games to play, one after the other on one board
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
    let simulation = capture::simulate(&scores, &Preset::new(command.noise), command.seed);
    let (header, lines) = accuracy::capture_of(&scores, &simulation);
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
        "{} {} ({plies} plies) played with preset {}, seed {}: {} lines in {}",
        scores.len(),
        if scores.len() == 1 { "game" } else { "games" },
        command.noise,
        command.seed,
        lines.len() + 1,
        name_of(&command.output),
    ));
    Ok(ExitCode::SUCCESS)
}

/// Reads all games of a PGN file.
///
/// # Errors
///
/// If the file cannot be read, holds no game, or one of its games cannot be played.
pub(super) fn read_scores(path: &Path) -> anyhow::Result<Vec<Score>> {
    let text = std::fs::read(path).with_context(|| name_of(path))?;
    let scores = pgn::read(&text)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .with_context(|| name_of(path))?;
    if scores.is_empty() {
        bail!("{}: there is no game in it", name_of(path));
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

/// What `--help` shows.
pub(super) const EXAMPLES: &str = "\
Examples:
  boardcast simulate --pgn games.pgn -o games.jsonl
  boardcast simulate --pgn games.pgn --game 3 --noise blitz --seed 7 -o blitz.jsonl
  boardcast simulate --pgn games.pgn -o - | boardcast replay - --pgn

No device is needed. docs/hands.md tells what each preset does.";
