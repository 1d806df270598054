//! `[serial]` and `[[bus]]`: which serial devices are looked at.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use toml::Spanned;

use super::{check::Check, table};
use crate::hall::PortName;

/// A path of devices in one folder, in whose name `*` stands for any letters and `?` for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    folder: PathBuf,
    name: String,
}

/// The ports at which boards are looked for that are named by their serial number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Serial {
    /// Ports that are always looked at, and missed when they are not there.
    pub ports: Vec<PortName>,
    /// Ports that are looked at whenever they are there.
    pub patterns: Vec<Pattern>,
    /// Ports that no pattern means.
    pub exclude: Vec<Pattern>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Section {
    ports: Vec<Spanned<String>>,
    exclude: Vec<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct BusSection {
    port: Spanned<String>,
}

impl Section {
    pub(super) fn check(&self, check: &mut Check<'_>) -> Serial {
        let mut serial = Serial::default();
        for path in &self.exclude {
            serial.exclude.extend(pattern("serial.exclude", path, check));
        }
        for path in &self.ports {
            if path.get_ref().contains(WILD) {
                serial.patterns.extend(pattern("serial.ports", path, check));
                continue;
            }
            if serial.exclude.iter().any(|pattern| pattern.fits(Path::new(path.get_ref()))) {
                let message = format!("`{}` is excluded too; expected one of them", path.get_ref());
                check.report(&path.span(), "serial.ports", message);
            }
            serial.ports.extend(check.device("serial.ports", path));
        }
        if let Some(first) = self.exclude.first().filter(|_| serial.patterns.is_empty()) {
            let message = "nothing to exclude from; expected `ports` with a pattern such as \
                           \"/dev/ttyUSB*\"";
            check.report(&first.span(), "serial.exclude", message);
        }
        serial
    }
}

/// The buses, each on a port of its own.
pub(super) fn check_buses(
    buses: &[BusSection],
    tables: &[Spanned<table::Section>],
    ports: &[PortName],
    check: &mut Check<'_>,
) -> Vec<PortName> {
    let mut names = Vec::new();
    for BusSection { port } in buses {
        let Some(name) = check.device("bus.port", port) else { continue };
        let at_table = tables.iter().any(|table| table.get_ref().is_at(port.get_ref()));
        if at_table || names.contains(&name) || ports.contains(&name) {
            let message = format!("`{name}` is named twice; expected a bus on a port of its own");
            check.report(&port.span(), "bus.port", message);
        }
        names.push(name);
    }
    names
}

fn pattern(key: &str, path: &Spanned<String>, check: &mut Check<'_>) -> Option<Pattern> {
    // What a device needs a pattern needs too.
    check.device(key, path)?;
    let pattern = Pattern::new(path.get_ref());
    if pattern.is_none() {
        let message = format!(
            "`{}`: expected `*` and `?` in the name of the device only, such as \"/dev/ttyUSB*\" or \
             \"/dev/serial/by-id/*FTDI*\"",
            path.get_ref()
        );
        check.report(&path.span(), key, message);
    }
    pattern
}

impl Pattern {
    /// The pattern that is written like this; none if its folder has wildcards or there is no name.
    pub fn new(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/')?;
        let plain = !folder.contains(WILD) && !name.is_empty();
        plain.then(|| Self { folder: format!("{folder}/").into(), name: name.to_owned() })
    }

    /// The folder in which the devices are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the path is one of those that are meant.
    pub fn fits(&self, path: &Path) -> bool {
        path.parent().is_some_and(|folder| folder == self.folder)
            && path
                .file_name()
                .is_some_and(|name| is_like(self.name.as_bytes(), name.as_encoded_bytes()))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.folder.display(), self.name)
    }
}

/// Goes on after the last `*` whenever it does not fit, one letter further: no recursion, and never
/// more than the product of both lengths.
fn is_like(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&letter) if letter == b'?' || letter == name[n] => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                (p, n) = (at + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|letter| *letter == b'*')
}

const WILD: [char; 2] = ['*', '?'];

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, path: &str) -> bool {
        Pattern::new(pattern).unwrap().fits(Path::new(path))
    }

    #[test]
    fn a_pattern_means_names_in_its_own_folder() {
        for (pattern, path) in [
            ("/dev/ttyUSB*", "/dev/ttyUSB0"),
            ("/dev/ttyUSB*", "/dev/ttyUSB"),
            ("/dev/tty??B?", "/dev/ttyUSB7"),
            ("/dev/serial/by-id/*FTDI*-port0", "/dev/serial/by-id/usb-FTDI_FT232R-if00-port0"),
            ("/dev/*a*a*", "/dev/banana"),
            ("/dev/ttyS0", "/dev/ttyS0"),
        ] {
            assert!(fits(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("/dev/ttyUSB*", "/dev/ttyACM0"),
            ("/dev/ttyUSB?", "/dev/ttyUSB10"),
            ("/dev/ttyUSB*", "/dev/serial/ttyUSB0"),
            ("/dev/*a*a*x", "/dev/banana"),
        ] {
            assert!(!fits(pattern, path), "{pattern} {path}");
        }
        assert_eq!(Pattern::new("/dev/*/ttyUSB0"), None);
        assert_eq!(Pattern::new("/dev/"), None);
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let (pattern, name) = ("*a".repeat(200), "a".repeat(255) + "b");
        assert!(!fits(&format!("/dev/{pattern}"), &format!("/dev/{name}")));
    }
}
