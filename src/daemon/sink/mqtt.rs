//! Publishes to a broker: everything it keeps after each connection, then every event, once and
//! in order.

mod explain;

mod outbox;

mod target;

use std::{
    collections::VecDeque,
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use rumqttc::{
    AsyncClient, Event as Packet, EventLoop, Incoming, Outgoing, PublishNoticeError,
    PublishOptions,
    mqttbytes::{QoS, v5::ConnAck},
};
use tokio::{sync::watch, time::sleep_until};
use tracing::{Instrument, debug, info, info_span, warn};

pub use self::target::Target;

use self::outbox::{Dropped, Kind, Outbox, Parcel};
use crate::{
    config::url::BrokerUrl,
    daemon::{
        backoff::Backoff,
        clock::Clock,
        log::{Cursor, LogReader, Reading},
    },
    game::Event,
    hall::{Recorded, State},
    view::{
        Publication,
        topic::{self, Online},
    },
};

/// The sink before it runs.
pub struct Mqtt {
    url: BrokerUrl,
    base: String,
    clock: Clock,
    client: AsyncClient,
    event_loop: EventLoop,
    state: State,
    cursor: Cursor,
    connected: watch::Sender<bool>,
}

impl Mqtt {
    /// A sink that publishes below the topic `base` what happens from now on, and the state of
    /// everything before.
    ///
    /// # Errors
    ///
    /// If TLS cannot be set up; the text says why.
    pub fn new(target: Target, base: &str, clock: Clock, log: &LogReader) -> Result<Self, String> {
        let options = target.options(base, clock)?;
        let (client, event_loop) = AsyncClient::builder(options).capacity(2 * WINDOW).build();
        let (state, cursor) = log.follow();
        let (connected, _) = watch::channel(false);
        let base = base.to_owned();
        Ok(Self { url: target.url, base, clock, client, event_loop, state, cursor, connected })
    }

    /// Whether there is a connection.
    pub fn connected(&self) -> watch::Receiver<bool> {
        self.connected.subscribe()
    }

    /// Runs until the log has ended and what is in it was delivered, or cannot be in good time.
    pub async fn run(self) {
        let span = info_span!("mqtt", broker = %self.url);
        let Self { url, base, clock, client, mut event_loop, state, cursor, connected } = self;
        let mut publisher = Publisher {
            url,
            base,
            clock,
            client,
            state,
            cursor: Some(cursor),
            connected,
            outbox: Outbox::default(),
            in_flight: VecDeque::new(),
            largest: usize::MAX,
            refused: 0,
            dropped: Dropped::default(),
            told: String::new(),
            leaving: None,
        };
        async {
            publisher.run(&mut event_loop).await;
            publisher.tell_undelivered();
        }
        .instrument(span)
        .await;
    }
}

/// Everything but the connection itself, which has a life of its own inside `EventLoop::poll`.
struct Publisher {
    url: BrokerUrl,
    base: String,
    clock: Clock,
    client: AsyncClient,
    /// As of the cursor.
    state: State,
    /// `None` after the log has ended.
    cursor: Option<Cursor>,
    connected: watch::Sender<bool>,
    outbox: Outbox,
    in_flight: VecDeque<InFlight>,
    /// The largest packet that the broker takes.
    largest: usize,
    refused: u64,
    dropped: Dropped,
    /// The trouble that was reported last; the same one again is no news.
    told: String,
    leaving: Option<Leaving>,
}

/// A publication that was handed to the client and not acknowledged yet.
struct InFlight {
    parcel: Parcel,
    since: Duration,
    acknowledged: Pin<Box<dyn Future<Output = Result<(), PublishNoticeError>> + Send>>,
}

/// The last second of the sink.
struct Leaving {
    /// When to go whatever is left.
    until: Duration,
    goodbye: bool,
}

/// Why the publisher stopped waiting.
enum Woken<T> {
    /// What it waited for has come.
    Done(T),
    /// The broker holds the connection open and does nothing with it.
    Stalled,
    /// It is time to go.
    Leave,
}

impl Publisher {
    async fn run(&mut self, event_loop: &mut EventLoop) {
        let mut backoff = Backoff::new(FIRST_RETRY, LAST_RETRY, Backoff::seed(&self.base));
        let mut since = Duration::MAX;
        loop {
            // A poll is never dropped half-way, or a connection under way would begin anew with
            // every event: the other work is done while it waits.
            match self.attend(event_loop.poll()).await {
                Woken::Done(Ok(Packet::Incoming(Incoming::ConnAck(ack)))) => {
                    since = self.clock.elapsed();
                    self.greet(&ack);
                    continue;
                }
                Woken::Done(Ok(Packet::Outgoing(Outgoing::Disconnect))) | Woken::Leave => return,
                Woken::Done(Ok(_)) => continue,
                Woken::Done(Err(error)) => {
                    self.part(&explain::explain(&self.url, &error, self.is_connected()));
                }
                Woken::Stalled => {
                    event_loop.clean();
                    self.part(&format!("{} takes messages and does not confirm them", self.url));
                }
            }
            if self.leaving.is_some() {
                return;
            }
            // A broker that throws us out at once is not asked again at once.
            let now = self.clock.elapsed();
            if now.saturating_sub(since) > STABLE {
                backoff.reset();
            }
            let retry = sleep_until(self.clock.after_start(now + backoff.delay()));
            if matches!(self.attend(retry).await, Woken::Leave) {
                return;
            }
        }
    }

    /// Waits for `other` and meanwhile reads the log and sends.
    async fn attend<T>(&mut self, other: impl Future<Output = T>) -> Woken<T> {
        let mut other = pin!(other);
        loop {
            self.send();
            if self.leaving.as_ref().is_some_and(|leaving| self.is_time_to_go(leaving)) {
                return Woken::Leave;
            }
            let stalled_at = self.in_flight.front().map(|front| front.since + PATIENCE);
            if stalled_at.is_some_and(|at| at <= self.clock.elapsed()) {
                return Woken::Stalled;
            }
            let leave_at = self.leaving.as_ref().map(|leaving| leaving.until);
            let due = [self.outbox.due(), leave_at, stalled_at].into_iter().flatten().min();
            let due = self.clock.after_start(due.unwrap_or(Duration::MAX));
            tokio::select! {
                biased;
                outcome = &mut other => return Woken::Done(outcome),
                result = front(&mut self.in_flight) => self.acknowledged(result),
                reading = next(&mut self.cursor) => self.read(reading),
                () = sleep_until(due) => self.outbox.release(self.clock.elapsed()),
            }
        }
    }

    fn is_time_to_go(&self, leaving: &Leaving) -> bool {
        // Without a connection the broker has been told already, by the last will.
        !self.is_connected() || leaving.until <= self.clock.elapsed()
    }

    fn is_connected(&self) -> bool {
        *self.connected.borrow()
    }

    fn greet(&mut self, ack: &ConnAck) {
        info!("connected");
        self.tell_dropped();
        self.told.clear();
        self.refused = 0;
        let limit = ack.properties.as_ref().and_then(|properties| properties.max_packet_size);
        self.largest = limit.map_or(usize::MAX, |bytes| bytes as usize);
        self.outbox.resume(self.everything());
        self.connected.send_replace(true);
    }

    /// All that a broker keeps.
    fn everything(&self) -> Vec<Publication> {
        let status = topic::status(Online::Online, self.clock.started());
        std::iter::once(status).chain(topic::snapshot(&self.state)).collect()
    }

    fn part(&mut self, reason: &str) {
        self.connected.send_replace(false);
        self.outbox.interrupt(self.in_flight.drain(..).map(|in_flight| in_flight.parcel));
        if reason != self.told {
            warn!("{reason}; trying again");
            reason.clone_into(&mut self.told);
        }
    }

    fn read(&mut self, reading: Option<Reading>) {
        match reading {
            Some(Reading::Event(recorded)) => self.publish(&recorded),
            Some(Reading::Reload { state, missed }) => {
                warn!(
                    missed,
                    "the broker is too slow: events were passed over, the state is whole"
                );
                self.state = *state;
                if self.is_connected() {
                    self.outbox.resume(self.everything());
                }
            }
            None => {
                self.cursor = None;
                self.outbox.release_all();
                let until = self.clock.elapsed() + LAST_WORDS;
                self.leaving = Some(Leaving { until, goodbye: false });
                let publication = topic::status(Online::Offline, self.clock.started());
                self.outbox.push(Parcel { publication, kind: Kind::Retained });
            }
        }
    }

    fn publish(&mut self, recorded: &Arc<Recorded>) {
        let urgent = is_urgent(&self.state, recorded);
        let durable = recorded.event.is_durable();
        for publication in topic::publications(&mut self.state, recorded) {
            if publication.retained && publication.topic.ends_with(CLOCK) {
                self.outbox.push_paced(self.clock.elapsed(), publication, urgent);
                continue;
            }
            let kind = match (publication.retained, durable) {
                (true, _) => Kind::Retained,
                (false, true) => Kind::Durable,
                (false, false) => Kind::Ephemeral,
            };
            self.outbox.push(Parcel { publication, kind });
        }
        self.count_dropped();
    }

    /// Adds up what was given up. The first decision that is lost is told at once, and the sums
    /// when there is a connection again.
    fn count_dropped(&mut self) {
        let Dropped { durable, ephemeral } = self.outbox.take_dropped();
        if durable > 0 && self.dropped.durable == 0 {
            warn!("no room for more events while the broker is away: the oldest are dropped");
        }
        self.dropped.durable += durable;
        self.dropped.ephemeral += ephemeral;
    }

    fn tell_dropped(&mut self) {
        self.count_dropped();
        match std::mem::take(&mut self.dropped) {
            Dropped { durable: 0, ephemeral: 0 } => {}
            Dropped { durable: 0, ephemeral } => {
                info!(ephemeral, "passing events were not published meanwhile");
            }
            Dropped { durable, ephemeral } => {
                warn!(durable, ephemeral, "events were dropped meanwhile; the state is whole");
            }
        }
    }

    /// Tells what the broker never confirmed, at the end.
    fn tell_undelivered(&mut self) {
        self.outbox.interrupt(self.in_flight.drain(..).map(|in_flight| in_flight.parcel));
        self.tell_dropped();
        let undelivered = std::iter::from_fn(|| self.outbox.pop()).count();
        if undelivered > 0 {
            warn!(undelivered, "stopped before the broker had confirmed all events");
        }
    }

    /// Hands on what the broker can take now; never waits.
    fn send(&mut self) {
        while self.is_connected() && self.in_flight.len() < WINDOW {
            let Some(parcel) = self.outbox.pop() else { break };
            let topic = format!("{}/{}", self.base, parcel.publication.topic);
            let payload = parcel.publication.payload.clone();
            if topic.len() + payload.len() + PACKET_OVERHEAD > self.largest {
                self.refuse(&topic, "it is larger than the broker takes");
                continue;
            }
            let options = PublishOptions::new(QoS::AtLeastOnce).retain(parcel.publication.retained);
            match self.client.try_publish_tracked(topic.clone(), payload, options) {
                Ok(notice) => {
                    let acknowledged = Box::pin(notice.wait_completion_async());
                    let since = self.clock.elapsed();
                    self.in_flight.push_back(InFlight { parcel, since, acknowledged });
                }
                Err(error) => self.refuse(&topic, &error.to_string()),
            }
        }
        if let Some(leaving) = &mut self.leaving
            && !leaving.goodbye
            && self.outbox.is_empty()
            && self.in_flight.is_empty()
        {
            leaving.goodbye = true;
            if let Err(error) = self.client.try_disconnect() {
                debug!("no goodbye: {error}");
            }
        }
    }

    fn acknowledged(&mut self, result: Result<(), PublishNoticeError>) {
        let Some(InFlight { parcel, .. }) = self.in_flight.pop_front() else { return };
        match result {
            Ok(()) => {}
            // The connection was lost and that is about to be told: next time, then.
            Err(PublishNoticeError::SessionReset | PublishNoticeError::Recv) => {
                self.outbox.push(parcel);
            }
            Err(error) => self.refuse(&parcel.publication.topic, &error.to_string()),
        }
    }

    /// Counts a publication that will never arrive; tells the first of each connection.
    fn refuse(&mut self, topic: &str, reason: &str) {
        self.refused += 1;
        if self.refused == 1 {
            warn!(topic, "a publication was refused: {reason}; more are only counted");
        } else {
            debug!(topic, refused = self.refused, "refused: {reason}");
        }
    }
}

/// The oldest publication in flight; never completes if there is none.
async fn front(in_flight: &mut VecDeque<InFlight>) -> Result<(), PublishNoticeError> {
    match in_flight.front_mut() {
        Some(in_flight) => in_flight.acknowledged.as_mut().await,
        None => std::future::pending().await,
    }
}

/// The next reading; never completes once the log has ended.
async fn next(cursor: &mut Option<Cursor>) -> Option<Reading> {
    match cursor {
        Some(cursor) => cursor.next().await,
        None => std::future::pending().await,
    }
}

/// Whether an event about the clock cannot wait for the next second: everything but a clock that
/// just ran on.
fn is_urgent(before: &State, recorded: &Recorded) -> bool {
    let Event::Clock(now) = &recorded.event else { return true };
    let table = before.table(recorded.table);
    table.and_then(|table| table.game.clock()).is_none_or(|before| {
        (before.running, before.lever, before.white_flag, before.black_flag)
            != (now.running, now.lever, now.white_flag, now.black_flag)
    })
}

/// Publications handed to the client at a time. Small, so that the newest value of a topic is not
/// stuck behind older ones.
const WINDOW: usize = 32;

/// More than the header of any publication.
const PACKET_OVERHEAD: usize = 32;

const FIRST_RETRY: Duration = Duration::from_millis(250);
const LAST_RETRY: Duration = Duration::from_secs(10);

/// A connection that held this long was a good one.
const STABLE: Duration = Duration::from_secs(20);

/// How long a broker may take to confirm a publication.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is left for delivery when the daemon stops.
const LAST_WORDS: Duration = Duration::from_millis(950);

/// The end of the topics that are told at a pace.
const CLOCK: &str = "/clock";
