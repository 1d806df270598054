//! The configuration file: what is in it, and whether it makes sense.
//!
//! Reading has two steps. The sections of the file are taken as they are written, where TOML and
//! serde find misspelt keys and wrong types; then each section is checked, where everything is
//! found that only we can know. Both name file, line and key and say what was expected.

mod check;

pub mod url;

pub mod secret;

mod event;

mod table;

mod timing;

mod broker;

mod serial;

mod http;

mod log;

use std::{collections::BTreeSet, fmt, io, path::Path};

use serde::Deserialize;
use toml::Spanned;

pub use broker::{Account, Broker, Embedded, Outside};
pub use event::EventDetails;
pub use http::Http;
pub use log::{Level, Log};
pub use serial::{Pattern, Serial};
pub use table::Table;

use crate::hall::{HallSetup, PortName, Source};
use check::Check;
pub use check::Problem;

/// Everything that can be configured, checked.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The event and the hall.
    pub event: EventDetails,
    /// The tables, each number once.
    pub tables: Vec<Table>,
    /// Ports to look at for boards that are named by their serial number.
    pub serial: Serial,
    /// Ports at which a bus of boards is, each board named by its serial number.
    pub buses: Vec<PortName>,
    /// Where everything is published.
    pub broker: Broker,
    /// The web port.
    pub http: Http,
    /// What is written to the log.
    pub log: Log,
}

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or anything in it is wrong; the error's text is for the operator.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        match read_bounded(path) {
            Ok(text) => Self::from_toml(&file, &text),
            Err(error) => Err(ConfigError { file, kind: Kind::Unreadable(error) }),
        }
    }

    /// Reads and checks the text of a file; `file` is its name in errors.
    ///
    /// # Errors
    ///
    /// If anything in it is wrong.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, ConfigError> {
        let fail = |kind| ConfigError { file: file.to_owned(), kind };
        let sections: Sections = toml::from_str(text).map_err(|e| fail(Kind::Syntax(e)))?;
        let mut check = Check::new(text);
        let config = sections.check(&mut check);
        match check.into_problems() {
            problems if problems.is_empty() => Ok(config),
            problems => Err(fail(Kind::Wrong(problems))),
        }
    }

    /// What the hall is set up with.
    pub fn hall_setup(&self) -> HallSetup {
        let mut tables: Vec<_> = self.tables.iter().map(Table::setup).collect();
        for table in &mut tables {
            // Where there is a bus, a board named by its serial number may be on it.
            if !self.buses.is_empty() && matches!(table.source, Source::Board(_)) {
                table.settings = std::mem::take(&mut table.settings).on_bus();
            }
        }
        HallSetup { tables, first_event: 1 }
    }

    /// The ports of single boards that are named, each once.
    pub fn all_ports(&self) -> BTreeSet<PortName> {
        let at_tables = self.tables.iter().filter_map(|table| match &table.source {
            Source::Port(port) => Some(port),
            Source::Board(_) => None,
        });
        at_tables.chain(&self.serial.ports).cloned().collect()
    }
}

/// Why a configuration cannot be used.
#[derive(Debug)]
pub struct ConfigError {
    file: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Unreadable(io::Error),
    Syntax(toml::de::Error),
    Wrong(Vec<Problem>),
}

impl ConfigError {
    /// What was found wrong in a file that could be read as TOML.
    pub fn problems(&self) -> &[Problem] {
        match &self.kind {
            Kind::Wrong(problems) => problems,
            Kind::Unreadable(_) | Kind::Syntax(_) => &[],
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = &self.file;
        match &self.kind {
            Kind::Unreadable(error) if error.kind() == io::ErrorKind::NotFound => write!(
                f,
                "{file}: there is no such file; name another with `--config`, or begin with the \
                 sample that is installed as /usr/share/doc/boardcast/boardcast.toml"
            ),
            Kind::Unreadable(error) => write!(f, "{file}: cannot be read: {error}"),
            Kind::Syntax(error) => write!(f, "{file}: {}", error.to_string().trim_end()),
            Kind::Wrong(problems) => {
                for (i, problem) in problems.iter().enumerate() {
                    let separator = if i == 0 { "" } else { "\n" };
                    write!(f, "{separator}{file}, {problem}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            Kind::Unreadable(error) => Some(error),
            Kind::Syntax(error) => Some(error),
            Kind::Wrong(_) => None,
        }
    }
}

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Sections {
    event: event::Section,
    table: Vec<Spanned<table::Section>>,
    bus: Vec<serial::BusSection>,
    serial: serial::Section,
    broker: broker::Section,
    http: http::Section,
    timing: timing::Section,
    log: log::Section,
}

impl Sections {
    fn check(self, check: &mut Check<'_>) -> Config {
        let timing = self.timing.check(check);
        let event = self.event.check(check);
        let serial = self.serial.check(check);
        let buses = serial::check_buses(&self.bus, &self.table, &serial.ports, check);
        let has_ports =
            !serial.ports.is_empty() || !serial.patterns.is_empty() || !buses.is_empty();
        let tables = table::check_all(&self.table, &event, &timing, has_ports, check);
        let broker = self.broker.check(check);
        let http = self.http.check(check);
        let log = self.log.check();
        if let (Broker::Embedded(broker), Some(web)) = (&broker, http.address())
            && broker.address() == web
            && web.port() != 0
        {
            let message = format!("port {} is also the broker's; choose another", web.port());
            check.report_at_end("http.port", message);
        }
        Config { event, tables, serial, buses, broker, http, log }
    }
}

fn read_bounded(path: &Path) -> io::Result<String> {
    use io::Read;

    let mut text = String::new();
    let mut file = std::fs::File::open(path)?.take(MAX_FILE_BYTES + 1);
    file.read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::other(format!(
            "it is larger than {MAX_FILE_BYTES} bytes, so it is hardly a configuration"
        )));
    }
    Ok(text)
}

/// Far more than a thousand tables need.
const MAX_FILE_BYTES: u64 = 1 << 20;

#[cfg(test)]
mod tests;
