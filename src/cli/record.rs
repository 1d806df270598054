//! `boardcast record`.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Context;
use clap::Args;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{logging, name_of, output, ticker::Ticker};
use crate::{
    daemon::{
        self,
        clock::Clock,
        engine::Engine,
        log::{Cursor, Reading},
        port::{Port, Tapped, Traffic},
    },
    game::Timestamp,
    hall::{Hall, HallSetup, PortName, Source, TableSetup},
    view::{
        capture::{Header, Line, LinkKind, Record as CaptureRecord, Writer},
        event::Epoch,
    },
};

/// Write down everything that goes over a board's cable while it is used.
#[derive(Debug, Args)]
pub struct Record {
    /// The serial device, such as /dev/ttyUSB0
    #[arg(value_name = "PORT")]
    port: PathBuf,
    /// Several boards on an RS-232 bus are behind it
    #[arg(long)]
    bus: bool,
    /// The capture to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the command until it is interrupted.
///
/// # Errors
///
/// If the capture cannot be written.
pub(super) fn run(command: &Record, log: Option<&str>) -> anyhow::Result<ExitCode> {
    logging::start(log.unwrap_or("warn"))?;
    daemon::block_on(record(command)).context("cannot start")?
}

async fn record(command: &Record) -> anyhow::Result<ExitCode> {
    let clock = Clock::start();
    let header = Header {
        created: Epoch::Unix.format(clock.started()),
        port: Some(name_of(&command.port)),
        link: if command.bus { LinkKind::Bus } else { LinkKind::Single },
        ..Header::single()
    };
    let file = File::create_new(&command.output).with_context(|| name_of(&command.output))?;
    let mut writer =
        Writer::new(BufWriter::new(file), &header).with_context(|| name_of(&command.output))?;

    let name = PortName::new(&name_of(&command.port));
    let table = TableSetup::new(1, Source::Port(name.clone()));
    let mut engine =
        Engine::new(Hall::new(HallSetup { tables: vec![table], first_event: 1 }), clock);
    let (state, cursor) = engine.log().follow();
    let requests = engine.requests(name.clone());
    let inputs = engine.inputs();
    let stop = CancellationToken::new();
    let (tap, mut tapped) = mpsc::channel(TAPPED);
    output::tell(&format!(
        "recording {} into {}; Ctrl-C ends it",
        name_of(&command.port),
        name_of(&command.output)
    ));
    let port = Port::new(name, &command.port, clock).tapped(tap);
    let port = if command.bus { port.on_bus(Vec::new()) } else { port };
    let port = tokio::spawn(port.run(inputs, requests, stop.clone()));
    let engine = tokio::spawn(engine.run(stop.clone()));
    let ticker = tokio::spawn(tell_moves(Ticker::new(state), cursor));
    let signal = daemon::stop_signal().context("cannot catch Ctrl-C")?;
    let stopper = stop.clone();
    let interrupted = tokio::spawn(async move {
        signal.await;
        stopper.cancel();
    });

    let mut lines = 0_u64;
    let written = write_down(&mut writer, &mut tapped, clock.started(), &stop, &mut lines).await;
    stop.cancel();
    interrupted.abort();
    for task in [port, engine, ticker] {
        task.await.context("a task failed")?;
    }
    written.with_context(|| name_of(&command.output))?;
    writer.finish().with_context(|| name_of(&command.output))?;
    output::tell(&format!("{lines} lines in {}", name_of(&command.output)));
    Ok(ExitCode::SUCCESS)
}

/// Writes what is tapped until `stop`; what the board said is on disk soon after it said it.
async fn write_down<W: Write>(
    writer: &mut Writer<W>,
    tapped: &mut mpsc::Receiver<Tapped>,
    started: Timestamp,
    stop: &CancellationToken,
    lines: &mut u64,
) -> std::io::Result<()> {
    let mut last = 0;
    loop {
        let next = if let Ok(tapped) = tapped.try_recv() {
            Some(tapped)
        } else {
            writer.flush()?;
            tokio::select! {
                () = stop.cancelled() => tapped.try_recv().ok(),
                next = tapped.recv() => next,
            }
        };
        let Some(Tapped { at, traffic }) = next else {
            return Ok(());
        };
        let record = match traffic {
            Traffic::Received(bytes) => CaptureRecord::Rx(bytes),
            Traffic::Sent(bytes) => CaptureRecord::Tx(bytes),
            Traffic::Up => CaptureRecord::Port(true),
            Traffic::Down => CaptureRecord::Port(false),
        };
        last = at.since(started).max(last);
        writer.write(&Line { t: last, record })?;
        *lines += 1;
    }
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

The moves of a single board are shown as they are read; a bus is only written down. If the cable is pulled the recording goes on when it is back.";

/// Runs of bytes that may wait to be written.
const TAPPED: usize = 1024;
