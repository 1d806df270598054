//! The kinds of game that can be simulated: habits, tempo, clock, and the state of the line.

use std::{error::Error, fmt, str::FromStr, time::Duration};

use super::habit::{Habit, Rates};
use crate::sim::{random::Span, time_control::TimeControl};

/// The names of the presets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// One plain way for everything; nothing goes wrong.
    Clean,
    /// Every permitted order of lifting and placing; nothing goes wrong.
    Orders,
    /// A long game in a quiet hall.
    Classical,
    /// Three minutes and two seconds.
    Blitz,
    /// Nothing but time trouble.
    Scramble,
    /// A long game over a bad cable: reports get lost, and the line breaks off now and then.
    Lossy,
    /// A long game without a clock.
    Noclock,
    /// A club evening.
    Casual,
    /// Everything at once.
    Hell,
}

impl Name {
    /// Every preset, in the order of the columns of `docs/hands.md`.
    pub const ALL: [Self; 9] = [
        Self::Clean,
        Self::Orders,
        Self::Classical,
        Self::Blitz,
        Self::Scramble,
        Self::Lossy,
        Self::Noclock,
        Self::Casual,
        Self::Hell,
    ];
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_ascii_lowercase())
    }
}

impl FromStr for Name {
    type Err = UnknownPreset;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|name| name.to_string() == text)
            .ok_or_else(|| UnknownPreset { text: text.to_owned() })
    }
}

/// A text that names no preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPreset {
    text: String,
}

impl fmt::Display for UnknownPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no preset {:?}; the presets are", self.text)?;
        for (index, name) in Name::ALL.into_iter().enumerate() {
            write!(f, "{} {name}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl Error for UnknownPreset {}

/// How fast hands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tempo {
    /// Thinking before a move, where the record does not say; mostly short.
    pub think: Span,
    /// A man in the air, from lifted to placed.
    pub carry: Span,
    /// Between two acts of one move.
    pub shift: Span,
    /// From the last act of a move to the press.
    pub press: Span,
    /// From the last act to the press when it comes late.
    pub late_press: Span,
    /// Finding the new piece of a promotion.
    pub fetch: Span,
    /// Standing on a square that is not the last one of the move.
    pub rest: Span,
    /// Passing over a square while being pushed.
    pub pass: Span,
}

/// What the line between board and host does to the reports, and how a careful host answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Field reports that get lost, of a thousand.
    pub lost_per_mille: u16,
    /// From the end of one outage to the beginning of the next; nothing for a line that holds.
    pub outage_every: Option<Span>,
    /// How long an outage lasts.
    pub outage: Span,
    /// How often the host asks for the whole board; nothing if only at the beginning.
    pub dump_every: Option<Duration>,
}

/// A kind of game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The preset this one is, or was made from.
    pub name: Name,
    /// How often each habit shows.
    pub rates: Rates,
    /// How fast hands are.
    pub tempo: Tempo,
    /// What the line does.
    pub wire: Wire,
    /// The time control where the record has none; nothing for a board without a clock.
    pub control: Option<TimeControl>,
    /// Whether the time control and the clock readings of the record are kept to.
    pub follows_record: bool,
}

impl Preset {
    /// The preset of this name.
    pub fn new(name: Name) -> Self {
        let tempo = match name {
            Name::Clean | Name::Orders => STEADY,
            Name::Classical | Name::Lossy | Name::Noclock => CLASSICAL,
            Name::Casual => CASUAL,
            Name::Blitz => BLITZ,
            Name::Scramble => SCRAMBLE,
            Name::Hell => HELL,
        };
        let wire = match name {
            Name::Lossy => LOSSY,
            Name::Hell => TORN,
            _ => SOUND,
        };
        let control = match name {
            Name::Noclock => None,
            Name::Clean | Name::Orders | Name::Classical | Name::Lossy => Some((5400, 30)),
            Name::Casual => Some((1800, 10)),
            Name::Blitz => Some((180, 2)),
            Name::Scramble => Some((40, 2)),
            Name::Hell => Some((300, 3)),
        };
        let control = control.map(|(time, increment)| {
            TimeControl::single(Duration::from_secs(time), Duration::from_secs(increment))
        });
        let follows_record = !matches!(name, Name::Blitz | Name::Scramble | Name::Hell);
        Self { name, rates: Rates::of(name), tempo, wire, control, follows_record }
    }

    /// The same preset with another rate for one habit.
    pub fn with(mut self, habit: Habit, per_mille: u16) -> Self {
        self.rates = self.rates.with(habit, per_mille);
        self
    }

    /// The same preset with another state of the line.
    pub fn with_wire(mut self, wire: Wire) -> Self {
        self.wire = wire;
        self
    }
}

