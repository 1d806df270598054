//! `boardcast record`.

mod tape;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, bail};
use clap::Args;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{logging, name_of, output, ticker::Ticker};
use crate::{
    daemon::{
        self,
        clock::Clock,
        engine::Engine,
        log::{Cursor, Reading},
        port::Port,
    },
    hall::{Hall, HallSetup, PortName, Source, TableSetup},
    view::capture::LinkKind,
};
use tape::Tape;

/// Write down everything that goes over a board's cable while it is used.
#[derive(Debug, Args)]
pub struct Record {
    /// The serial devices of single boards, such as /dev/ttyUSB0
    #[arg(value_name = "PORT", required_unless_present = "bus")]
    ports: Vec<PathBuf>,
    /// A serial device with several boards on an RS-232 bus behind it; may be given again
    #[arg(long, value_name = "PORT")]
    bus: Vec<PathBuf>,
    /// The capture to write; `-` is standard output. With several ports a folder, in which each gets
    /// a capture with its name
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the command until it is interrupted.
///
/// # Errors
///
/// If a capture cannot be written.
pub(super) fn run(command: &Record, log: Option<&str>) -> anyhow::Result<ExitCode> {
    logging::start(log.unwrap_or("warn"))?;
    daemon::block_on(record(command)).context("cannot start")?
}

async fn record(command: &Record) -> anyhow::Result<ExitCode> {
    let clock = Clock::start();
    // Before anything says that the recording runs, so that Ctrl-C never cuts a line.
    let signal = daemon::stop_signal().context("cannot catch Ctrl-C")?;
    let ports = ports(command)?;
    let targets = tape::targets(&command.output, ports.iter().map(|(path, _)| path.as_path()))?;

    let names = ports.iter().map(|(path, _)| PortName::new(&name_of(path)));
    let numbered = (1..).zip(names.clone());
    let tables = numbered.map(|(number, name)| TableSetup::new(number, Source::Port(name)));
    let hall = Hall::new(HallSetup { tables: tables.collect(), first_event: 1 });
    let mut engine = Engine::new(hall, clock);
    let (state, cursor) = engine.log().follow();
    let stop = CancellationToken::new();
    let (mut tapes, mut tasks) = (JoinSet::new(), JoinSet::new());
    for (((path, link), name), target) in ports.iter().zip(names).zip(targets) {
        let (tape, tap) = Tape::begin(path, *link, target, clock)?;
        let port = Port::new(name.clone(), path, clock).tapped(tap);
        let port = if *link == LinkKind::Bus { port.on_bus(Vec::new()) } else { port };
        tasks.spawn(port.run(engine.inputs(), engine.requests(name), stop.clone()));
        tapes.spawn(tape.write_down(stop.clone()));
    }
    for ((path, _), number) in ports.iter().zip(1..) {
        if ports.len() == 1 {
            let output = name_of(&command.output);
            output::tell(&format!("recording {} into {output}; Ctrl-C ends it", name_of(path)));
        } else {
            output::tell(&format!("recording {} as table {number}", name_of(path)));
        }
    }
    if ports.len() > 1 {
        output::tell(&format!("into the folder {}; Ctrl-C ends it", name_of(&command.output)));
    }
    tasks.spawn(engine.run(stop.clone()));
    tasks.spawn(tell_moves(Ticker::new(state), cursor));
    let stopper = stop.clone();
    let interrupted = tokio::spawn(async move {
        signal.await;
        stopper.cancel();
    });

    let mut written = Ok(());
    while let Some(tape) = tapes.join_next().await {
        // One that cannot be written ends them all: half a round is no record of it.
        stop.cancel();
        match tape.context("a task failed")? {
            Ok(summary) => output::tell(&summary),
            Err(error) => written = written.and(Err(error)),
        }
    }
    interrupted.abort();
    while let Some(task) = tasks.join_next().await {
        task.context("a task failed")?;
    }
    written?;
    Ok(ExitCode::SUCCESS)
}

/// The ports to record, and what is on each.
fn ports(command: &Record) -> anyhow::Result<Vec<(PathBuf, LinkKind)>> {
    let single = command.ports.iter().map(|path| (path.clone(), LinkKind::Single));
    let bus = command.bus.iter().map(|path| (path.clone(), LinkKind::Bus));
    let ports: Vec<_> = single.chain(bus).collect();
    for (i, (path, _)) in ports.iter().enumerate() {
        let same = |(other, _): &(PathBuf, LinkKind)| {
            other == path
                || std::fs::canonicalize(other)
                    .is_ok_and(|other| std::fs::canonicalize(path).is_ok_and(|path| path == other))
        };
        if let Some((other, _)) = ports[..i].iter().find(|port| same(port)) {
            let (path, other) = (name_of(path), name_of(other));
            bail!("{path} is the same device as {other}; a device can be recorded once only");
        }
    }
    Ok(ports)
}

async fn tell_moves(mut ticker: Ticker, mut cursor: Cursor) {
    while let Some(reading) = cursor.next().await {
        match reading {
            Reading::Event(recorded) => {
                if let Some(line) = ticker.line(&recorded) {
                    output::tell(&line);
                }
            }
            Reading::Reload { state, .. } => ticker = Ticker::new(*state),
        }
    }
}

/// What `--help` shows.
pub(super) const EXAMPLES: &str = "\
Examples:
  boardcast record /dev/ttyUSB0 -o board3.jsonl
  boardcast replay board3.jsonl --pgn
  boardcast record --bus /dev/ttyUSB1 -o bus.jsonl
  boardcast record /dev/ttyUSB0 /dev/ttyUSB2 --bus /dev/ttyUSB1 -o round4
  boardcast record /dev/ttyUSB0 -o - | gzip > board3.jsonl.gz

The moves of single boards are shown as they are read; a bus is only written down. If a cable is pulled the recording goes on when it is back.";
