//! The one task that owns the hall.

use std::collections::BTreeMap;

use tokio::{
    sync::{mpsc, oneshot},
    time::sleep_until,
};
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::{
    clock::Clock,
    log::{Log, LogReader},
};
use crate::{
    game::Timestamp,
    hall::{Hall, Input, PortName, Request},
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
#[derive(Debug)]
pub struct Engine {
    hall: Hall,
    clock: Clock,
    log: Log,
    inputs: mpsc::Receiver<Stamped>,
    send_inputs: mpsc::Sender<Stamped>,
    pulses: mpsc::Receiver<oneshot::Sender<()>>,
    send_pulses: mpsc::Sender<oneshot::Sender<()>>,
    ports: BTreeMap<PortName, mpsc::Sender<Request>>,
    refused: u64,
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
        let ports = BTreeMap::new();
        Self { hall, clock, log, inputs, send_inputs, pulses, send_pulses, ports, refused: 0 }
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

    /// Runs until `stop` is cancelled, then handles what was already sent and ends the log.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            self.publish();
            let due = self.hall.deadline().unwrap_or(Timestamp::from_millis(u64::MAX));
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
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
        self.log.append(std::iter::from_fn(|| self.hall.poll_event()));
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

/// Pulses asked for and not answered yet.
const PULSES: usize = 8;

/// Events that a slow sink may be behind before it must start from the state again.
const LOG_EVENTS: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{daemon::log::Reading, hall::HallSetup};

    fn opened(port: &str) -> Input {
        Input::PortOpened { port: PortName::new(port) }
    }

    #[tokio::test]
    async fn inputs_become_events_in_order_of_time_and_requests_reach_their_port() {
        let clock = Clock::start();
        let mut engine = Engine::new(Hall::new(HallSetup::default()), clock);
        let (_, mut cursor) = engine.log().follow();
        let (inputs, pulse) = (engine.inputs(), engine.pulse());
        let mut requests = engine.requests(PortName::new("a"));
        // Both are waiting before the engine turns for the first time.
        let at = clock.now();
        inputs.send(Stamped { at: at.after(2), input: opened("b") }).await.unwrap();
        inputs.send(Stamped { at, input: opened("a") }).await.unwrap();

        let stop = CancellationToken::new();
        let engine = tokio::spawn(engine.run(stop.clone()));
        pulse.beat().await;
        assert_eq!(requests.recv().await, Some(Request::Board));
        let mut seen = Vec::new();
        while seen.last() != Some(&"timeout".to_owned()) {
            match cursor.next().await {
                Some(Reading::Event(recorded)) => seen.push(recorded.event.clone()),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(seen, ["opened a", "opened b", "timeout"]);

        // What was sent before the stop is still handled; then the log ends.
        inputs.send(Stamped { at: clock.now(), input: opened("c") }).await.unwrap();
        stop.cancel();
        engine.await.unwrap();
        assert!(matches!(cursor.next().await, Some(Reading::Event(r)) if r.event == "opened c"));
        assert_eq!(cursor.next().await, None);
        assert!(inputs.send(Stamped { at, input: opened("d") }).await.is_err());
    }
}
