//! `boardcast accuracy`.

use std::{io::Write, path::PathBuf, process::ExitCode};

use clap::Args;

use super::{FAILURE, name_of, output, simulate::read_scores};
use crate::{
    accuracy::{self, Reading, Session, Tally, Verdict, san_line},
    daemon::clock::Clock,
    sim::{
        hand::preset::{Name, Preset},
        score::Score,
    },
};

/// Play games on a simulated board, read them back, and count how many are exactly right.
#[derive(Debug, Args)]
pub struct Accuracy {
    /// The games to play, each on a board of its own
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pgn: Vec<PathBuf>,
    /// How the hands play and the line behaves; may be given several times. All if not given
    #[arg(long, value_name = "PRESET")]
    preset: Vec<Name>,
    /// The same seed plays every game the same way
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Play only every Nth game
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Read over the live link, which asks for the board after each quiet time, and not from a
    /// recording, which cannot be asked
    #[arg(long)]
    live: bool,
    /// Print the moves of each game that was not read exactly
    #[arg(long)]
    failures: bool,
    /// End with status 1 if fewer games than this, in per cent, are exactly right
    #[arg(long, value_name = "PERCENT")]
    at_least: Option<f64>,
    /// End with status 1 if more than one in so many plies was published as completed and wrong
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u64).range(1..))]
    at_most_wrong: Option<u64>,
}

/// One row of the table: what is played, and how.
struct Row {
    name: String,
    sessions: Vec<Session>,
    /// The names of the games of each session.
    names: Vec<Vec<String>>,
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or holds a game that cannot be played, or the output cannot be written.
pub(super) fn run(command: &Accuracy) -> anyhow::Result<ExitCode> {
    let games = games(command)?;
    let clock = Clock::start();
    let reading = Reading { live: command.live, clock: &|| clock.elapsed() };
    let mut out = output::lines();
    writeln!(out, "{HEAD}")?;
    let mut complaints = Vec::new();
    for row in rows(command, &games) {
        let mut failures = Vec::new();
        let tally =
            accuracy::judge_all(&row.sessions, command.seed, reading, |session, game, verdict| {
                if !verdict.exact {
                    let seed = accuracy::seed_of(command.seed, session);
                    let name = format!("{} seed {seed}", row.names[session][game]);
                    let score = &row.sessions[session].scores[game];
                    failures.push(failure(&name, score, verdict, command.failures));
                }
            });
        writeln!(out, "{}", line(&row.name, &tally))?;
        let told = if command.failures { failures.len() } else { MOST_TOLD };
        for failure in failures.iter().take(told) {
            writeln!(out, "  {failure}")?;
        }
        if failures.len() > told {
            writeln!(out, "  and {} more; --failures tells all", failures.len() - told)?;
        }
        out.flush()?;
        complaints.extend(complaint(command, &row.name, &tally));
    }
    for complaint in &complaints {
        output::complain(complaint);
    }
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}

/// The games of all files with their names.
fn games(command: &Accuracy) -> anyhow::Result<Vec<(String, Score)>> {
    let mut games = Vec::new();
    for path in &command.pgn {
        let scores = read_scores(path)?;
        let named = (1..).zip(scores);
        games.extend(named.map(|(n, score)| (format!("{} game {n}", name_of(path)), score)));
    }
    Ok(games.into_iter().step_by(command.every as usize).collect())
}

fn rows(command: &Accuracy, games: &[(String, Score)]) -> Vec<Row> {
    let presets = if command.preset.is_empty() { &Name::ALL[..] } else { &command.preset };
    presets
        .iter()
        .map(|&name| Row {
            name: name.to_string(),
            sessions: games
                .iter()
                .map(|(_, score)| Session {
                    scores: vec![score.clone()],
                    preset: Preset::new(name),
                })
                .collect(),
            names: games.iter().map(|(name, _)| vec![name.clone()]).collect(),
        })
        .collect()
}

fn line(name: &str, tally: &Tally) -> String {
    let Tally { games, exact, plies, right, wrong_completed, alerts, latencies, reading } = tally;
    let percent = percent_exact(tally);
    let ms = |percent| latencies.percentile(percent).map_or("-".to_owned(), |ms| ms.to_string());
    let (half, most) = (ms(50), ms(99));
    let speed = *games as f64 / reading.as_secs_f64().max(1e-9);
    let accuracy::alerts::AlertTally { right: alerts_right, missed, false_alarms } = alerts;
    format!(
        "{name:<26} {games:>5} {exact:>6} {percent:>6.2} {plies:>7} {right:>7} {wrong_completed:>6} \
         {alerts_right:>6} {missed:>6} {false_alarms:>6} {half:>6} {most:>6} {speed:>8.0}"
    )
}

fn failure(name: &str, score: &Score, verdict: &Verdict, moves: bool) -> String {
    let Verdict { right, plies, why, played, read, .. } = verdict;
    let short = format!("{name}: right up to ply {right} of {plies}; {why}");
    if !moves {
        return short;
    }
    let rest = |line| san_line(score, line).into_iter().skip(*right).collect::<Vec<_>>().join(" ");
    format!("{short}\n    played {}\n    read   {}", rest(played), rest(read))
}

fn complaint(command: &Accuracy, name: &str, tally: &Tally) -> Vec<String> {
    let mut complaints = Vec::new();
    let percent = percent_exact(tally);
    if command.at_least.is_some_and(|least| percent < least) {
        complaints.push(format!(
            "{name}: {percent:.2} % of the games are exactly right, fewer than --at-least asks for"
        ));
    }
    let wrong = tally.wrong_completed as u64;
    if command.at_most_wrong.is_some_and(|most| wrong * most > tally.plies as u64) {
        complaints.push(format!(
            "{name}: {wrong} of {} plies were published as completed and wrong, more than \
             --at-most-wrong allows",
            tally.plies
        ));
    }
    complaints
}

fn percent_exact(tally: &Tally) -> f64 {
    100.0 * tally.exact as f64 / (tally.games as f64).max(1.0)
}

const HEAD: &str = concat!(
    "                           ----- games ----- --- plies ----- wrong  ------ alerts -----",
    "  latency, ms    games\n",
    "played how                   all  exact      %     all   right  compl. right missed  false",
    "    p50    p99 a second"
);

/// So many games that were not read exactly are told of each row.
const MOST_TOLD: usize = 5;

/// What `--help` shows.
pub(super) const EXAMPLES: &str = "\
Examples:
  boardcast accuracy --pgn games.pgn
  boardcast accuracy --pgn games.pgn --preset blitz --seed 3 --failures
  boardcast accuracy --pgn games.pgn --preset lossy --live --at-least 98
  boardcast accuracy --pgn a.pgn b.pgn --preset clean --preset orders --at-least 100

The columns: games played, exactly right at the end, and their share; plies played, and right up to
the first mistake of each game; plies ever published as completed that were not played; alerts about
play, men or record that the hands gave reason for, that were due and did not come, that came without
a reason; time from the moment the board showed a position to its publication; games read a second on
one core (with --live, played and read). Below each row the games that were not read exactly, and what
happened where the record leaves the game.";
