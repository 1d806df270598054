//! Reading a scenario file.

use std::{collections::BTreeMap, fmt};

/// One scenario.
pub(super) struct Scenario {
    pub(super) title: String,
    /// Options of the first line: `fen`, `rules`, `state`, `clock`...
    pub(super) options: BTreeMap<String, String>,
    pub(super) events: Vec<Event>,
    outputs: Vec<Output>,
}

/// Something that happens at the table.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Milliseconds from the start of the scenario.
    pub(super) ms: u64,
    pub(super) verb: String,
    pub(super) args: Vec<String>,
}

/// Something the daemon says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Output {
    pub(super) ms: u64,
    /// The line without its time.
    pub(super) words: String,
}

impl Output {
    /// Whether this says what `wanted` asks for, within the tolerated time.
    pub(super) fn agrees(&self, wanted: &Self) -> bool {
        self.ms.abs_diff(wanted.ms) <= TOLERANCE_MS && self.words == wanted.words
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03} {}", self.ms / 1000, self.ms % 1000, self.words)
    }
}

impl Scenario {
    /// Reads one file.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut scenario = Self {
            title: String::new(),
            options: BTreeMap::new(),
            events: Vec::new(),
            outputs: Vec::new(),
        };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(title) = line.strip_prefix("# ") {
                title.clone_into(&mut scenario.title);
            } else if let Some(output) = line.strip_prefix("=>").or(line.strip_prefix("!>")) {
                let (time, words) =
                    output.trim().split_once(' ').ok_or_else(|| format!("no words: {line}"))?;
                scenario.outputs.push(Output { ms: millis(time)?, words: words.trim().to_owned() });
            } else if line.starts_with(|first: char| first.is_ascii_digit()) {
                for event in line.split(';').map(str::trim).filter(|event| !event.is_empty()) {
                    scenario.events.push(event_of(event)?);
                }
            } else {
                for option in line.split('|').map(str::trim) {
                    let (name, value) = option.split_once(' ').unwrap_or((option, ""));
                    scenario.options.insert(name.to_owned(), value.to_owned());
                }
            }
        }
        Ok(scenario)
    }

    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// All written outputs, in the order of the file.
    pub(super) fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The written outputs that are about moves, states and results, each in the words compared.
    pub(super) fn expected(&self) -> Vec<Output> {
        let mut outputs = Vec::new();
        for Output { ms, words } in &self.outputs {
            let mut parts = words.split_whitespace();
            let kept = match parts.next() {
                Some("made" | "completed" | "retract" | "irregular" | "restored" | "state") => {
                    // What follows the move tells why; `1. e4 by=next_move` is `1. e4` here.
                    words
                        .split_whitespace()
                        .filter(|word| {
                            !word.contains('=') || word.contains("8=") || word.contains("1=")
                        })
                        .collect::<Vec<_>>()
                        .join(" ")
                }
                Some("end") => words.clone(),
                Some("alert" | "clear")
                    if parts.next().is_some_and(|code| ALERTS.contains(&code)) =>
                {
                    words.clone()
                }
                _ => continue,
            };
            outputs.push(Output { ms: *ms, words: kept });
        }
        outputs
    }
}

fn event_of(text: &str) -> Result<Event, String> {
    let text = text.split('[').next().unwrap_or(text);
    let mut words = text.split_whitespace().map(str::to_owned);
    let ms = millis(&words.next().ok_or("an event without a time")?)?;
    let verb = words.next().ok_or_else(|| format!("an event without a verb: {text}"))?;
    Ok(Event { ms, verb, args: words.collect() })
}

fn millis(seconds: &str) -> Result<u64, String> {
    let seconds: f64 = seconds.parse().map_err(|_| format!("not a time: {seconds}"))?;
    Ok((seconds * 1000.0).round() as u64)
}

/// The alerts that are given so far.
pub(super) const ALERTS: &[&str] =
    &["gap_unresolved", "move_order_uncertain", "resynchronised", "start_position_wrong"];

/// Times may be off by this much.
const TOLERANCE_MS: u64 = 200;
