//! Which command a bus link sends next, and when.

use alloc::vec::Vec;
use core::time::Duration;

use super::{
    BusLink, Flight, Timer,
    discovery::Step,
    station::{Job, Station},
};
use crate::bus::{Address, BusCommand, Order};

impl BusLink {
    /// Sends the next command if the line is free and one is due.
    pub(super) fn serve(&mut self) {
        if self.line_is_free() && self.now >= self.next_command_at && !self.outbox.is_crowded() {
            if let Some(step) = self.discovery.next_step() {
                self.send_step(step);
            } else if self.discovery.shares_the_line()
                && let Some((index, job)) = self.most_urgent()
            {
                self.send_job(index, job);
            }
        }
        self.plan();
    }

    fn send_step(&mut self, step: Step) {
        match step {
            Step::Quiet(address) => {
                self.send(step.command());
                self.await_answer(address, Order::IgnoreNextPing, None);
            }
            Step::PingAll => {
                self.send(step.command());
                self.arm(Timer::Window, self.settings.discovery_window);
            }
        }
    }

    fn send_job(&mut self, index: usize, job: Job) {
        let station = &mut self.stations[index];
        let job = station.before(job);
        let order = station.begin(job, self.now);
        let address = station.address;
        self.send(BusCommand::to(address, order));
        self.await_answer(address, order, Some(job));
    }

    fn send(&mut self, command: BusCommand) {
        let mut bytes = Vec::new();
        command.encode(&mut bytes);
        self.outgoing = Some(bytes);
        self.next_command_at = self.now.saturating_add(self.settings.command_gap);
    }

    fn await_answer(&mut self, address: Address, order: Order, job: Option<Job>) {
        self.flight = Some(Flight { address, order, job, garbled: false });
        self.arm(Timer::Reply, self.settings.reply_timeout);
        let limit = match order {
            Order::ReadChanges | Order::RepeatChanges | Order::ReadFromStart => LONGEST_LOG,
            _ => LONGEST_ANSWER,
        };
        self.arm(Timer::Limit, limit);
    }

    /// The command on its way is answered or given up.
    pub(super) fn land(&mut self) {
        self.flight = None;
        self.timers.disarm(Timer::Reply as usize);
        self.timers.disarm(Timer::Limit as usize);
        self.next_command_at = self.now.saturating_add(self.settings.command_gap);
    }

    /// Sets the moment to look for the next command.
    pub(super) fn plan(&mut self) {
        let at = if !self.line_is_free() {
            None
        } else if self.outbox.is_crowded() {
            self.now.checked_add(CROWDED_PAUSE)
        } else if self.discovery.is_quieting() {
            Some(self.next_command_at)
        } else if self.discovery.shares_the_line() {
            self.next_due().map(|due| due.max(self.next_command_at))
        } else {
            None
        };
        match at {
            Some(at) => self.arm(Timer::Next, at.saturating_sub(self.now)),
            None => self.timers.disarm(Timer::Next as usize),
        }
    }

    fn line_is_free(&self) -> bool {
        self.flight.is_none() && self.outgoing.is_none()
    }

    fn next_due(&self) -> Option<Duration> {
        self.stations.iter().filter_map(Station::next_due).min()
    }

    fn most_urgent(&self) -> Option<(usize, Job)> {
        let stations = self.stations.iter().enumerate();
        let urgent = stations.filter_map(|(index, station)| {
            let (until, job) = station.most_urgent(self.now)?;
            Some((until, index, job))
        });
        urgent.min_by_key(|&(until, ..)| until).map(|(_, index, job)| (index, job))
    }
}

/// A whole memory takes a bit more than eight seconds.
const LONGEST_LOG: Duration = Duration::from_secs(10);
/// A dump takes 73 ms.
const LONGEST_ANSWER: Duration = Duration::from_secs(1);
/// How often to look whether the caller has caught up.
const CROWDED_PAUSE: Duration = Duration::from_millis(100);
