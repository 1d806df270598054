//! One board of a bus as the link sees it: what it owes and what is due.

use alloc::vec::Vec;
use core::time::Duration;

use super::{
    super::timer::Timers,
    event::{BusRequest, Changes, Pace},
    settings::BusSettings,
};
use crate::bus::{Address, ChangesForm, Order};

#[derive(Clone, Debug)]
pub(super) struct Station {
    pub(super) address: Address,
    pub(super) presence: Presence,
    /// When each job is due; a job that is not armed is not wanted.
    pub(super) due: Timers<{ Job::ALL.len() }>,
    /// Commands in a row without any answer.
    pub(super) misses: u8,
    /// Failures in a row of each job, answers that arrived broken included.
    failures: [u8; Job::ALL.len()],
    /// Changes were asked for, which makes the board forget them, and did not arrive.
    pub(super) unresolved: bool,
    /// How often the board was asked in vain to repeat them.
    pub(super) repeats: u8,
    /// The last changes packet.
    last: Option<(ChangesForm, Vec<u8>)>,
    /// When changes were last asked for.
    asked_at: Duration,
    /// Everything that happened up to here has been read.
    read_until: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Found by a ping to all, which a collision may have faked.
    Rumoured,
    /// Named by the caller and not reached so far.
    Expected,
    Answering,
    Silent,
}

/// What can be due for a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    Ping,
    Changes,
    StartGame,
    FromStart,
    /// A dump after changes have come to rest.
    Settle,
    /// A dump from time to time.
    Dump,
    Clock,
    Version,
}

impl Station {
    pub(super) fn new(address: Address, presence: Presence, now: Duration) -> Self {
        let mut station = Self {
            address,
            presence,
            due: Timers::new(),
            misses: 0,
            failures: [0; Job::ALL.len()],
            unresolved: false,
            repeats: 0,
            last: None,
            asked_at: now,
            read_until: None,
        };
        station.arm(Job::Ping, now, Duration::ZERO);
        station
    }

    pub(super) fn arm(&mut self, job: Job, now: Duration, delay: Duration) {
        self.due.arm(job as usize, now, delay);
    }

    /// Makes everything due that is asked of a board that begins to answer.
    pub(super) fn welcome(&mut self, now: Duration) {
        self.presence = Presence::Answering;
        self.misses = 0;
        self.read_until = None;
        self.due.disarm(Job::Ping as usize);
        for job in [Job::Version, Job::Changes, Job::Dump, Job::Clock] {
            self.arm(job, now, Duration::ZERO);
        }
    }

    /// Forgets what was due, but not whether the board owes changes.
    pub(super) fn fall_silent(&mut self, now: Duration, retry: Duration) {
        self.presence = Presence::Silent;
        self.misses = 0;
        self.repeats = 0;
        self.failures = [0; Job::ALL.len()];
        self.due.disarm_all();
        self.arm(Job::Ping, now, retry);
    }

    /// The line is there again: greets the board as one that must be there, unless it is a mere
    /// rumour. What it owes is not forgotten.
    pub(super) fn reconnect(&mut self, now: Duration) -> bool {
        if self.presence == Presence::Rumoured {
            return false;
        }
        self.fall_silent(now, Duration::ZERO);
        self.presence = Presence::Expected;
        true
    }

