//! Where log lines go and which of them.

use std::io;

use anyhow::anyhow;
use tracing_subscriber::{EnvFilter, fmt};

/// Starts logging to standard error. `level` is a level, or a filter as tracing writes it, such as
/// `info,boardcast::daemon=debug`.
///
/// # Errors
///
/// If `level` is neither.
pub(super) fn start(level: &str) -> anyhow::Result<()> {
    let is_level = level.parse::<tracing::Level>().is_ok();
    if !is_level && !level.contains(['=', ',']) {
        return Err(anyhow!("--log {level}: try error, warn, info, debug or trace"));
    }
    // Foreign crates call everyday things warnings.
    let filter = format!("mqtt5=error,rumqttc=error,{level}");
    let filter = EnvFilter::try_new(&filter).map_err(|error| {
        anyhow!("--log {level}: {error}; try error, warn, info, debug or trace")
    })?;
    let terminal = io::IsTerminal::is_terminal(&io::stderr());
    // The system's journal writes the time itself.
    let journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let builder = fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(terminal);
    if journal {
        builder.without_time().init();
    } else {
        builder.init();
    }
    Ok(())
}
