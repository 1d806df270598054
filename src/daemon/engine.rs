//! The one task that owns the hall.

use std::collections::BTreeMap;

use tokio::{
    sync::{mpsc, oneshot},
    time::sleep_until,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, trace};

use super::{
    clock::Clock,
    log::{Log, LogReader},
};
use crate::{
    game::Timestamp,
    hall::{Hall, Input, PortName, Recorded, Request},
};

/// An input with the time at which it happened.
#[derive(Clone, Debug)]
pub struct Stamped {
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub input: Input,
}

/// The engine before it runs; take what other tasks need from it, then [`Engine::run`] it.
pub struct Engine {
    hall: Hall,
    clock: Clock,
    log: Log,
    inputs: mpsc::Receiver<Stamped>,
    send_inputs: mpsc::Sender<Stamped>,
    pulses: mpsc::Receiver<oneshot::Sender<()>>,
    send_pulses: mpsc::Sender<oneshot::Sender<()>>,
    ports: BTreeMap<PortName, mpsc::Sender<Request>>,
    newcomers: mpsc::Receiver<(PortName, mpsc::Sender<Request>)>,
    send_newcomers: mpsc::Sender<(PortName, mpsc::Sender<Request>)>,
    refused: u64,
}

/// Where ports sign on that are found while the engine runs.
#[derive(Clone, Debug)]
pub struct Desk {
    inputs: mpsc::Sender<Stamped>,
    newcomers: mpsc::Sender<(PortName, mpsc::Sender<Request>)>,
}

/// Asks the engine whether it still turns.
#[derive(Clone, Debug)]
pub struct Pulse(mpsc::Sender<oneshot::Sender<()>>);

impl Engine {
    /// An engine around a hall.
    pub fn new(hall: Hall, clock: Clock) -> Self {
        let log = Log::new(hall.state().clone(), LOG_EVENTS);
        let (send_inputs, inputs) = mpsc::channel(INPUTS);
        let (send_pulses, pulses) = mpsc::channel(PULSES);
        let (send_newcomers, newcomers) = mpsc::channel(NEWCOMERS);
        Self {
            hall,
            clock,
            log,
            inputs,
            send_inputs,
            pulses,
            send_pulses,
            ports: BTreeMap::new(),
            newcomers,
            send_newcomers,
            refused: 0,
        }
    }

    /// Where to send what happened. Waits when the engine is busy; nothing is dropped.
    pub fn inputs(&self) -> mpsc::Sender<Stamped> {
        self.send_inputs.clone()
    }

    /// The log of everything that was decided.
    pub fn log(&self) -> LogReader {
        self.log.reader()
    }

    /// The engine's pulse.
    pub fn pulse(&self) -> Pulse {
        Pulse(self.send_pulses.clone())
    }

    /// The requests that the hall will make of a port.
    pub fn requests(&mut self, port: PortName) -> mpsc::Receiver<Request> {
        let (send, requests) = mpsc::channel(REQUESTS);
        self.ports.insert(port, send);
        requests
    }

    /// Where ports sign on that are found later.
    pub fn desk(&self) -> Desk {
        Desk { inputs: self.send_inputs.clone(), newcomers: self.send_newcomers.clone() }
    }

    /// Runs until `stop` is cancelled, then handles what was already sent and ends the log.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            self.publish();
            let due = self.hall.deadline().unwrap_or(Timestamp::from_millis(u64::MAX));
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                // Before the inputs: what a new port says may have to be answered.
                Some((port, requests)) = self.newcomers.recv() => {
                    self.ports.insert(port, requests);
                }
                Some(answer) = self.pulses.recv() => {
                    if answer.send(()).is_err() {
                        debug!("a pulse was answered too late");
                    }
                }
                _ = self.inputs.recv_many(&mut batch, BATCH) => self.handle(&mut batch),
                () = sleep_until(self.clock.instant(due)) => self.hall.handle_timeout(due),
            }
        }
        self.inputs.close();
        while self.inputs.recv_many(&mut batch, BATCH).await > 0 {
            self.handle(&mut batch);
        }
        self.publish();
    }

    /// Hands a batch to the hall in the order in which it happened, each input after the timeouts
    /// that were due before it. So the outcome does not depend on how the tasks were scheduled.
    fn handle(&mut self, batch: &mut Vec<Stamped>) {
        batch.sort_by_key(|stamped| stamped.at);
        for Stamped { at, input } in batch.drain(..) {
            while let Some(due) = self.hall.deadline().filter(|due| *due <= at) {
                self.hall.handle_timeout(due);
            }
            self.hall.handle(at, input);
        }
    }

    /// Passes on what the hall decided and what it wants to know.
    fn publish(&mut self) {
        self.log.append(std::iter::from_fn(|| self.hall.poll_event()).inspect(|recorded| {
            let Recorded { id, table, event, .. } = recorded;
            if event.is_durable() {
                debug!(table, id, ?event, "decided");
            } else {
                trace!(table, id, ?event, "seen");
            }
        }));
        while let Some((port, request)) = self.hall.poll_request() {
            let sent = self.ports.get(&port).is_some_and(|port| port.try_send(request).is_ok());
            if !sent {
                // A port that is closed begins with a dump when it is back; nothing is missed.
                self.refused += 1;
                debug!(port = %port, refused = self.refused, "the port takes no request now");
            }
        }
    }
}

