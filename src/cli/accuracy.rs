//! `boardcast accuracy`.

use std::{io::Write, path::PathBuf, process::ExitCode};

use clap::Args;

use super::{FAILURE, name_of, output, simulate::read_scores};
use crate::{
    accuracy::{self, Tally, san_line},
    sim::hand::preset::{Name, Preset},
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
    /// Print each game that was not read exactly
    #[arg(long)]
    failures: bool,
    /// End with status 1 if fewer games than this, in per cent, are exactly right
    #[arg(long, value_name = "PERCENT")]
    at_least: Option<f64>,
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or holds a game that cannot be played, or the output cannot be written.
pub(super) fn run(command: &Accuracy) -> anyhow::Result<ExitCode> {
    let mut scores = Vec::new();
    let mut names = Vec::new();
    for path in &command.pgn {
        let games = read_scores(path)?;
        names.extend((1..=games.len()).map(|n| format!("{} game {n}", name_of(path))));
        scores.extend(games);
    }
    let presets = if command.preset.is_empty() { &Name::ALL[..] } else { &command.preset };
    let mut out = output::lines();
    writeln!(out, "preset     games   exact       %   plies   right wrong completed")?;
    let mut enough = true;
    for &name in presets {
        let preset = Preset::new(name);
        let mut failures = Vec::new();
        let tally = accuracy::judge_all(&scores, &preset, command.seed, |i, verdict| {
            if command.failures && !verdict.exact {
                let (played, read) = (&verdict.played, &verdict.read);
                failures.push(format!(
                    "{} seed {}: right up to ply {} of {}\n  played {}\n  read   {}",
                    names[i],
                    accuracy::seed_of(command.seed, i),
                    verdict.right,
                    verdict.plies,
                    san_line(&scores[i], played)[verdict.right..].join(" "),
                    san_line(&scores[i], read)[verdict.right.min(read.len())..].join(" "),
                ));
            }
        });
        let percent = percent_exact(&tally);
        let Tally { games, exact, plies, right, wrong_completed } = tally;
        writeln!(
            out,
            "{:<10} {games:>5} {exact:>7} {percent:>7.2} {plies:>7} {right:>7} {wrong_completed:>15}",
            name.to_string(),
        )?;
        for failure in failures {
            writeln!(out, "{failure}")?;
        }
        out.flush()?;
        enough &= command.at_least.is_none_or(|least| percent >= least);
    }
    if !enough {
        output::complain("fewer games are exactly right than --at-least asks for");
        return Ok(ExitCode::from(FAILURE));
    }
    Ok(ExitCode::SUCCESS)
}

fn percent_exact(tally: &Tally) -> f64 {
    100.0 * tally.exact as f64 / (tally.games as f64).max(1.0)
}

/// What `--help` shows.
pub(super) const EXAMPLES: &str = "\
Examples:
  boardcast accuracy --pgn games.pgn
  boardcast accuracy --pgn games.pgn --preset blitz --seed 3 --failures
  boardcast accuracy --pgn a.pgn b.pgn --preset clean --preset orders --at-least 100";
