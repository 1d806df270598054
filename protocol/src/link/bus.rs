//! The conversation with many boards on one line.

mod discovery;
mod event;
mod flight;
mod recovery;
mod schedule;
mod settings;
mod station;

pub use event::{BoardEvent, BusEvent, BusRequest, Changes, Pace};
pub use settings::BusSettings;

use alloc::vec::Vec;
use core::time::Duration;

use super::{outbox::Outbox, timer::Timers};
use crate::{
    bus::{Address, BusDeframer, BusReply, Content},
    fault::{Counts, Fault},
};
use discovery::Discovery;
use flight::{Flight, Outgoing};
use station::{Job, Presence, Station};

/// Keeps a bus of boards talking: a state machine without I/O.
///
/// The link finds the boards, asks each in turn for what changed, and reads clocks and dumps in
/// between. One command is on its way at a time.
///
/// Reading changes makes a board forget them. If the answer does not arrive whole, the board is
/// asked to repeat it and never for the next changes, also when it was silent in between. If it
/// answers but does not repeat them, the log since the start tag and a dump are read instead.
///
/// # How often a board is read
///
/// Measured by tests of this module on virtual time: 9600 baud, boards that answer 5 ms after a
/// command, the default [`BusSettings`] with a clock reading a second and a dump every 20 seconds
/// for each board, over 140 seconds in which boards are searched for twice beside the polling.
///
/// | boards | changes of a board are read every | at the latest after |
/// |-------:|----------------------------------:|--------------------:|
/// |      1 |                            315 ms |              356 ms |
/// |     10 |                            320 ms |              397 ms |
/// |     30 |                            860 ms |             1315 ms |
///
/// What 30 boards need is explained by the line: to ask each for its changes (10 bytes there and
/// back) and for its clock (17 bytes) takes 844 ms at 9600 baud, and 420 ms more for boards to
/// answer and for gaps: 1264 ms for a round. Each move adds a dump of 84 ms. In play, a change is
/// told after
///
/// | boards | a ply of each board every | at the latest | explained by the line |
/// |-------:|--------------------------:|--------------:|----------------------:|
/// |     10 |                       6 s |        407 ms |                490 ms |
/// |     30 |                     120 s |       1145 ms |               1291 ms |
/// |     30 |                      20 s |       1427 ms |               1446 ms |
/// |     30 |                       6 s |       1934 ms |               2181 ms |
///
/// searches included. Clocks give way to changes on a crowded line, which is why the worst case may
/// be better than the round. Where no change was told for a minute, every fourth search has the line
/// to itself, which adds some two seconds. Nothing is lost meanwhile: boards keep their changes until
/// they are read.
///
/// ```
/// use core::time::Duration;
/// use dgt_protocol::{Address, BusLink, BusSettings};
///
/// let expected = Address::new(1025).into_iter().collect();
/// let settings = BusSettings { expected, ..BusSettings::default() };
/// let mut link = BusLink::new(settings, Duration::ZERO);
/// let first = link.poll_timeout().expect("the search is planned");
/// link.handle_timeout(first);
/// // The board is told to ignore the ping to all that follows; it answers that it will.
/// assert_eq!(link.poll_transmit().as_deref(), Some(&[0x8A, 0x08, 0x01, 0x13][..]));
/// ```
#[derive(Clone, Debug)]
pub struct BusLink {
    settings: BusSettings,
    now: Duration,
    deframer: BusDeframer,
    stations: Vec<Station>,
    discovery: Discovery,
    /// Whether the absence of all boards was reported.
    deserted: bool,
    /// The command that waits to be taken by the caller. Until it is, nothing can answer it.
    outgoing: Option<Outgoing>,
    /// The command that was taken and whose answer is awaited.
    flight: Option<Flight>,
    next_command_at: Duration,
    /// When a board last told a change.
    last_change_at: Option<Duration>,
    /// The latest moment for which a dump is planned.
    last_dump_at: Duration,
    timers: Timers<{ Timer::ALL.len() }>,
    outbox: Outbox<BusEvent>,
}

#[derive(Clone, Copy, Debug)]
enum Timer {
    /// The line may be free for a command.
    Next,
    /// The answer has not come, or has broken off.
    Reply,
    /// Bytes keep coming, but no answer.
    Limit,
    /// Search for boards.
    Discover,
    /// Answers to a ping to all are awaited.
    Window,
}

impl BusLink {
    /// A link on a port opened at `now`.
    pub fn new(settings: BusSettings, now: Duration) -> Self {
        let mut expected = settings.expected.clone();
        expected.sort_unstable();
        expected.dedup();
        expected.truncate(MAX_BOARDS);
        let first = now.saturating_add(settings.opening_pause);
        let mut link = Self {
            now,
            deframer: BusDeframer::new(),
            stations: expected
                .into_iter()
                .map(|address| Station::new(address, Presence::Expected, first))
                .collect(),
            discovery: Discovery::new(),
            deserted: false,
            outgoing: None,
            flight: None,
            next_command_at: first,
            last_change_at: None,
            last_dump_at: now,
            timers: Timers::new(),
            outbox: Outbox::new(),
            settings,
        };
        link.arm(Timer::Discover, link.settings.opening_pause);
        link
    }