    /// The job that is due first, with the moment.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.due.next()
    }

    /// The most urgent job of those that are due, with the moment it has to be done.
    pub(super) fn most_urgent(&self, now: Duration) -> Option<(Duration, Job)> {
        let due = |job: Job| self.due.deadline(job as usize).filter(|&at| at <= now);
        let jobs = Job::ALL.into_iter();
        jobs.filter_map(|job| Some((due(job)?.saturating_add(job.slack()), job)))
            .min_by_key(|urgent| urgent.0)
    }

    /// The job to do in place of the one that is due. Nothing else may come between changes that
    /// did not arrive and the start of a game.
    pub(super) fn before(&self, job: Job) -> Job {
        if job == Job::StartGame && self.unresolved { Job::Changes } else { job }
    }

    /// Begins a job.
    pub(super) fn begin(&mut self, job: Job, now: Duration) -> Order {
        self.due.disarm(job as usize);
        match job {
            Job::Ping => Order::Ping,
            Job::Changes if self.unresolved => Order::RepeatChanges,
            Job::Changes => {
                self.asked_at = now;
                Order::ReadChanges
            }
            Job::StartGame => Order::StartGame,
            Job::FromStart => Order::ReadFromStart,
            Job::Settle | Job::Dump => Order::ReadBoard,
            Job::Clock => Order::ReadClock,
            Job::Version => Order::ReadVersion,
        }
    }

    /// Takes the content of a changes packet; `None` when it was taken before.
    ///
    /// A packet equal to the last one is a repetition: of a packet that had arrived after all, or
    /// because the board never heard the last command. If it should be news in spite of that, then
    /// the same fields end up with the same pieces, and the dump that follows shows nothing else.
    pub(super) fn take_changes(
        &mut self,
        live_from: Duration,
        form: ChangesForm,
        log: Vec<u8>,
    ) -> Option<Changes> {
        let repeated = core::mem::take(&mut self.unresolved);
        self.repeats = 0;
        let packet = (form, log);
        if self.last.as_ref() == Some(&packet) {
            if !repeated {
                self.read_until = Some(self.asked_at);
            }
            return None;
        }
        let live = self.read_until.is_some_and(|until| until >= live_from);
        let pace = if live { Pace::Live } else { Pace::Batched };
        self.read_until = Some(self.asked_at);
        let changes = Changes::new(&packet.1, pace);
        self.last = Some(packet);
        Some(changes)
    }

    pub(super) fn succeed(&mut self, job: Job) {
        self.misses = 0;
        self.failures[job as usize] = 0;
    }

    /// Counts a failure of a job; `true` when it has failed too often in a row.
    pub(super) fn fail(&mut self, job: Job, settings: &BusSettings) -> bool {
        let failures = &mut self.failures[job as usize];
        *failures = failures.saturating_add(1);
        let too_often = *failures >= settings.attempts;
        if too_often {
            *failures = 0;
        }
        too_often
    }
}

impl Job {
    pub(super) const ALL: [Self; 8] = [
        Self::Ping,
        Self::Changes,
        Self::StartGame,
        Self::FromStart,
        Self::Settle,
        Self::Dump,
        Self::Clock,
        Self::Version,
    ];

    /// The request that this job fulfils, if a caller can make it.
    pub(super) const fn request(self) -> Option<BusRequest> {
        match self {
            Self::Ping | Self::Changes => None,
            Self::StartGame => Some(BusRequest::StartGame),
            Self::FromStart => Some(BusRequest::FromStart),
            Self::Settle | Self::Dump => Some(BusRequest::Dump),
            Self::Clock => Some(BusRequest::Clock),
            Self::Version => Some(BusRequest::Version),
        }
    }

    /// How long the job may wait for others when it is due. Changes go first.
    const fn slack(self) -> Duration {
        match self {
            Self::Ping | Self::Changes | Self::StartGame | Self::FromStart => Duration::ZERO,
            Self::Settle | Self::Version => Duration::from_millis(300),
            // Changes tell the time at which a clock was halted, so that this only shows it run.
            Self::Clock => Duration::from_secs(1),
            Self::Dump => Duration::from_secs(3),
        }
    }

    /// How long after the job was done, or given up, it is due again; never for those done once.
    pub(super) const fn period(self, settings: &BusSettings) -> Option<Duration> {
        match self {
            Self::Changes => Some(settings.changes_period),
            Self::Dump => Some(settings.dump_period),
            Self::Clock => Some(settings.clock_period),
            _ => None,
        }
    }
}
