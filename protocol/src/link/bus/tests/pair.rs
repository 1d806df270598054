//! A link and a bus with one clock for both, and what the link told.

use alloc::vec::Vec;
use core::time::Duration;

use super::{super::*, wire::Wire};
use crate::{Order, Tag};

/// A link and a bus with one clock for both.
pub(super) struct Pair {
    pub(super) now: Duration,
    pub(super) link: BusLink,
    pub(super) wire: Wire,
    pub(super) events: Vec<(Duration, BusEvent)>,
    /// Whether the caller takes events.
    pub(super) listening: bool,
    /// Arrives once, just before a command for changes is taken.
    pub(super) early: Option<Vec<u8>>,
}

impl Pair {
    pub(super) fn new(boards: u16) -> Self {
        Self::with(boards, BusSettings::default())
    }

    pub(super) fn with(boards: u16, settings: BusSettings) -> Self {
        let link = BusLink::new(settings, Duration::ZERO);
        let wire = Wire::new(boards);
        Self { now: Duration::ZERO, link, wire, events: Vec::new(), listening: true, early: None }
    }

    pub(super) fn run_until(&mut self, end: Duration) {
        loop {
            while self.listening
                && let Some(event) = self.link.poll_event()
            {
                self.events.push((self.now, event));
            }
            let waits = self.link.outgoing.map(|outgoing| outgoing.command.order);
            if waits == Some(Order::ReadChanges)
                && let Some(bytes) = self.early.take()
            {
                self.link.handle_bytes(self.now, &bytes);
            }
            while let Some(bytes) = self.link.poll_transmit() {
                self.wire.send(self.now, bytes);
            }
            let arrival = self.wire.next_at();
            let deadline = self.link.poll_timeout();
            let Some(next) = arrival.into_iter().chain(deadline).min().filter(|&at| at <= end)
            else {
                self.now = end;
                return;
            };
            // A link that waited for its caller may ask for a moment that has passed.
            self.now = self.now.max(next);
            if arrival == Some(next) {
                let bytes = self.wire.advance(next);
                self.link.handle_bytes(self.now, &bytes);
            } else {
                self.link.handle_timeout(self.now);
            }
        }
    }

    pub(super) fn run_for(&mut self, span: Duration) {
        self.run_until(self.now + span);
    }

    pub(super) fn forget(&mut self) {
        self.events.clear();
        self.wire.boards.iter_mut().for_each(|board| board.heard.clear());
    }

    pub(super) fn count(&self, wanted: impl Fn(&BusEvent) -> bool) -> usize {
        self.events.iter().filter(|(_, event)| wanted(event)).count()
    }

    pub(super) fn board_events(
        &self,
        wanted: impl Fn(&BoardEvent) -> bool,
    ) -> Vec<(Duration, Address)> {
        let events = self.events.iter().filter_map(|(at, event)| match event {
            BusEvent::Board { address, event } if wanted(event) => Some((*at, *address)),
            _ => None,
        });
        events.collect()
    }

    pub(super) fn changes(&self, number: u16) -> impl Iterator<Item = &Changes> {
        self.events.iter().filter_map(move |(_, event)| match event {
            BusEvent::Board { address, event: BoardEvent::Changes(changes) }
                if address.number() == number =>
            {
                Some(changes)
            }
            _ => None,
        })
    }

    pub(super) fn tags(&self, number: u16) -> Vec<Tag> {
        self.changes(number).flat_map(|changes| changes.tags.iter().copied()).collect()
    }

    /// When each tag was told.
    pub(super) fn times_of_changes(&self, number: u16) -> Vec<Duration> {
        let told = self.events.iter().filter_map(|(at, event)| match event {
            BusEvent::Board { address, event: BoardEvent::Changes(changes) }
                if address.number() == number =>
            {
                Some(core::iter::repeat_n(*at, changes.tags.len()))
            }
            _ => None,
        });
        told.flatten().collect()
    }

    /// The tags of a board that came with a log from the start.
    pub(super) fn told_again(&self, number: u16) -> Vec<Tag> {
        let logs = self.events.iter().filter_map(|(_, event)| match event {
            BusEvent::Board { address, event: BoardEvent::FromStart { tags, .. } }
                if address.number() == number =>
            {
                Some(tags)
            }
            _ => None,
        });
        logs.flatten().copied().collect()
    }

    pub(super) fn lost(&self, number: u16) -> usize {
        let lost = self.board_events(|event| *event == BoardEvent::ChangesLost);
        lost.iter().filter(|(_, address)| address.number() == number).count()
    }

    /// Mean and longest time between two readings of the changes of a board, in ms.
    pub(super) fn polling_cycle(&self) -> (u128, u128) {
        let mut gaps = Vec::new();
        for board in self.wire.boards.iter().filter(|board| board.on) {
            let reads: Vec<_> = board
                .heard
                .iter()
                .filter_map(|&(at, order)| (order == Order::ReadChanges).then_some(at))
                .collect();
            gaps.extend(reads.windows(2).map(|pair| pair[1].abs_diff(pair[0]).as_millis()));
        }
        let sum: u128 = gaps.iter().sum();
        (sum / gaps.len() as u128, gaps.into_iter().max().unwrap())
    }
}
