//! Which command a bus link sends next, and when.

use core::time::Duration;

use super::{
    BusLink, Timer,
    discovery::Step,
    flight::{Flight, Outgoing},
    station::{Job, Station},
};
use crate::bus::{BusCommand, Order};

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
        let flight = match step {
            Step::Quiet(address) => Some(Flight::new(address, Order::IgnoreNextPing, None)),
            Step::PingAll => None,
        };
        self.outgoing = Some(Outgoing { command: step.command(), flight });
    }

    fn send_job(&mut self, index: usize, job: Job) {
        let station = &mut self.stations[index];
        let job = station.before(job);
        let order = station.begin(job, self.now);
        let command = BusCommand::to(station.address, order);
        let flight = Flight::new(station.address, order, Some(job));
        self.outgoing = Some(Outgoing { command, flight: Some(flight) });
    }

    /// The caller sends a command now.
    pub(super) fn depart(&mut self, flight: Option<Flight>) {
        self.next_command_at = self.now.saturating_add(self.settings.command_gap);
        self.flight = flight;
        if let Some(flight) = flight {
            self.arm(Timer::Reply, self.settings.reply_timeout);
            self.arm(Timer::Limit, flight.limit());
        } else {
            self.arm(Timer::Window, self.settings.discovery_window);
        }
        self.plan();
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

/// How often to look whether the caller has caught up.
const CROWDED_PAUSE: Duration = Duration::from_millis(100);
