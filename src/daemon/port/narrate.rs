//! What happens on a link, for the log.

use std::sync::Arc;

use dgt_protocol::{BoardEvent, BusEvent, Fault, Identity, LinkEvent};
use tracing::{debug, info, trace, warn};

use crate::{daemon::roster::Roster, hall::PortName};

/// Tells the story of one connection.
#[derive(Debug)]
pub(super) struct Narrator {
    faults: u64,
    roster: Option<Arc<Roster>>,
}

impl Narrator {
    pub(super) fn new(roster: Option<Arc<Roster>>) -> Self {
        Self { faults: 0, roster }
    }

    pub(super) fn tell(&mut self, port: &PortName, event: &LinkEvent) {
        if let Some(roster) = &self.roster {
            roster.hear(port, event);
        }
        match event {
            LinkEvent::Message(message) => trace!(?message, "from the board"),
            LinkEvent::Identified(identity) => tell_identity(identity),
            LinkEvent::Answering => info!("the board answers"),
            LinkEvent::Silent => warn!(
                "the board does not answer: is it switched on, and is it a board at all? It is \
                 asked again and again"
            ),
            LinkEvent::Unanswered(request) => debug!(?request, "the board gives no answer to this"),
            LinkEvent::Overrun { events } => {
                warn!(events, "messages came faster than they could be handled, some are lost");
            }
            LinkEvent::Fault(fault) => self.tell_fault(fault),
        }
    }

    pub(super) fn tell_bus(&mut self, port: &PortName, event: &BusEvent) {
        if let Some(roster) = &self.roster {
            roster.hear_bus(port, event);
        }
        match event {
            BusEvent::Board { address, event } => tell_board(address.number(), event),
            BusEvent::Deserted => warn!(
                "no board answers on the bus: are its boards and its power supply plugged in? They \
                 are looked for again and again"
            ),
            BusEvent::Crowded(address) => warn!(
                board = address.number(),
                "there are more boards on this bus than can be read in time: move some to another"
            ),
            BusEvent::Overrun { events } => {
                warn!(events, "messages came faster than they could be handled, some are lost");
            }
            BusEvent::Fault(fault) => self.tell_fault(fault),
        }
    }

    fn tell_fault(&mut self, fault: &Fault) {
        self.faults += 1;
        // A board may be in the middle of a message when it is opened; a few more may happen. A
        // line that does it all the time needs a hand.
        if self.faults >= MANY_FAULTS && self.faults.is_power_of_two() {
            let faults = self.faults;
            warn!(faults, "the line is noisy: try another cable or adapter ({fault})");
        } else {
            debug!("{fault}");
        }
    }
}

fn tell_board(board: u16, event: &BoardEvent) {
    match event {
        BoardEvent::Answering => info!(board, "the board answers"),
        BoardEvent::Silent => warn!(
            board,
            "the board does not answer: is it plugged into the bus? It is asked again and again"
        ),
        BoardEvent::ChangesLost => {
            warn!(board, "changes were lost on the way; the board is read again");
        }
        BoardEvent::Unanswered(request) => {
            debug!(board, ?request, "the board gives no answer to this");
        }
        other => trace!(board, message = ?other, "from the board"),
    }
}

fn tell_identity(identity: &Identity) {
    let Identity { serial_number, long_serial_number, version, .. } = identity;
    let serial = serial_number.as_ref().map(tracing::field::display);
    let long = long_serial_number.as_ref().map(tracing::field::display);
    let version = version.map(|(major, minor)| format!("{major}.{minor}"));
    info!(serial, long_serial = long, version, "the board tells who it is");
}

const MANY_FAULTS: u64 = 8;
