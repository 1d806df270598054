//! Which faults there shall be, as a person writes it.

use std::{error::Error, fmt, str::FromStr, time::Duration};

/// What is wrong with a cable and the boards on it. The default is nothing.
///
/// As text it is a list such as `loss=1e-3,pull=60s+4s,silence=3@120s`; `docs/faults.md` explains every
/// item. Times are those of the hands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultSpec {
    /// The part of all bytes that are lost, 0 to 1, in each direction.
    pub loss: f64,
    /// The part of all bytes in which one bit is wrong, 0 to 1, in each direction.
    pub flip: f64,
    /// Bursts of noise that reach the host, in the order of their times.
    pub noise: Vec<Burst>,
    /// When cables are pulled, in the order of their times: of one board, or the one that leads to the
    /// host.
    pub pulls: Vec<Outage>,
    /// When boards are silent, in the order of their times.
    pub silences: Vec<Outage>,
}

/// A burst of random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// How many.
    pub bytes: usize,
    /// When the first of them comes.
    pub at: Duration,
}

/// A time without something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The board, counted from 1, if it concerns one only.
    pub board: Option<usize>,
    /// From when.
    pub from: Duration,
    /// Up to when; nothing for ever.
    pub until: Option<Duration>,
}

impl FaultSpec {
    /// Whether nothing is wrong.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// What concerns board `number`, counted from 1, if it has a cable of its own: there it is board 1.
    pub fn for_board(&self, number: usize) -> Self {
        let mine = |outages: &[Outage], board| {
            let mine = outages.iter().filter(|outage| outage.board.is_none_or(|one| one == number));
            mine.map(|outage| Outage { board, ..*outage }).collect()
        };
        Self {
            pulls: mine(&self.pulls, None),
            silences: mine(&self.silences, Some(1)),
            ..self.clone()
        }
    }
}

impl FromStr for FaultSpec {
    type Err = FaultSpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut spec = Self::default();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let refuse = |problem| FaultSpecError { item: item.to_owned(), problem };
            let (key, value) = item.split_once('=').ok_or_else(|| refuse(Problem::NoValue))?;
            let value = value.trim();
            match key.trim() {
                "loss" => spec.loss = rate(value).ok_or_else(|| refuse(Problem::Rate))?,
                "flip" => spec.flip = rate(value).ok_or_else(|| refuse(Problem::Rate))?,
                "noise" => spec.noise.push(burst(value).ok_or_else(|| refuse(Problem::Noise))?),
                "pull" => {
                    let pull = outage(value).filter(|outage| outage.until.is_some());
                    add(&mut spec.pulls, pull.ok_or_else(|| refuse(Problem::Pull))?)
                        .map_err(refuse)?;
                }
                "silence" => {
                    let silence = outage(value).filter(|outage| outage.board.is_some());
                    add(&mut spec.silences, silence.ok_or_else(|| refuse(Problem::Silence))?)
                        .map_err(refuse)?;
                }
                _ => return Err(refuse(Problem::Unknown)),
            }
            if spec.noise.len() > MOST {
                return Err(refuse(Problem::TooMany));
            }
        }
        spec.noise.sort_by_key(|burst| burst.at);
        Ok(spec)
    }
}

impl fmt::Display for FaultSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut items = Vec::new();
        for (key, rate) in [("loss", self.loss), ("flip", self.flip)] {
            if rate > 0.0 {
                items.push(format!("{key}={rate}"));
            }
        }
        items.extend(
            self.noise.iter().map(|burst| format!("noise={}@{}", burst.bytes, ms(burst.at))),
        );
        for (key, outages) in [("pull", &self.pulls), ("silence", &self.silences)] {
            items.extend(outages.iter().map(|outage| format!("{key}={outage}")));
        }
        f.write_str(&items.join(","))
    }
}

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(board) = self.board {
            write!(f, "{board}@")?;
        }
        f.write_str(&ms(self.from))?;
        match self.until {
            Some(until) => write!(f, "+{}", ms(until.saturating_sub(self.from))),
            None => Ok(()),
        }
    }
}

