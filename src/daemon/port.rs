//! One task per serial port: opens the device, drives the link on it, opens it again when it
//! comes back.

pub(super) mod device;

mod link;

mod narrate;

mod trouble;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use dgt_protocol::{Address, LinkEvent, SingleSettings};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    time::sleep_until,
};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug, info, info_span, warn};

pub use trouble::Trouble;

use self::{
    link::{Link, Talk},
    narrate::Narrator,
};
use super::{
    backoff::Backoff,
    clock::Clock,
    discovery::{is_bluetooth, latency},
    engine::Stamped,
    roster::Roster,
};
use crate::{
    game::Timestamp,
    hall::{Input, PortName, Request},
};

/// A port that a task can be started for.
#[derive(Debug)]
pub struct Port {
    name: PortName,
    path: PathBuf,
    clock: Clock,
    talk: Talk,
    tap: Option<mpsc::Sender<Tapped>>,
    roster: Option<Arc<Roster>>,
    known_for: Option<Trouble>,
}

/// Why a port that was [visited](Port::visit) is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// There is no such device any more.
    Gone,
    /// Nobody answered.
    Quiet,
    /// Something answered that is no board.
    Foreign,
    /// The daemon stops.
    Stopped,
}

/// Something that happened on the wire, for a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tapped {
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub traffic: Traffic,
}

/// What can happen on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// These bytes came from the board, in one read.
    Received(Vec<u8>),
    /// These bytes went to the board.
    Sent(Vec<u8>),
    /// The device was opened.
    Up,
    /// The device went away.
    Down,
}

impl Port {
    /// The port `name` at the device `path`; symbolic links such as those under
    /// `/dev/serial/by-id` are followed each time the device is opened.
    pub fn new(name: PortName, path: impl Into<PathBuf>, clock: Clock) -> Self {
        let path = path.into();
        let talk = Talk::Single(if is_bluetooth(&path) {
            SingleSettings::bluetooth()
        } else {
            SingleSettings::cable()
        });
        Self { name, path, clock, talk, tap: None, roster: None, known_for: None }
    }

    /// Talks to the boards of a bus instead of a single one. The `expected` boards are missed when
    /// they do not answer; others are found.
    #[must_use]
    pub fn on_bus(mut self, expected: Vec<Address>) -> Self {
        self.talk = Talk::bus(expected);
        self
    }

    /// Also sends all traffic to `tap`. The port waits when the channel is full, so that a capture
    /// is complete: whoever holds the other end must keep reading.
    #[must_use]
    pub fn tapped(mut self, tap: mpsc::Sender<Tapped>) -> Self {
        self.tap = Some(tap);
        self
    }

    /// Also tells a list of boards who is found at the port.
    #[must_use]
    pub fn on_roster(mut self, roster: Arc<Roster>) -> Self {
        self.roster = Some(roster);
        self
    }

    /// This was reported of the port before; the same again is no news.
    #[must_use]
    pub fn known_for(mut self, trouble: Trouble) -> Self {
        self.known_for = Some(trouble);
        self
    }

    /// Runs until `stop` is cancelled or nobody listens to `inputs` any more. A full `inputs`
    /// channel makes the port wait; nothing is dropped.
    pub async fn run(
        self,
        inputs: mpsc::Sender<Stamped>,
        requests: mpsc::Receiver<Request>,
        stop: CancellationToken,
    ) {
        let span = info_span!("port", name = %self.name);
        let mut task = Task::new(self, inputs, requests);
        async {
            // The work may wait for a device, a channel or a deadline: a stop ends any of these.
            stop.run_until_cancelled(task.keep_open()).await;
        }
        .instrument(span)
        .await;
    }

