//! `[log]`: what is written to the log.

use std::fmt;

use serde::Deserialize;

/// What is written to the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The least important kind of line that is written.
    pub level: Level,
}

/// How important a line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Something does not work.
    Error,
    /// Something needs a look.
    Warn,
    /// What happens in the hall.
    #[default]
    Info,
    /// For finding faults.
    Debug,
    /// Every message of every board.
    Trace,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Section {
    level: Level,
}

impl Section {
    pub(super) fn check(self) -> Log {
        Log { level: self.level }
    }
}