/// An item of a list of faults that says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpecError {
    item: String,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    NoValue,
    Unknown,
    Rate,
    Noise,
    Pull,
    Silence,
    Overlap,
    TooMany,
}

impl fmt::Display for FaultSpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let item = &self.item;
        match self.problem {
            Problem::NoValue => write!(f, "{item:?} has no value; write it like loss=1e-3"),
            Problem::Unknown => write!(
                f,
                "{item:?} is no fault known here; there are loss, flip, noise, pull and silence"
            ),
            Problem::Rate => {
                write!(f, "{item:?}: the part of the bytes is a number from 0 to 1, such as 1e-3")
            }
            Problem::Noise => write!(
                f,
                "{item:?}: say how many bytes of noise come and when, like noise=100k@0 or \
                 noise=500@90s; at most {}M",
                MOST_NOISE >> 20
            ),
            Problem::Pull => write!(
                f,
                "{item:?}: say when the cable is pulled and for how long, like pull=60s+4s, or \
                 pull=3@60s+4s for the cable of board 3"
            ),
            Problem::Silence => write!(
                f,
                "{item:?}: say which board falls silent and when, like silence=3@120s, or \
                 silence=3@120s+30s if it shall speak again"
            ),
            Problem::Overlap => {
                write!(f, "{item:?} begins before another one like it has ended")
            }
            Problem::TooMany => write!(f, "{item:?} is one too many; {MOST} of a kind will do"),
        }
    }
}

impl Error for FaultSpecError {}

fn add(outages: &mut Vec<Outage>, new: Outage) -> Result<(), Problem> {
    let before = |one: &Outage, other: &Outage| one.until.is_some_and(|until| until <= other.from);
    let meets = |old: &Outage| {
        let same = old.board.is_none() || new.board.is_none() || old.board == new.board;
        same && !before(old, &new) && !before(&new, old)
    };
    if outages.iter().any(meets) {
        return Err(Problem::Overlap);
    }
    if outages.len() == MOST {
        return Err(Problem::TooMany);
    }
    outages.push(new);
    outages.sort_by_key(|outage| outage.from);
    Ok(())
}

fn rate(text: &str) -> Option<f64> {
    text.parse().ok().filter(|rate| (0.0..=1.0).contains(rate))
}

/// `100k@0`: how many bytes, and when.
fn burst(text: &str) -> Option<Burst> {
    let (size, at) = text.split_once('@')?;
    let (digits, unit) = match size.as_bytes().last()? {
        b'k' => (&size[..size.len() - 1], 1 << 10),
        b'M' => (&size[..size.len() - 1], 1 << 20),
        _ => (size, 1),
    };
    let bytes = whole(digits)?.checked_mul(unit)?;
    (1..=MOST_NOISE).contains(&bytes).then_some(())?;
    Some(Burst { bytes: bytes as usize, at: time(at)? })
}

/// `3@60s+4s`: which board, when, and for how long; the first and the last may be left out.
fn outage(text: &str) -> Option<Outage> {
    let (board, rest) = match text.split_once('@') {
        Some((board, rest)) => (Some(whole(board).filter(|&board| board > 0)? as usize), rest),
        None => (None, text),
    };
    let (from, length) = match rest.split_once('+') {
        Some((from, length)) => (time(from)?, Some(time(length).filter(|time| !time.is_zero())?)),
        None => (time(rest)?, None),
    };
    Some(Outage { board, from, until: length.map(|length| from + length) })
}

/// A number with `ms`, `s`, `m` or `h`; seconds without.
fn time(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let ms = whole(digits)?.checked_mul(unit)?;
    (ms <= LATEST_MS).then(|| Duration::from_millis(ms))
}

/// Digits only: `parse` alone would take a sign.
fn whole(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn ms(time: Duration) -> String {
    match time.as_millis() {
        ms if ms % 1000 == 0 => format!("{}s", ms / 1000),
        ms => format!("{ms}ms"),
    }
}

/// Of each kind.
const MOST: usize = 64;
const MOST_NOISE: u64 = 16 << 20;
/// A year.
const LATEST_MS: u64 = 365 * 24 * 3_600_000;

#[cfg(test)]
mod tests;
