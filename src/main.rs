//! The `boardcast` command.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    boardcast::cli::run(boardcast::cli::Cli::parse())
}
