//! `boardcast boards`.

mod json;

mod picture;

mod text;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context;
use clap::Args;
use tokio::task::JoinSet;

use super::{FAILURE, logging, output};
use crate::daemon::{
    self,
    discovery::{
        self, Found,
        probe::{Finding, probe, probe_bus},
    },
};

/// List the serial ports and the boards found on them.
#[derive(Debug, Args)]
pub struct Boards {
    /// Look at these ports only, not at all that the system knows
    #[arg(value_name = "PORT")]
    ports: Vec<PathBuf>,
    /// Look for the boards of an RS-232 bus behind this port; may be given again
    #[arg(long, value_name = "PORT")]
    bus: Vec<PathBuf>,
    /// Print one JSON object for each port, in an array
    #[arg(long)]
    json: bool,
}

/// Runs the command. It fails if there is no board.
///
/// # Errors
///
/// If the output cannot be written.
pub(super) fn run(command: &Boards, log: Option<&str>) -> anyhow::Result<ExitCode> {
    logging::start(log.unwrap_or("error"))?;
    let looked = daemon::block_on(look(command)).context("cannot start")?;
    let printed = if command.json { json::array(&looked)? } else { text::report(&looked) };
    match output::say(printed.trim_end()) {
        Err(error) if !output::is_closed_pipe(&error) => return Err(error.into()),
        _ => {}
    }
    let found = looked.iter().any(|(_, finding)| boards_in(finding) > 0);
    Ok(if found { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}

/// How many boards were found at a port.
fn boards_in(finding: &Finding) -> usize {
    match finding {
        Finding::Board(_) => 1,
        Finding::Bus(boards) => boards.len(),
        Finding::Foreign { .. } | Finding::Quiet | Finding::Trouble(_) => 0,
    }
}

/// All ports and what is on them, asked all at once.
async fn look(command: &Boards) -> Vec<(Found, Finding)> {
    let mut ports = if command.ports.is_empty() && command.bus.is_empty() {
        discovery::all_ports().await
    } else {
        discovery::these_ports(&command.ports).await
    };
    let single = ports.len();
    ports.extend(discovery::these_ports(&command.bus).await);
    if !command.json {
        let count = ports.len();
        output::tell(&format!(
            "looking at {count} serial {}",
            if count == 1 { "port" } else { "ports" }
        ));
    }
    let mut probes = JoinSet::new();
    for (i, port) in ports.iter().enumerate() {
        let path = port.path.clone();
        let bus = i >= single;
        probes.spawn(
            async move { (i, if bus { probe_bus(&path).await } else { probe(&path).await }) },
        );
    }
    let mut findings = probes.join_all().await;
    findings.sort_by_key(|(i, _)| *i);
    ports.into_iter().zip(findings.into_iter().map(|(_, finding)| finding)).collect()
}

/// What `--help` shows.
pub(super) const EXAMPLES: &str = "\
Examples:
  boardcast boards                      all ports of this machine
  boardcast boards /dev/ttyUSB0 --json  one of them, for a program
  boardcast boards --bus /dev/ttyUSB1   the boards of a bus

Ports are only asked who is there. What is no board is left alone. The exit status is 1 if no board
was found. A bus needs --bus: without it the boards of a bus leave their bus mode.";