    /// The boards that answer at present.
    pub fn answering(&self) -> impl Iterator<Item = Address> {
        let stations = self.stations.iter();
        stations.filter(|station| station.presence == Presence::Answering).map(|s| s.address)
    }

    /// What was seen on the line so far, good and bad.
    pub const fn counts(&self) -> &Counts {
        self.deframer.counts()
    }

    /// Bytes arrived from the line.
    pub fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.advance(now);
        for piece in bytes.chunks(READ_PIECE) {
            self.deframer.push(piece);
            while let Some(result) = self.deframer.next() {
                match result {
                    Ok(reply) => self.handle_reply(reply),
                    Err(fault) => self.handle_fault(fault),
                }
            }
        }
        if self.flight.is_some() && !bytes.is_empty() {
            self.arm(Timer::Reply, self.settings.reply_timeout);
        }
        self.serve();
    }

    /// Time passed, perhaps up to the moment of [`poll_timeout`](Self::poll_timeout).
    pub fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
        for timer in Timer::ALL {
            if self.timers.take_due(timer as usize, self.now) {
                self.fire(timer);
            }
        }
        self.serve();
    }

    /// Asks a board for something. Of a board that does not answer at present, everything but
    /// [`StartGame`](BusRequest::StartGame) and [`FromStart`](BusRequest::FromStart) is asked as
    /// soon as it does; those two are refused.
    pub fn request(&mut self, now: Duration, address: Address, request: BusRequest) {
        self.advance(now);
        let now = self.now;
        let station = self.stations.iter_mut().find(|station| station.address == address);
        match station {
            Some(station) if station.presence == Presence::Answering => match request {
                BusRequest::Dump => station.arm(Job::Settle, now, Duration::ZERO),
                BusRequest::Clock => station.arm(Job::Clock, now, Duration::ZERO),
                BusRequest::Version => station.arm(Job::Version, now, Duration::ZERO),
                BusRequest::FromStart => station.arm(Job::FromStart, now, Duration::ZERO),
                BusRequest::StartGame => {
                    station.arm(Job::Changes, now, Duration::ZERO);
                    station.arm(Job::StartGame, now, AFTER_CHANGES);
                }
            },
            Some(_) if request.is_asked_at_contact() => {}
            _ => self.tell(address, BoardEvent::Unanswered(request)),
        }
        self.serve();
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<BusEvent> {
        self.outbox.pop()
    }

    /// The next bytes to send: one command. Its answer is awaited from here on, so that a caller who
    /// takes it has to send it at once.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let Outgoing { command, flight } = self.outgoing.take()?;
        let mut bytes = Vec::new();
        command.encode(&mut bytes);
        self.depart(flight);
        Some(bytes)
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.timers.next()
    }

    fn handle_fault(&mut self, fault: Fault) {
        self.discovery.note_surprise();
        if let Some(flight) = &mut self.flight {
            flight.garbled = true;
        }
        self.emit(BusEvent::Fault(fault));
    }

    fn handle_reply(&mut self, BusReply { address, content }: BusReply) {
        let Some(index) = self.find(address) else {
            self.discovery.note_surprise();
            self.hear_of(address);
            return;
        };
        if self.stations[index].presence != Presence::Answering {
            self.stations[index].welcome(self.now);
            self.deserted = false;
            self.tell(address, BoardEvent::Answering);
        }
        self.stations[index].misses = 0;
        let awaited = self.flight.filter(|flight| flight.is_answered_by(address, &content));
        self.take_content(index, content);
        if let Some(flight) = awaited {
            self.land();
            self.succeed(index, flight);
        }
    }

    fn take_content(&mut self, index: usize, content: Content) {
        let now = self.now;
        let settle = self.settings.settle;
        let station = &mut self.stations[index];
        let event = match content {
            Content::Pong => return,
            Content::Dump(dump) => {
                let wait = self.plan_dump();
                self.stations[index].arm(Job::Dump, now, wait);
                BoardEvent::Dump(dump)
            }
            Content::Clock(clock) => BoardEvent::Clock(clock),
            Content::Version(version) => BoardEvent::Version(version),
            Content::GameStarted => BoardEvent::GameStarted,
            Content::FromStart(log) => {
                let (tags, skipped) = event::read_log(&log);
                BoardEvent::FromStart { tags, skipped }
            }
            Content::Changes { form, log } => {
                let doubtful = !log.is_empty();
                let live_from = now.saturating_sub(self.settings.live_within);
                match station.take_changes(live_from, form, log) {
                    None => {
                        if doubtful {
                            station.arm(Job::Settle, now, settle);
                        }
                        return;
                    }
                    Some(changes) if changes.is_empty() => return,
                    Some(changes) => {
                        self.last_change_at = Some(now);
                        station.arm(Job::Clock, now, Duration::ZERO);
                        if changes.touch_fields() {
                            station.arm(Job::Settle, now, settle);
                        }
                        BoardEvent::Changes(changes)
                    }
                }
            }
            Content::Other { id, data } => BoardEvent::Other { id, data },
        };
        let address = self.stations[index].address;
        self.tell(address, event);
    }

    /// How long to wait for the next dump of a board. Boards that were dumped in a row at the start
    /// must not be dumped in a row ever after, because that keeps changes waiting for seconds.
    fn plan_dump(&mut self) -> Duration {
        let period = self.settings.dump_period;
        let apart = period / self.stations.len().max(1) as u32;
        let earliest = self.now.saturating_add(period);
        let latest = earliest.saturating_add(period);
        self.last_dump_at = self.last_dump_at.saturating_add(apart).clamp(earliest, latest);
        self.last_dump_at.saturating_sub(self.now)
    }

    fn succeed(&mut self, index: usize, flight: Flight) {
        let now = self.now;
        let station = &mut self.stations[index];
        match flight.job {
            None => {}
            Some(Job::Ping) => {
                station.succeed(Job::Ping);
                // It was pinged in place of being asked for changes that it owed. They may have
                // arrived late meanwhile; it is asked again in any case.
                station.due.arm_if_idle(Job::Changes as usize, now, Duration::ZERO);
            }
            Some(job) => {
                station.succeed(job);
                if let Some(period) = job.period(&self.settings) {
                    // The answer itself may have made it due earlier or later.
                    station.due.arm_if_idle(job as usize, now, period);
                }
            }
        }
    }

    /// A board nobody asked for said something; it has to confirm that it exists.
    fn hear_of(&mut self, address: Address) {
        if self.stations.len() >= MAX_BOARDS {
            self.emit(BusEvent::Crowded(address));
        } else {
            self.stations.push(Station::new(address, Presence::Rumoured, self.now));
        }
    }

    fn fire(&mut self, timer: Timer) {
        match timer {
            // What is due is sent after all timers were looked at.
            Timer::Next => {}
            Timer::Reply | Timer::Limit => {
                if let Some(flight) = self.flight {
                    self.land();
                    self.fail(flight);
                }
            }
            Timer::Discover => self.begin_round(),
            Timer::Window if self.discovery.end_round() => self.begin_round(),
            Timer::Window => {
                let lost = [Presence::Silent, Presence::Expected];
                let deserted = self.stations.iter().all(|s| lost.contains(&s.presence));
                if deserted && !self.deserted {
                    self.emit(BusEvent::Deserted);
                }
                self.deserted = deserted;
                let pause = if deserted {
                    self.settings.deserted_retry
                } else {
                    self.settings.discovery_period
                };
                self.arm(Timer::Discover, pause);
            }
        }
    }

    fn begin_round(&mut self) {
        let known = self.stations.iter().filter(|s| s.presence != Presence::Silent);
        let calm = self.last_change_at.is_none_or(|at| self.now.saturating_sub(at) >= CALM);
        self.discovery.begin(known.map(|station| station.address), calm);
    }

    fn tell(&mut self, address: Address, event: BoardEvent) {
        let pushed = self.outbox.push(BusEvent::Board { address, event });
        if !pushed && let Some(index) = self.find(address) {
            // The caller is told that events are missing; give it what can be read again.
            let station = &mut self.stations[index];
            if station.presence == Presence::Answering {
                station.arm(Job::FromStart, self.now, Duration::ZERO);
                station.arm(Job::Settle, self.now, AFTER_CHANGES);
            }
        }
    }

    /// Reports something that is about no single board. If the caller is too far behind to take
    /// it, it is told how many events are missing.
    fn emit(&mut self, event: BusEvent) {
        let _ = self.outbox.push(event);
    }

    fn find(&self, address: Address) -> Option<usize> {
        self.stations.iter().position(|station| station.address == address)
    }

    fn advance(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    fn arm(&mut self, timer: Timer, delay: Duration) {
        self.timers.arm(timer as usize, self.now, delay);
    }
}

impl Timer {
    const ALL: [Self; 5] = [Self::Next, Self::Reply, Self::Limit, Self::Discover, Self::Window];
}

/// No figure for the largest bus is known; this many boards are read every few seconds.
const MAX_BOARDS: usize = 64;
/// Without a change for so long no game is on.
const CALM: Duration = Duration::from_mins(1);
/// Due after what is due at once.
const AFTER_CHANGES: Duration = Duration::from_millis(2);
/// Bytes read at a time, far below what the deframer may hold.
const READ_PIECE: usize = 4096;

#[cfg(test)]
mod tests;
