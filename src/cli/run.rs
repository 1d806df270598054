//! `boardcast run`.

use std::{path::PathBuf, process::ExitCode, str::FromStr};

use anyhow::{Context, anyhow};
use clap::Args;

use super::{logging, name_of, output};
use crate::{
    config::{Broker, Config, Outside, url::BrokerUrl},
    daemon,
};

/// Publish the boards of a hall: the daemon.
#[derive(Debug, Args)]
pub struct Run {
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = "/etc/boardcast/boardcast.toml")]
    config: PathBuf,
    /// Publish to this broker instead of the configured one: mqtt://[user:password@]host[:port],
    /// or mqtts:// for TLS
    #[arg(long, value_name = "URL", env = "BOARDCAST_BROKER", hide_env_values = true)]
    broker: Option<String>,
    /// Only say whether the configuration is right
    #[arg(long)]
    check: bool,
}

/// Runs the command until it is told to stop.
///
/// # Errors
///
/// If the configuration is wrong, or the daemon cannot start or has to stop.
pub(super) fn run(command: &Run, log: Option<&str>) -> anyhow::Result<ExitCode> {
    let mut config = Config::load(&command.config)?;
    if let Some(url) = &command.broker {
        let url = BrokerUrl::from_str(url).map_err(|error| anyhow!("--broker: {error}"))?;
        config.broker = Broker::Outside(Outside::new(url));
    }
    if command.check {
        output::tell(&format!(
            "{}: right, {} {}",
            name_of(&command.config),
            config.tables.len(),
            if config.tables.len() == 1 { "table" } else { "tables" }
        ));
        return Ok(ExitCode::SUCCESS);
    }
    logging::start(log.unwrap_or(&config.log.level.to_string()))?;
    daemon::block_on(daemon::serve(&config))
        .context("cannot start")?
        .map_err(|error| anyhow!("{error}"))?;
    Ok(ExitCode::SUCCESS)
}

/// What `--help` shows.
pub(super) const EXAMPLES: &str = "\
Examples:
  boardcast run --config hall.toml
  boardcast run --config hall.toml --check
  boardcast run --config hall.toml --broker mqtt://192.168.1.5:1883

systemd/boardcast.toml is a commented sample. SIGTERM or Ctrl-C ends it within two seconds.";
