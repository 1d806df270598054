//! `boardcast demo`.

mod stage;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use tokio_util::sync::CancellationToken;

use super::{logging, output, simulate::read_scores, ticker::Ticker};
use crate::{
    config::{Broker, Config, Embedded, EventDetails, Http},
    daemon::{
        self, Daemon,
        clock::Clock,
        log::{Cursor, Reading},
    },
    sim::{faults::FaultSpec, pgn, score::Score},
};
use stage::Stage;

/// Watch a hall of virtual boards play: real ports, tracker and broker, no hardware.
#[derive(Debug, Args)]
pub struct Demo {
    /// How many tables
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    tables: u32,
    /// How many times faster than life the hands play
    #[arg(long, default_value_t = 5.0, allow_negative_numbers = true)]
    speed: f64,
    /// The games to play; without it some that everybody knows
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Put all boards on one RS-232 bus
    #[arg(long, hide = true)]
    bus: bool,
    /// What is wrong with the cables and the boards, such as loss=1e-3,pull=60s+4s; docs/faults.md
    /// tells all of it
    #[arg(long, value_name = "SPEC")]
    faults: Option<FaultSpec>,
    /// The same seed plays the same games the same way
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The port of the broker; 0 takes a free one
    #[arg(long, value_name = "P", default_value_t = 1883)]
    mqtt_port: u16,
    /// The web port; 0 takes a free one
    #[arg(long, value_name = "P", default_value_t = 8380)]
    http_port: u16,
    /// End when every table has played its games once
    #[arg(long)]
    once: bool,
}

/// Runs the command until it is interrupted or, with `--once`, the games have ended.
///
/// # Errors
///
/// If the games cannot be read, or the daemon cannot start.
pub(super) fn run(command: &Demo, log: Option<&str>) -> anyhow::Result<ExitCode> {
    logging::start(log.unwrap_or("warn"))?;
    if !(0.1..=200.0).contains(&command.speed) {
        bail!("--speed {}: between 0.1 and 200, please", command.speed);
    }
    let scores = match &command.pgn {
        Some(path) => read_scores(path)?,
        None => pgn::read(HISTORICAL.as_bytes())
            .into_iter()
            .collect::<Result<_, _>>()
            .context("the games of the demo")?,
    };
    daemon::block_on(play(command, &scores)).context("cannot start")?
}

async fn play(command: &Demo, scores: &[Score]) -> anyhow::Result<ExitCode> {
    let signal = daemon::stop_signal().context("cannot catch Ctrl-C")?;
    let stage = Stage::set(command, scores)?;
    let config = Config {
        event: EventDetails {
            name: Some("Demonstration".to_owned()),
            site: SITE.to_owned(),
            ..EventDetails::default()
        },
        tables: stage.tables(),
        buses: stage.bus_port().into_iter().collect(),
        broker: Broker::Embedded(Embedded { port: command.mqtt_port, ..Embedded::default() }),
        http: Http { port: command.http_port, ..Http::default() },
        ..Config::default()
    };
    let base = config.event.base_topic();
    let bus = stage.bus_port();
    let end = CancellationToken::new();
    let players = stage.begin(Clock::start(), &end).await?;
    let daemon = Daemon::start(&config).await.map_err(|error| {
        anyhow!("{error}\nother ports: boardcast demo --mqtt-port 0 --http-port 0")
    })?;
    greet(command, &daemon, &base);
    if let Some(bus) = bus {
        output::tell(&format!("All boards are on the bus at {bus}.\n"));
    }

    let (known, cursor) = daemon.log().follow();
    let ticker = tokio::spawn(tell_moves(Ticker::new(known), cursor));
    let players = tokio::spawn(players.finish());
    let mut played = Ok(());
    let stop = async {
        tokio::select! {
            () = signal => {}
            result = players => {
                played = result.map_err(anyhow::Error::from).and_then(|result| result);
            }
        }
    };
    let outcome = daemon.run_until(stop).await;
    end.cancel();
    ticker.await.context("the display failed")?;
    output::tell("the demo has ended");
    outcome.map_err(|failure| anyhow!("{failure}"))?;
    played?;
    Ok(ExitCode::SUCCESS)
}

fn greet(command: &Demo, daemon: &Daemon, base: &str) {
    let broker = daemon.broker_url();
    output::tell(&format!(
        "{} virtual boards, {} times as fast as life. To watch them with any MQTT client:\n\n    \
         mosquitto_sub -h {} -p {} -v -t '{base}/public/#'\n",
        command.tables, command.speed, broker.host, broker.port
    ));
    if let Some(web) = daemon.web_address() {
        output::tell(&format!("    http://{web}/\n"));
    }
    output::tell("Ctrl-C ends it.\n");
}

async fn tell_moves(mut ticker: Ticker, mut cursor: Cursor) {
    while let Some(reading) = cursor.next().await {
        match reading {
            Reading::Event(recorded) => {
                if let Some(line) = ticker.line(&recorded)
                    && output::say(&line).is_err()
                {
                    return; // Nobody reads any more; the hall plays on.
                }
            }
            Reading::Reload { state, .. } => ticker = Ticker::new(*state),
        }
    }
}

/// What `--help` shows.
pub(super) const EXAMPLES: &str = "\
Examples:
  boardcast demo
  boardcast demo --tables 12 --speed 20
  boardcast demo --pgn games.pgn --once
  boardcast demo --mqtt-port 0 --http-port 0     where the usual ports are taken

With several tables each plays its own games of the file, again and again.";

const SITE: &str = "demo";

/// Move lists of games that are part of chess history.
const HISTORICAL: &str = include_str!("historical.pgn");
