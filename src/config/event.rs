//! `[event]`: what is played, where and when.

use std::ops::Range;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::check::Check;

/// The event and the hall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDetails {
    /// The event's name, as PGN prints it.
    pub name: Option<String>,
    /// The hall's name in topics: `boardcast/<site>/...`. No characters that mean something there.
    pub site: String,
    /// Town and country, as PGN prints them.
    pub place: Option<String>,
    /// The day, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// The round, such as `3` or `3.1`.
    pub round: Option<String>,
    /// The time control of tables that have none of their own, as PGN writes it.
    pub time_control: Option<String>,
    /// The edition of the Laws for tables that name none.
    pub ruleset: Option<String>,
}

impl Default for EventDetails {
    fn default() -> Self {
        Self {
            name: None,
            site: DEFAULT_SITE.to_owned(),
            place: None,
            date: None,
            round: None,
            time_control: None,
            ruleset: None,
        }
    }
}

impl EventDetails {
    /// The topic under which everything is published.
    pub fn base_topic(&self) -> String {
        format!("boardcast/{}", self.site)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Section {
    name: Option<Spanned<String>>,
    site: Option<Spanned<String>>,
    place: Option<Spanned<String>>,
    date: Option<Spanned<Value>>,
    round: Option<Spanned<Value>>,
    time_control: Option<Spanned<String>>,
    ruleset: Option<Spanned<String>>,
}

impl Section {
    pub(super) fn check(self, check: &mut Check<'_>) -> EventDetails {
        EventDetails {
            name: self.name.map(|name| check.name("event.name", &name)),
            site: self.site.map_or_else(|| DEFAULT_SITE.to_owned(), |site| check_site(site, check)),
            place: self.place.map(|place| check.name("event.place", &place)),
            date: self.date.and_then(|date| check_date(&date, check)),
            round: self.round.and_then(|round| check_round(&round, check)),
            time_control: self
                .time_control
                .and_then(|control| check_time_control("event.time-control", &control, check)),
            ruleset: self
                .ruleset
                .and_then(|ruleset| check_ruleset("event.ruleset", &ruleset, check)),
        }
    }
}

/// A level of a topic that anybody can type, in any tool.
fn check_site(site: Spanned<String>, check: &mut Check<'_>) -> String {
    let text = site.get_ref();
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || text.len() > MAX_SITE || !text.chars().all(fits) {
        let message = format!(
            "`{text}` cannot be a level of an MQTT topic; expected letters, digits, `-`, `_` and \
             `.`, at most {MAX_SITE} bytes, without spaces and without the wildcards `+`, `#` and \
             the separator `/`"
        );
        check.report(&site.span(), "event.site", message);
    }
    site.into_inner()
}

/// Both `date = 2026-12-01` and `date = "2026-12-01"` are natural to write.
fn check_date(date: &Spanned<Value>, check: &mut Check<'_>) -> Option<String> {
    let text = match date.get_ref() {
        Value::String(text) => text.clone(),
        Value::Datetime(date) => date.to_string(),
        other => other.type_str().to_owned(),
    };
    let number = |range: Range<usize>| text.get(range).and_then(|part| part.parse::<u8>().ok());
    let shape = text.len() == 10
        && text.bytes().enumerate().all(|(i, byte)| match i {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if shape
        && number(5..7).is_some_and(|month| (1..=12).contains(&month))
        && number(8..10).is_some_and(|day| (1..=31).contains(&day))
    {
        return Some(text);
    }
    check.report(&date.span(), "event.date", format!("`{text}`: expected a day, YYYY-MM-DD"));
    None
}

fn check_round(round: &Spanned<Value>, check: &mut Check<'_>) -> Option<String> {
    let text = match round.get_ref() {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        other => other.type_str().to_owned(),
    };
    if (1..=16).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Some(text);
    }
    let message = format!("`{text}`: expected a number such as 3, or \"3.1\" with a board");
    check.report(&round.span(), "event.round", message);
    None
}

/// A time control as PGN writes it: periods with `:` between them, each `seconds`,
/// `seconds+increment` or `moves/seconds`, with an increment or without.
pub(super) fn check_time_control(
    key: &str,
    control: &Spanned<String>,
    check: &mut Check<'_>,
) -> Option<String> {
    let text = control.get_ref();
    if text.len() <= 64 && text.split(':').all(is_period) {
        return Some(text.clone());
    }
    let message = format!(
        "`{text}`: expected seconds and the increment as PGN writes them, such as \"5400+30\", or \
         \"40/5400+30:1800+30\" with a period of 40 moves first"
    );
    check.report(&control.span(), key, message);
    None
}

fn is_period(period: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().is_ok_and(|n| n <= 604_800);
    let (moves, time) = match period.split_once('/') {
        Some((moves, time)) => (Some(moves), time),
        None => (None, period),
    };
    let (seconds, increment) = match time.split_once('+') {
        Some((seconds, increment)) => (seconds, Some(increment)),
        None => (time, None),
    };
    moves.is_none_or(number) && number(seconds) && increment.is_none_or(number)
}

/// One of the editions of the Laws that are known by name.
pub(super) fn check_ruleset(
    key: &str,
    ruleset: &Spanned<String>,
    check: &mut Check<'_>,
) -> Option<String> {
    let text = ruleset.get_ref();
    if RULESETS.contains(&text.as_str()) {
        return Some(text.clone());
    }
    let message = format!("`{text}` is not known; expected one of {}", RULESETS.join(", "));
    check.report(&ruleset.span(), key, message);
    None
}

const DEFAULT_SITE: &str = "hall";
const MAX_SITE: usize = 64;

/// The editions of the FIDE Laws, each for a kind of chess, and the easy-going club.
const RULESETS: [&str; 16] = [
    "fide2023_standard",
    "fide2023_rapid_supervised",
    "fide2023_rapid",
    "fide2023_blitz_supervised",
    "fide2023_blitz",
    "fide2018_standard",
    "fide2018_rapid",
    "fide2018_blitz",
    "fide2014_standard",
    "fide2014_rapid",
    "fide2014_blitz",
    "fide2009_standard",
    "fide2009_rapid",
    "fide2009_blitz",
    "fide2001_standard",
    "club_casual",
];
