//! Events of a capture as lines of JSON, as `boardcast replay` prints them.

use std::io::{self, Write};

use serde::Serialize;
use shakmaty::Color;

use super::event::{ArbiterEvent, Epoch};
use crate::{
    game::{self, ClockView},
    hall::Recorded,
};

/// Writes events, one JSON object a line: what the arbiters' topic shows, with the virtual time and,
/// where there are several captures, the name of the one that it comes from.
#[derive(Debug, Default)]
pub struct EventLines<'a> {
    source: Option<&'a str>,
    /// The last line, kept for its memory.
    text: Vec<u8>,
}

#[derive(Serialize)]
struct EventLine<'a> {
    t: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(flatten)]
    event: ArbiterEvent,
}

impl<'a> EventLines<'a> {
    /// Lines of events of the capture called `source`, if its name is to be told.
    pub fn of(source: Option<&'a str>) -> Self {
        Self { source, text: Vec::new() }
    }

    /// Writes the line of `recorded`, if there is one; `after` is the state of its table with it
    /// applied.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write(
        &mut self,
        recorded: &Recorded,
        after: &game::State,
        out: &mut impl Write,
    ) -> io::Result<()> {
        self.text.clear();
        if let (game::Event::Clock(view), None) = (&recorded.event, self.source) {
            self.push_clock(recorded, view);
        } else {
            let (t, source) = (recorded.at.as_millis(), self.source);
            let Some(event) = ArbiterEvent::new(recorded, after, Epoch::Capture) else {
                return Ok(());
            };
            serde_json::to_writer(&mut self.text, &EventLine { t, source, event })?;
        }
        self.text.push(b'\n');
        out.write_all(&self.text)
    }

    /// Adds the line of a reading of the clock without the detours of a general one: nearly all
    /// lines of a capture are such.
    fn push_clock(&mut self, recorded: &Recorded, view: &ClockView) {
        let running = match view.running {
            Some(Color::White) => "\"white\"",
            Some(Color::Black) => "\"black\"",
            None => "null",
        };
        let text = &mut self.text;
        text.extend_from_slice(b"{\"t\":");
        push_number(text, recorded.at.as_millis());
        text.extend_from_slice(b",\"event\":\"clock\",\"white_ms\":");
        push_number(text, view.white_ms.into());
        text.extend_from_slice(b",\"black_ms\":");
        push_number(text, view.black_ms.into());
        text.extend_from_slice(b",\"running\":");
        text.extend_from_slice(running.as_bytes());
        text.extend_from_slice(b",\"id\":");
        push_number(text, recorded.id);
        text.extend_from_slice(b",\"table\":");
        push_number(text, recorded.table.into());
        text.push(b'}');
    }
}

fn push_number(text: &mut Vec<u8>, number: u64) {
    text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Timestamp;

    #[test]
    fn a_clock_line_is_what_the_general_form_makes_of_it() {
        for running in [None, Some(Color::White), Some(Color::Black)] {
            for (t, white_ms) in [(0, 5_400_000), (1_234, 0), (u64::MAX, u32::MAX)] {
                let view = ClockView {
                    white_ms,
                    black_ms: 60_007,
                    running,
                    lever: Color::White,
                    white_flag: false,
                    black_flag: true,
                    read_at: Timestamp::from_millis(7),
                };
                let event = game::Event::Clock(view);
                let recorded = Recorded { id: 10, at: Timestamp::from_millis(t), table: 3, event };
                let state = game::State::default();
                let mut line = Vec::new();
                EventLines::of(None).write(&recorded, &state, &mut line).unwrap();
                let event = ArbiterEvent::new(&recorded, &state, Epoch::Capture).unwrap();
                let general = serde_json::to_string(&EventLine { t, source: None, event });
                assert_eq!(String::from_utf8(line).unwrap(), general.unwrap() + "\n");
            }
        }
    }

    #[test]
    fn a_line_names_its_capture() {
        let event = game::Event::ClockLost;
        let recorded = Recorded { id: 1, at: Timestamp::from_millis(5), table: 2, event };
        let mut line = Vec::new();
        let mut lines = EventLines::of(Some("a.jsonl"));
        lines.write(&recorded, &game::State::default(), &mut line).unwrap();
        let text = r#"{"t":5,"source":"a.jsonl","event":"clock_lost","id":1,"table":2}"#;
        assert_eq!(String::from_utf8(line).unwrap(), format!("{text}\n"));
    }
}
