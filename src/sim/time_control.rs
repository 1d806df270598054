//! How much time the players get, as the `TimeControl` tag of a PGN file writes it.

use std::{error::Error, fmt, str::FromStr, time::Duration};

/// One period of a time control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    /// Moves to be made in this period; nothing for "the rest of the game".
    pub moves: Option<u32>,
    /// Time granted when the period begins.
    pub time: Duration,
    /// Added at every press of the lever.
    pub increment: Duration,
}

/// The time control of a game: one to nine periods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeControl {
    periods: Vec<Period>,
}

impl TimeControl {
    /// A single period for the whole game.
    pub fn single(time: Duration, increment: Duration) -> Self {
        Self { periods: vec![Period { moves: None, time, increment }] }
    }

    /// The periods in their order; there is at least one.
    pub fn periods(&self) -> &[Period] {
        &self.periods
    }

    /// The first period.
    pub fn first(&self) -> &Period {
        &self.periods[0]
    }

    /// The same time control with more time in its first period.
    pub fn with_extra(&self, extra: Duration) -> Self {
        let mut longer = self.clone();
        longer.periods[0].time += extra;
        longer
    }
}

impl FromStr for TimeControl {
    type Err = TimeControlError;

    /// Reads `5400+30` or `40/5400+30:1800+30`: periods separated by colons, each with the moves it
    /// covers (none in the last), its seconds, and the seconds added at each press.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let periods = text
            .trim()
            .split(':')
            .map(|part| period(part).ok_or_else(|| TimeControlError { text: text.to_owned() }))
            .collect::<Result<Vec<_>, _>>()?;
        if periods.len() > MOST_PERIODS {
            return Err(TimeControlError { text: text.to_owned() });
        }
        Ok(Self { periods })
    }
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, period) in self.periods.iter().enumerate() {
            if index > 0 {
                f.write_str(":")?;
            }
            if let Some(moves) = period.moves {
                write!(f, "{moves}/")?;
            }
            write!(f, "{}", period.time.as_secs())?;
            if !period.increment.is_zero() {
                write!(f, "+{}", period.increment.as_secs())?;
            }
        }
        Ok(())
    }
}

/// A text that is no time control, or none of the kind a lever clock can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeControlError {
    text: String,
}

impl fmt::Display for TimeControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not a time control in seconds such as 5400+30 or 40/5400+30:1800+30",
            self.text
        )
    }
}

impl Error for TimeControlError {}

fn period(text: &str) -> Option<Period> {
    let (moves, rest) = match text.split_once('/') {
        Some((moves, rest)) => (Some(number(moves).filter(|&moves| moves > 0)?), rest),
        None => (None, text),
    };
    let (time, increment) = match rest.split_once('+') {
        Some((time, increment)) => (number(time)?, number(increment)?),
        None => (number(rest)?, 0),
    };
    Some(Period {
        moves,
        time: Duration::from_secs(time.into()),
        increment: Duration::from_secs(increment.into()),
    })
}

/// Digits only: `parse` alone would take a sign.
fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().filter(|&number| number <= MOST_SECONDS)
}

/// A day: more than any clock shows, and far from any overflow.
const MOST_SECONDS: u32 = 86_400;
/// As many as a digital clock can be programmed with, and some more.
const MOST_PERIODS: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for text in ["180+2", "300", "40/5400+30:1800+30", "40/7200:20/3600:900+30", "0+1"] {
            let control: TimeControl = text.parse().unwrap();
            assert_eq!(control.to_string(), text);
        }
    }

    #[test]
    fn reads_the_parts() {
        let control: TimeControl = "40/5400+30:1800+30".parse().unwrap();
        assert_eq!(control.first().moves, Some(40));
        assert_eq!(control.first().time, Duration::from_mins(90));
        assert_eq!(control.periods()[1].increment, Duration::from_secs(30));
    }

    #[test]
    fn refuses_what_no_lever_clock_runs() {
        for text in
            ["", "-", "?", "*180", "15 min/game + 10 sec/move", "0/60", "+5", "60+-1", "99999999"]
        {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
        assert!("60:".repeat(20).parse::<TimeControl>().is_err());
    }

    #[test]
    fn names_the_text_it_refuses() {
        let error = "90 min".parse::<TimeControl>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"90 min\" is not a time control in seconds such as 5400+30 or 40/5400+30:1800+30"
        );
    }
}