impl Desk {
    /// Signs a port on: where it sends what happens, and the requests that are made of it. None if
    /// the engine is gone.
    pub async fn sign_on(
        &self,
        port: PortName,
    ) -> Option<(mpsc::Sender<Stamped>, mpsc::Receiver<Request>)> {
        let (send, requests) = mpsc::channel(REQUESTS);
        self.newcomers.send((port, send)).await.ok()?;
        Some((self.inputs.clone(), requests))
    }
}

impl Pulse {
    /// Completes when the engine has turned once more; never if it is gone.
    pub async fn beat(&self) {
        let (answer, answered) = oneshot::channel();
        if self.0.send(answer).await.is_err() || answered.await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// A board sends a few messages a second; this is many seconds of a full hall.
const INPUTS: usize = 1024;

/// Inputs handled between two looks at the rest of the world.
const BATCH: usize = 256;

/// Requests waiting for one port.
const REQUESTS: usize = 16;

/// Ports that sign on at the same moment.
const NEWCOMERS: usize = 16;

/// Pulses asked for and not answered yet.
const PULSES: usize = 8;

/// Events that a slow sink may be behind before it must start from the state again.
const LOG_EVENTS: usize = 16_384;

#[cfg(test)]
mod tests {
    use dgt_protocol::{Field, LinkEvent, Message, PieceCode};

    use super::*;
    use crate::{
        daemon::{log::Reading, testing},
        game::Event,
        hall::{HallSetup, Source, TableSetup},
    };

    const PORTS: [&str; 2] = ["/dev/a", "/dev/b"];
    const SETTLE_MS: u64 = 100;
    const E2: u8 = 52;
    const E4: u8 = 36;

    fn engine(clock: Clock) -> Engine {
        let table = |(port, number)| {
            let mut table = TableSetup::new(number, Source::Port(PortName::new(port)));
            table.settings.settle_ms = SETTLE_MS;
            table
        };
        let tables = PORTS.into_iter().zip(1..).map(table).collect();
        Engine::new(Hall::new(HallSetup { tables, first_event: 1 }), clock)
    }

    fn dump(port: &str) -> Input {
        let event = LinkEvent::Message(Message::Dump(testing::array()));
        Input::Link { port: PortName::new(port), event }
    }

    async fn next(cursor: &mut crate::daemon::log::Cursor) -> Option<(Timestamp, u32, Event)> {
        match cursor.next().await {
            Some(Reading::Event(recorded)) => {
                Some((recorded.at, recorded.table, recorded.event.clone()))
            }
            Some(other) => panic!("{other:?}"),
            None => None,
        }
    }

    fn change(port: &str, field: u8, code: PieceCode) -> Input {
        let field = Field::new(field).unwrap();
        let event = LinkEvent::Message(Message::FieldUpdate { field, code });
        Input::Link { port: PortName::new(port), event }
    }

    #[tokio::test]
    async fn inputs_are_handled_in_order_of_time_and_deadlines_fire() {
        let clock = Clock::start();
        let engine = engine(clock);
        let (_, mut cursor) = engine.log().follow();
        let (inputs, pulse) = (engine.inputs(), engine.pulse());
        // All are waiting before the engine turns for the first time, the later table first.
        let at = clock.now();
        for (port, late) in [(PORTS[1], 5), (PORTS[0], 0)] {
            for (ms, input) in [
                (0, dump(port)),
                (20, change(port, E2, PieceCode::Empty)),
                (40, change(port, E4, PieceCode::WhitePawn)),
            ] {
                inputs.send(Stamped { at: at.after(ms + late), input }).await.unwrap();
            }
        }
        let stop = CancellationToken::new();
        let engine = tokio::spawn(engine.run(stop.clone()));
        pulse.beat().await;

        let mut plies = Vec::new();
        let mut last = Timestamp::ZERO;
        while plies.len() < 2 {
            let (when, table, event) = next(&mut cursor).await.unwrap();
            assert!(when >= last, "events come in order of time");
            last = when;
            if matches!(event, Event::Plies { .. }) {
                plies.push((when.since(at), table));
            }
        }
        // A move is made at the very millisecond at which it has settled, however late the timer.
        assert_eq!(plies, [(40 + SETTLE_MS, 1), (45 + SETTLE_MS, 2)]);
        stop.cancel();
        engine.await.unwrap();
    }

    #[tokio::test]
    async fn what_was_sent_before_the_stop_is_still_handled_and_then_the_log_ends() {
        let clock = Clock::start();
        let engine = engine(clock);
        let (_, mut cursor) = engine.log().follow();
        let inputs = engine.inputs();
        let stop = CancellationToken::new();
        stop.cancel();
        inputs.send(Stamped { at: clock.now(), input: dump(PORTS[0]) }).await.unwrap();
        engine.run(stop).await;
        assert!(next(&mut cursor).await.is_some());
        while next(&mut cursor).await.is_some() {}
        assert!(inputs.send(Stamped { at: clock.now(), input: dump(PORTS[0]) }).await.is_err());
    }
}