const STEADY: Tempo = Tempo {
    think: Span::ms(1500, 9000),
    carry: Span::ms(350, 800),
    shift: Span::ms(250, 500),
    press: Span::ms(500, 1300),
    late_press: Span::ms(2000, 8000),
    fetch: Span::ms(800, 2500),
    rest: Span::ms(400, 2500),
    pass: Span::ms(40, 120),
};
const CLASSICAL: Tempo = Tempo {
    think: Span::ms(2500, 240_000),
    press: Span::ms(400, 2000),
    late_press: Span::ms(3000, 20_000),
    fetch: Span::ms(1000, 4000),
    ..STEADY
};
const CASUAL: Tempo = Tempo {
    think: Span::ms(1500, 60_000),
    carry: Span::ms(250, 1500),
    shift: Span::ms(150, 1200),
    press: Span::ms(300, 2500),
    late_press: Span::ms(3000, 15_000),
    fetch: Span::ms(1000, 6000),
    rest: Span::ms(400, 4000),
    pass: Span::ms(40, 250),
};
const BLITZ: Tempo = Tempo {
    think: Span::ms(400, 12_000),
    carry: Span::ms(150, 400),
    shift: Span::ms(80, 250),
    press: Span::ms(150, 500),
    late_press: Span::ms(800, 3000),
    fetch: Span::ms(500, 2000),
    rest: Span::ms(250, 900),
    pass: Span::ms(25, 70),
};
const SCRAMBLE: Tempo = Tempo {
    think: Span::ms(60, 1500),
    carry: Span::ms(70, 220),
    shift: Span::ms(40, 140),
    press: Span::ms(50, 220),
    late_press: Span::ms(400, 1200),
    fetch: Span::ms(250, 900),
    rest: Span::ms(150, 500),
    pass: Span::ms(15, 45),
};
const HELL: Tempo = Tempo {
    think: Span::ms(60, 8000),
    carry: Span::ms(70, 600),
    shift: Span::ms(40, 400),
    press: Span::ms(50, 900),
    late_press: Span::ms(800, 5000),
    fetch: Span::ms(250, 3000),
    rest: Span::ms(150, 2500),
    pass: Span::ms(15, 150),
};

const SOUND: Wire =
    Wire { lost_per_mille: 0, outage_every: None, outage: Span::ms(0, 0), dump_every: None };
const LOSSY: Wire = Wire {
    lost_per_mille: 10,
    outage_every: Some(Span::ms(120_000, 300_000)),
    outage: Span::ms(4000, 4000),
    dump_every: Some(Duration::from_secs(10)),
};
const TORN: Wire = Wire {
    lost_per_mille: 10,
    outage_every: Some(Span::ms(60_000, 180_000)),
    outage: Span::ms(1000, 8000),
    dump_every: Some(Duration::from_secs(10)),
};

#[cfg(test)]
mod tests {
    use super::*;

    const DOC: &str = include_str!("../../../docs/hands.md");

    fn row(name: &str, cells: impl Iterator<Item = String>) -> String {
        format!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "))
    }

    fn range(span: Span) -> String {
        format!("{}-{}", span.from, span.to)
    }

    fn tempo(name: &str, span: fn(&Tempo) -> Span) -> String {
        row(name, Name::ALL.into_iter().map(|name| range(span(&Preset::new(name).tempo))))
    }

    fn line(name: &str, cell: fn(&Preset) -> Option<String>) -> String {
        let cells = Name::ALL.into_iter().map(|name| cell(&Preset::new(name)));
        row(name, cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned())))
    }

    #[test]
    fn the_page_about_hands_has_the_same_tables() {
        let mut rows = vec![row("habit", Name::ALL.into_iter().map(|name| name.to_string()))];
        rows.extend(Habit::all().map(|habit| {
            let rates = Name::ALL.into_iter().map(|name| Rates::of(name).get(habit));
            row(&habit.name(), rates.map(|rate| rate.to_string()))
        }));
        rows.push(tempo("think", |tempo| tempo.think));
        rows.push(tempo("carry", |tempo| tempo.carry));
        rows.push(tempo("shift", |tempo| tempo.shift));
        rows.push(tempo("press", |tempo| tempo.press));
        rows.push(tempo("late press", |tempo| tempo.late_press));
        rows.push(tempo("fetch", |tempo| tempo.fetch));
        rows.push(tempo("rest", |tempo| tempo.rest));
        rows.push(tempo("pass", |tempo| tempo.pass));
        rows.push(line("time control", |preset| preset.control.as_ref().map(ToString::to_string)));
        rows.push(line("reports lost", |preset| Some(preset.wire.lost_per_mille.to_string())));
        rows.push(line("outage every", |preset| preset.wire.outage_every.map(range)));
        rows.push(line("outage", |preset| {
            preset.wire.outage_every.map(|_| range(preset.wire.outage))
        }));
        rows.push(line("dump every", |preset| {
            preset.wire.dump_every.map(|every| every.as_millis().to_string())
        }));
        for row in &rows {
            assert!(DOC.lines().any(|line| line == row), "docs/hands.md lacks the row\n{row}");
        }
    }

    #[test]
    fn the_page_about_hands_explains_every_habit_and_preset() {
        for habit in Habit::all() {
            let start = format!("| {} | ", habit.name());
            let told = DOC.lines().filter(|line| {
                line.strip_prefix(&start).is_some_and(|rest| rest.starts_with(char::is_alphabetic))
            });
            assert_eq!(told.count(), 1, "{habit:?}");
        }
        for name in Name::ALL {
            assert!(DOC.lines().any(|line| line.starts_with(&format!("| `{name}` | "))), "{name}");
        }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in Name::ALL {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        assert_eq!(
            "bliz".parse::<Name>().unwrap_err().to_string(),
            "there is no preset \"bliz\"; the presets are clean, orders, classical, blitz, \
             scramble, lossy, noclock, casual, hell"
        );
    }

    #[test]
    fn nothing_goes_wrong_in_the_first_two() {
        for name in [Name::Clean, Name::Orders] {
            let preset = Preset::new(name);
            for habit in Habit::all().skip(Habit::Slid as usize) {
                let expected = if habit == Habit::Signalled { 1000 } else { 0 };
                assert_eq!(preset.rates.get(habit), expected, "{habit:?}");
            }
            assert_eq!(preset.wire, SOUND);
        }
    }
}
