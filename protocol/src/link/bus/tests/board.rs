//! A board on a bus, as the link meets it: it forgets changes that it has told.

use alloc::vec::Vec;
use core::time::Duration;

use super::{
    super::*,
    wire::{address, ms},
};
use crate::{
    BusCommand, ChangesForm, ClockMessage, ClockSide, ClockTimes, Dump, Field, Lever, Order,
    PieceCode, Tag, Target,
};

#[expect(clippy::struct_excessive_bools, reason = "a test sets each on its own")]
pub(super) struct Board {
    pub(super) address: Address,
    pub(super) on: bool,
    pub(super) in_bus_mode: bool,
    pub(super) heard: Vec<(Duration, Order)>,
    /// This many change answers arrive with a broken byte.
    pub(super) break_answers: u32,
    /// This many commands for changes are not heard.
    pub(super) deaf: u32,
    /// This many answers about changes come when the link has just given them up.
    pub(super) late: u32,
    /// Whether the board knows how to repeat changes.
    pub(super) repeats: bool,
    pub(super) unplug_after_next_reading: bool,
    /// Readings of changes that came before the last ones had arrived.
    pub(super) destroyed: usize,
    pub(super) arrived: bool,
    ignores_next_ping: bool,
    codes: [PieceCode; 64],
    form: ChangesForm,
    /// Everything since the last start tag that was read.
    history: Vec<u8>,
    fresh: Vec<u8>,
    last: Vec<u8>,
}

impl Board {
    pub(super) fn new(number: u16) -> Self {
        Self {
            address: address(number),
            on: true,
            in_bus_mode: true,
            heard: Vec::new(),
            break_answers: 0,
            deaf: 0,
            late: 0,
            repeats: true,
            unplug_after_next_reading: false,
            destroyed: 0,
            arrived: true,
            ignores_next_ping: false,
            codes: [PieceCode::Empty; 64],
            form: ChangesForm::Odd,
            history: Vec::new(),
            fresh: Vec::new(),
            last: Vec::new(),
        }
    }

    pub(super) fn change(&mut self, field: u8, code: PieceCode) {
        self.codes[usize::from(field)] = code;
        let field = Field::new(field).unwrap();
        Tag::FieldChange { field, code, quick: false }.encode(&mut self.fresh);
        self.fresh.truncate(7000);
    }

    pub(super) fn count(&self, order: Order) -> usize {
        self.heard.iter().filter(|&&(_, heard)| heard == order).count()
    }

    /// The answer, if there is one, and how long the board thinks about it.
    pub(super) fn obey(
        &mut self,
        now: Duration,
        command: BusCommand,
        random: u64,
    ) -> Option<Answer> {
        let all = command.target == Target::All;
        if !self.on || !all && command.target != Target::Board(self.address) {
            return None;
        }
        if !self.in_bus_mode {
            self.in_bus_mode = true;
            return None;
        }
        if command.order == Order::ReadChanges && self.deaf > 0 {
            self.deaf -= 1;
            return None;
        }
        self.heard.push((now, command.order));
        let mut delay = ms(5);
        let content = match command.order {
            Order::Ping if all => {
                if core::mem::take(&mut self.ignores_next_ping) {
                    return None;
                }
                delay = ms(random % 1100);
                Content::Pong
            }
            Order::Ping => Content::Pong,
            Order::IgnoreNextPing => {
                self.ignores_next_ping = true;
                Content::Pong
            }
            Order::ReadChanges => {
                self.destroyed += usize::from(!self.arrived);
                self.arrived = false;
                self.last = core::mem::take(&mut self.fresh);
                self.history.extend(&self.last);
                self.form = match self.form {
                    ChangesForm::Odd => ChangesForm::Even,
                    ChangesForm::Even => ChangesForm::Odd,
                };
                if core::mem::take(&mut self.unplug_after_next_reading) {
                    self.on = false;
                    return None;
                }
                Content::Changes { form: self.form, log: self.last.clone() }
            }
            Order::RepeatChanges if self.repeats => {
                Content::Changes { form: self.form, log: self.last.clone() }
            }
            Order::ReadClock => {
                let side = ClockSide::from_seconds(5400);
                Content::Clock(ClockMessage::Times(ClockTimes {
                    right: side,
                    left: side,
                    running: true,
                    lever: Lever::LeftHigh,
                    battery_low: false,
                    connected: true,
                    turn_bits: 0x08,
                }))
            }
            Order::ReadBoard => Content::Dump(Dump::new(self.codes)),
            Order::StartGame => {
                self.history.clear();
                Tag::StartGame.encode(&mut self.fresh);
                delay = ms(75);
                Content::GameStarted
            }
            Order::ReadFromStart => Content::FromStart(self.history.clone()),
            Order::ReadVersion => Content::Version(Some((1, 6))),
            _ => return None,
        };
        let is_changes = matches!(content, Content::Changes { .. });
        if is_changes && self.late > 0 {
            self.late -= 1;
            delay = ms(118);
        }
        let broken = is_changes && self.break_answers > 0;
        self.break_answers -= u32::from(broken);
        let mut bytes = Vec::new();
        BusReply { address: self.address, content }.encode(&mut bytes);
        Some(Answer { delay, bytes, broken, is_changes })
    }
}

pub(super) struct Answer {
    pub(super) delay: Duration,
    pub(super) bytes: Vec<u8>,
    pub(super) broken: bool,
    pub(super) is_changes: bool,
}
