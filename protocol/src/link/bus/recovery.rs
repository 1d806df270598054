//! What a bus link does about answers that do not come, or come broken.

use core::time::Duration;

use super::{
    AFTER_CHANGES, BusLink, Flight, Timer,
    event::BoardEvent,
    station::{Job, Presence, Station},
};
use crate::bus::Order;

impl BusLink {
    /// The line was cut and is there again.
    ///
    /// What was on its way is lost. A link that goes on, unlike a new one, knows which board owes
    /// changes that it has forgotten, and asks it to repeat them. Boards that answered before are
    /// greeted one by one, which is quicker than a search; each is told as
    /// [`Answering`](BoardEvent::Answering) or [`Silent`](BoardEvent::Silent).
    pub fn reopen(&mut self, now: Duration) {
        self.advance(now);
        self.outgoing = None;
        if let Some(flight) = self.flight.take()
            && let Some(index) = self.find(flight.address)
        {
            self.stations[index].unresolved |= flight.order == Order::ReadChanges;
        }
        let first = self.now.saturating_add(self.settings.opening_pause);
        self.stations.retain_mut(|station| station.reconnect(first));
        self.discovery = self.discovery.resting();
        self.deserted = false;
        self.next_command_at = first;
        self.timers.disarm_all();
        let patience = if self.stations.is_empty() { Duration::ZERO } else { AFTER_GREETINGS };
        self.arm(Timer::Discover, self.settings.opening_pause.saturating_add(patience));
        self.plan();
    }

    /// The awaited answer did not come, or came broken.
    pub(super) fn fail(&mut self, flight: Flight) {
        let Some(index) = self.find(flight.address) else { return };
        let station = &mut self.stations[index];
        station.misses = if flight.garbled { 0 } else { station.misses.saturating_add(1) };
        match flight.order {
            Order::ReadChanges => station.unresolved = true,
            Order::RepeatChanges if station.unresolved => {
                station.repeats = station.repeats.saturating_add(1);
            }
            _ => {}
        }
        let Some(job) = flight.job else { return };
        let too_often = station.fail(job, &self.settings);
        match station.presence {
            Presence::Silent => {
                let retry = self.retry_silent();
                self.stations[index].arm(Job::Ping, self.now, retry);
            }
            Presence::Rumoured if too_often => {
                self.stations.swap_remove(index);
            }
            Presence::Expected if too_often => self.fall_silent(index),
            Presence::Rumoured | Presence::Expected => {
                station.arm(Job::Ping, self.now, Duration::ZERO);
            }
            Presence::Answering if station.misses >= self.settings.attempts => {
                self.fall_silent(index);
            }
            Presence::Answering => self.try_again(index, flight.order, job, too_often),
        }
    }

    /// What to do about a job that failed on a board that has not fallen silent.
    fn try_again(&mut self, index: usize, order: Order, job: Job, too_often: bool) {
        let now = self.now;
        let station = &mut self.stations[index];
        match job {
            Job::Changes if station.repeats >= MAX_REPEATS => self.give_up_changes(index),
            // First make sure that the board hears anything at all: one that was unplugged can
            // still repeat its changes when it is back.
            Job::Changes if order == Order::RepeatChanges => {
                station.arm(Job::Ping, now, Duration::ZERO);
            }
            Job::Ping if too_often => station.arm(Job::Changes, now, Duration::ZERO),
            Job::Ping | Job::Changes => station.arm(job, now, Duration::ZERO),
            _ if !too_often => station.arm(job, now, Duration::ZERO),
            _ => {
                if let Some(period) = job.period(&self.settings) {
                    station.arm(job, now, period);
                }
                let address = station.address;
                if let Some(request) = job.request() {
                    self.tell(address, BoardEvent::Unanswered(request));
                }
            }
        }
    }

    fn fall_silent(&mut self, index: usize) {
        let retry = self.retry_silent();
        let station = &mut self.stations[index];
        station.fall_silent(self.now, retry);
        let address = station.address;
        self.tell(address, BoardEvent::Silent);
    }

    fn give_up_changes(&mut self, index: usize) {
        let station = &mut self.stations[index];
        station.unresolved = false;
        station.repeats = 0;
        station.succeed(Job::Changes);
        station.arm(Job::FromStart, self.now, Duration::ZERO);
        station.arm(Job::Settle, self.now, AFTER_CHANGES);
        station.arm(Job::Changes, self.now, self.settings.changes_period);
        let address = station.address;
        self.tell(address, BoardEvent::ChangesLost);
    }

    /// How long a silent board waits for its next chance: an attempt costs the others the time of
    /// an answer that does not come.
    fn retry_silent(&self) -> Duration {
        let silent = |station: &&Station| station.presence == Presence::Silent;
        let silent = self.stations.iter().filter(silent).count() as u64;
        self.settings.slow_retry.max(Duration::from_secs(silent))
    }
}

/// Time for the boards of a full bus to answer and to tell what changed, before more are searched for.
const AFTER_GREETINGS: Duration = Duration::from_secs(5);

/// Failed repetitions in a row, with the board known to answer in between.
const MAX_REPEATS: u8 = 5;
