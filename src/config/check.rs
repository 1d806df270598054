//! Collecting everything that is wrong with a file, with the place of each.

use std::{fmt, net::IpAddr, ops::Range};

use toml::Spanned;

use crate::hall::PortName;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The key, with its section, such as `table.number`.
    pub key: String,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, `{}`: {}", self.line, self.key, self.message)
    }
}

/// The text that is checked and what was found so far.
#[derive(Debug)]
pub(super) struct Check<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl<'a> Check<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, problems: Vec::new() }
    }

    /// In the order of the file.
    pub(super) fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| problem.line);
        self.problems
    }

    /// The line on which a span begins.
    pub(super) fn line(&self, span: &Range<usize>) -> usize {
        1 + self.text.bytes().take(span.start).filter(|&byte| byte == b'\n').count()
    }

    pub(super) fn report(&mut self, span: &Range<usize>, key: &str, message: impl Into<String>) {
        let line = self.line(span);
        self.problems.push(Problem { line, key: key.to_owned(), message: message.into() });
    }

    /// For what belongs to no single place.
    pub(super) fn report_at_end(&mut self, key: &str, message: impl Into<String>) {
        let end = self.text.trim_end().len();
        self.report(&(end..end), key, message);
    }

    /// A name that people read: not empty, on one line, of bearable length.
    pub(super) fn name(&mut self, key: &str, value: &Spanned<String>) -> String {
        let text = value.get_ref().trim();
        if text.is_empty() {
            self.report(&value.span(), key, "it is empty; expected a name");
        } else if text.chars().any(char::is_control) {
            self.report(&value.span(), key, "expected a name on one line, without control signs");
        } else if text.chars().count() > MAX_NAME {
            self.report(&value.span(), key, format!("expected at most {MAX_NAME} letters"));
        }
        text.to_owned()
    }

    /// The path of a serial device.
    pub(super) fn device(&mut self, key: &str, value: &Spanned<String>) -> Option<PortName> {
        let path = value.get_ref();
        if path.starts_with('/') && !path.chars().any(char::is_control) {
            return Some(PortName::new(path));
        }
        let message = format!(
            "`{path}` is no full path; expected a serial device such as \
             \"/dev/serial/by-id/usb-...\" (`ls -l /dev/serial/by-id`) or \"/dev/ttyUSB0\""
        );
        self.report(&value.span(), key, message);
        None
    }

    /// An address of this machine.
    pub(super) fn address(&mut self, key: &str, value: &Spanned<String>) -> Option<IpAddr> {
        let address = value.get_ref().parse().ok();
        if address.is_none() {
            let message = format!(
                "`{}`: expected an IP address of this machine: \"127.0.0.1\" for programs on it, \
                 \"0.0.0.0\" for everybody in its networks",
                value.get_ref()
            );
            self.report(&value.span(), key, message);
        }
        address
    }

    /// A number within a range.
    pub(super) fn within<T>(
        &mut self,
        key: &str,
        value: &Spanned<T>,
        range: std::ops::RangeInclusive<T>,
    ) -> Option<T>
    where
        T: PartialOrd + Copy + fmt::Display,
    {
        if range.contains(value.get_ref()) {
            return Some(*value.get_ref());
        }
        let (low, high) = (range.start(), range.end());
        let message = format!("{} is out of range; expected {low} to {high}", value.get_ref());
        self.report(&value.span(), key, message);
        None
    }
}

const MAX_NAME: usize = 100;