    /// Like [`run`](Self::run) at a device that nobody has named: also ends when the device goes
    /// away, and when no board answers on it, after the two harmless letters with which boards are
    /// asked were sent three times.
    pub async fn visit(
        self,
        inputs: mpsc::Sender<Stamped>,
        requests: mpsc::Receiver<Request>,
        stop: CancellationToken,
    ) -> Departure {
        let span = info_span!("port", name = %self.name);
        let mut task = Task { visits: true, ..Task::new(self, inputs, requests) };
        let visit = stop.run_until_cancelled(task.visit()).instrument(span);
        visit.await.unwrap_or(Departure::Stopped)
    }
}

struct Task {
    port: Port,
    inputs: mpsc::Sender<Stamped>,
    requests: mpsc::Receiver<Request>,
    backoff: Backoff,
    /// The trouble that was reported last; the same one again is no news.
    told: Option<Trouble>,
    /// The conversation while the device was last open.
    link: Option<Link>,
    /// Nobody has said that there is a board.
    visits: bool,
}

/// Nobody listens to the port any more.
struct Abandoned;

impl Task {
    fn new(port: Port, inputs: mpsc::Sender<Stamped>, requests: mpsc::Receiver<Request>) -> Self {
        let backoff = Backoff::new(FIRST_RETRY, LAST_RETRY, Backoff::seed(port.name.as_str()));
        let told = port.known_for.clone();
        Self { port, inputs, requests, backoff, told, link: None, visits: false }
    }

    async fn keep_open(&mut self) {
        while self.once().await.is_ok() {
            self.pause().await;
        }
        debug!("the engine is gone");
    }

    async fn visit(&mut self) -> Departure {
        loop {
            match self.once().await {
                Err(Abandoned) => return Departure::Stopped,
                Ok(Trouble::Missing | Trouble::Gone | Trouble::NotSerial) => {
                    return Departure::Gone;
                }
                Ok(Trouble::Quiet) => return Departure::Quiet,
                Ok(Trouble::Foreign { .. }) => return Departure::Foreign,
                // Another program, or the rights of this user: it may be a board all the same.
                Ok(_) => self.pause().await,
            }
        }
    }

    /// Opens the device and uses it as long as that goes. Gives what ended it.
    async fn once(&mut self) -> Result<Trouble, Abandoned> {
        match device::open(&self.port.path).await {
            Ok((serial, device)) => self.converse(serial, &device).await,
            // Who looks at what comes and goes need not be told what is not there.
            Err(Trouble::Missing) if self.visits => Ok(Trouble::Missing),
            Err(trouble) => {
                self.tell(trouble.clone()).await?;
                Ok(trouble)
            }
        }
    }

    async fn pause(&mut self) {
        let delay = self.backoff.delay();
        sleep_until(self.port.clock.after_start(self.port.clock.elapsed() + delay)).await;
    }

    /// Uses an open device until it goes away.
    async fn converse<S>(&mut self, mut serial: S, device: &Path) -> Result<Trouble, Abandoned>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        if self.told == Some(Trouble::Quiet) {
            debug!("asked once more");
        } else {
            info!(path = %self.port.path.display(), device = %device.display(), "open");
            self.told = None;
        }
        if let (Talk::Bus(_), Err(error)) = (&self.port.talk, latency::shorten(device)) {
            let file = latency::file(device);
            info!(
                "the adapter waits for more bytes, which slows the bus down; `echo 1 | sudo tee {}` \
                 ends that ({error})",
                file.display()
            );
        }
        // The link begins with a dump: what was asked of the lost connection is answered by that.
        while self.requests.try_recv().is_ok() {}
        let at = self.port.clock.now();
        self.tap(at, Traffic::Up).await;
        self.send(at, Input::PortOpened { port: self.port.name.clone() }).await?;

