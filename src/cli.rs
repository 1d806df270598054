//! The command line: what a person types, and how a command ends.

mod accuracy;

mod boards;

mod demo;

mod explain;

mod logging;

mod output;

mod record;

mod replay;

mod run;

mod simulate;

mod ticker;

use std::{io, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

/// Reads DGT chess boards and publishes the games played on them, live, over MQTT.
#[derive(Debug, Parser)]
#[command(name = "boardcast", version, about, after_help = EXAMPLES)]
pub struct Cli {
    /// What is written to the log: error, warn, info, debug or trace
    #[arg(long, global = true, value_name = "LEVEL", env = "BOARDCAST_LOG")]
    pub log: Option<String>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Everything boardcast can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch a hall of virtual boards play: real ports, tracker and broker, no hardware
    #[command(after_help = demo::EXAMPLES)]
    Demo(demo::Demo),
    /// Publish the boards of a hall: the daemon
    #[command(after_help = run::EXAMPLES)]
    Run(run::Run),
    /// List the serial ports and the boards found on them
    #[command(after_help = boards::EXAMPLES)]
    Boards(boards::Boards),
    /// Write down everything that goes over a board's cable while it is used
    #[command(after_help = record::EXAMPLES)]
    Record(record::Record),
    /// Replay captures and print the events or the games they give
    #[command(after_help = replay::EXAMPLES)]
    Replay(replay::Replay),
    /// Write the capture that hands playing these games would give
    #[command(after_help = simulate::EXAMPLES)]
    Simulate(simulate::Simulate),
    /// Play games on a simulated board, read them back, and count how many are exactly right
    #[command(after_help = accuracy::EXAMPLES)]
    Accuracy(accuracy::Accuracy),
}

/// Runs one command.
pub fn run(cli: Cli) -> ExitCode {
    let log = cli.log.as_deref();
    let result = match cli.command {
        Command::Demo(command) => demo::run(&command, log),
        Command::Run(command) => run::run(&command, log),
        Command::Boards(command) => boards::run(&command, log),
        Command::Record(command) => record::run(&command, log),
        Command::Replay(command) => replay::run(&command),
        Command::Simulate(command) => simulate::run(&command),
        Command::Accuracy(command) => accuracy::run(&command),
    };
    result.unwrap_or_else(|error| {
        output::complain(&told(&error));
        ExitCode::from(FAILURE)
    })
}

/// An error with its causes, each said once and in words.
fn told(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let words = cause.downcast_ref().map_or_else(|| cause.to_string(), in_words);
        if text.is_empty() {
            text = words;
        } else if !text.contains(&words) && !text.contains(&cause.to_string()) {
            text = format!("{text}: {words}");
        }
    }
    text
}

/// What the system says, for somebody who does not know its numbers.
fn in_words(error: &io::Error) -> String {
    let words = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder",
        io::ErrorKind::AlreadyExists => "there is such a file already; name another",
        io::ErrorKind::PermissionDenied => "this user is not allowed to open it",
        io::ErrorKind::IsADirectory => "this is a folder, not a file",
        io::ErrorKind::StorageFull => "there is no room left on the disk",
        io::ErrorKind::ReadOnlyFilesystem => "nothing can be written on this disk",
        _ => return error.to_string(),
    };
    words.to_owned()
}

/// A file named on the command line, for messages.
fn name_of(path: &std::path::Path) -> String {
    PathBuf::from(path).display().to_string()
}

/// The exit status of a command that could not do what it was asked.
const FAILURE: u8 = 1;

const EXAMPLES: &str = "\
Examples:
  boardcast demo                        watch a hall of virtual boards play
  boardcast boards                      see which boards are plugged in
  boardcast run --config hall.toml      publish the boards of a real one
  boardcast record /dev/ttyUSB0 -o game.jsonl
  boardcast replay game.jsonl --pgn     what was played";

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_cause_is_said_once_and_in_words() {
        let missing = || io::Error::from_raw_os_error(2);
        let error = Err::<(), _>(missing()).context("games.pgn").unwrap_err();
        assert_eq!(told(&error), "games.pgn: there is no such file or folder");
        let error = anyhow::Error::from(missing()).context(format!("x: {}", missing()));
        assert_eq!(told(&error), format!("x: {}", missing()));
    }
}
