//! Boards on a bus: one port, many tables.

use super::{
    Hall, PortName, Source,
    adapt::{self, Told},
};
use crate::game::{Observation, Timestamp};

impl Hall {
    /// Takes what the link on a bus says. Tables are found by the serial numbers of their boards.
    pub(super) fn bus(&mut self, at: Timestamp, port: &PortName, event: &dgt_protocol::BusEvent) {
        let dgt_protocol::BusEvent::Board { address, event } = event else {
            return;
        };
        let is_here = |source: &Source| matches!(source, Source::Board(serial) if adapt::has_address(serial, *address));
        let Some(i) = self.tables.iter().position(|table| is_here(&table.setup.source)) else {
            return;
        };
        let Some(told) = adapt::told(event) else {
            return;
        };
        let table = &mut self.tables[i];
        table.on_bus = true;
        if table.port.as_ref() != Some(port) {
            table.port = Some(port.clone());
        }
        match told {
            Told::Gone => {
                self.tables[i].recall.forget_held();
                self.observe(i, at, &Observation::Link { up: false });
            }
            // What happened while the board could not be heard comes before the news that it can.
            Told::Notes { notes, live } => {
                let told = table.recall.noted(at, &notes, live, &table.setup.settings);
                self.tell(i, at, &told);
                self.is_up(i, at);
            }
            Told::Reading(reading) => {
                let told = table.recall.read(at, &reading);
                self.is_up(i, at);
                self.tell(i, at, &told);
            }
            Told::Lost => table.recall.lose(at),
            Told::Game(notes) => table.recall.noted_in_game(&notes),
        }
    }

    fn is_up(&mut self, i: usize, at: Timestamp) {
        if !self.tables[i].tracker.state().link_up() {
            self.observe(i, at, &Observation::Link { up: true });
        }
    }
}