        let mut link = self.port.talk.begin(self.port.clock.elapsed(), self.link.take());
        let outcome = self.drive(&mut serial, &mut link).await;
        self.link = Some(link);
        device::close(serial).await;
        let trouble = outcome?;
        self.tap(self.port.clock.now(), Traffic::Down).await;
        self.tell(trouble.clone()).await?;
        // After a cable was pulled the path is missing; that is the same news.
        self.told = Some(Trouble::Missing);
        Ok(trouble)
    }

    /// The conversation itself; ends with the reason why the device cannot be used any more.
    async fn drive<S>(&mut self, serial: &mut S, link: &mut Link) -> Result<Trouble, Abandoned>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let clock = self.port.clock;
        let mut narrator = Narrator::new(self.port.roster.clone());
        let (mut received, mut answered) = (0, false);
        let mut unsent = Vec::new();
        let mut buffer = [0; READ_BYTES];
        loop {
            let now = clock.elapsed();
            link.wake(now);
            while let Some(bytes) = link.poll_transmit() {
                unsent.extend_from_slice(&bytes);
            }
            while let Some(input) = link.poll_input(&self.port.name, &mut narrator) {
                match input {
                    Input::Link { event: LinkEvent::Answering, .. } => answered = true,
                    Input::Link { event: LinkEvent::Silent, .. } if self.visits && !answered => {
                        return Ok(if received == 0 {
                            Trouble::Quiet
                        } else {
                            Trouble::Foreign { bytes: received }
                        });
                    }
                    _ => {}
                }
                self.send(clock.timestamp(now), input).await?;
            }
            if unsent.len() > MAX_UNSENT_BYTES {
                return Ok(Trouble::Deaf);
            }

            let due = link.poll_timeout().map(|due| clock.after_start(due));
            tokio::select! {
                biased;
                moved = device::transfer(serial, &mut buffer, &unsent) => match moved {
                    Ok(device::Moved::In(0)) => return Ok(Trouble::Gone),
                    Ok(device::Moved::In(length)) => {
                        let now = clock.elapsed();
                        let bytes = &buffer[..length];
                        self.backoff.reset();
                        received += length;
                        self.tap(clock.timestamp(now), Traffic::Received(bytes.to_vec())).await;
                        link.handle_bytes(now, bytes);
                    }
                    Ok(device::Moved::Out(length)) => {
                        let sent: Vec<u8> = unsent.drain(..length).collect();
                        self.tap(clock.now(), Traffic::Sent(sent)).await;
                    }
                    Err(error) => return Ok(Trouble::of_transfer(&error)),
                },
                Some(request) = self.requests.recv() => link.request(clock.elapsed(), request),
                () = sleep_until(due.unwrap_or_else(|| clock.after_start(Duration::MAX))) => {}
            }
        }
    }

    /// Reports why the port cannot be used, unless that was the last thing said.
    async fn tell(&mut self, trouble: Trouble) -> Result<(), Abandoned> {
        if self.told.as_ref() == Some(&trouble) {
            return Ok(());
        }
        let reason = trouble.explain(&self.port.path);
        warn!("{reason}");
        self.told = Some(trouble);
        let port = self.port.name.clone();
        self.send(self.port.clock.now(), Input::PortClosed { port, reason }).await
    }

    async fn send(&self, at: Timestamp, input: Input) -> Result<(), Abandoned> {
        self.inputs.send(Stamped { at, input }).await.map_err(|_| Abandoned)
    }

    async fn tap(&self, at: Timestamp, traffic: Traffic) {
        if let Some(tap) = &self.port.tap
            && tap.send(Tapped { at, traffic }).await.is_err()
        {
            debug!("nobody records this port any more");
        }
    }
}

/// A board that was unplugged for a moment is back soon; one that is packed away is not worth more
/// than a look every few seconds.
const FIRST_RETRY: Duration = Duration::from_millis(200);
const LAST_RETRY: Duration = Duration::from_secs(3);

/// More than a board sends in one go; a longer run is simply read in pieces.
const READ_BYTES: usize = 1024;

/// A board gets a few bytes a second. If this many pile up, the line takes nothing any more.
const MAX_UNSENT_BYTES: usize = 4096;

#[cfg(test)]
mod tests;
