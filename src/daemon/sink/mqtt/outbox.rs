//! What waits to be sent to a broker: bounded, in order, and never more than the newest value of
//! what a broker keeps.

use std::{collections::BTreeMap, time::Duration};

use crate::view::Publication;

/// How much it matters that one publication arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Replaces whatever was said on this topic before.
    Retained,
    /// A decision: kept until it was delivered, as long as there is room.
    Durable,
    /// Of interest only now: dropped when nobody can hear it.
    Ephemeral,
}

/// One publication on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parcel {
    pub(super) publication: Publication,
    pub(super) kind: Kind,
}

/// How many publications were given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dropped {
    /// Decisions for which there was no room any more.
    pub(super) durable: u64,
    /// Passing events that nobody could hear.
    pub(super) ephemeral: u64,
}

/// The publications that wait, and the clocks that wait for their next second. Without a
/// connection only decisions wait: everything else is out of date by the time there is one.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    connected: bool,
    /// In order of sending.
    queue: BTreeMap<u64, Parcel>,
    /// Where in the queue the newest value of a retained topic is.
    newest: BTreeMap<String, u64>,
    paced: BTreeMap<String, Pace>,
    events: usize,
    next: u64,
    dropped: Dropped,
}

/// A topic that changes all the time and is sent once in a while.
#[derive(Debug)]
struct Pace {
    /// Not before this point, counted from the daemon's start.
    next_at: Duration,
    held: Option<Publication>,
}

impl Outbox {
    /// Adds a publication at the end. A retained one takes the place of an older value that was
    /// not sent yet.
    pub(super) fn push(&mut self, parcel: Parcel) {
        if !self.connected && parcel.kind != Kind::Durable {
            self.dropped.ephemeral += u64::from(parcel.kind == Kind::Ephemeral);
            return;
        }
        if parcel.kind == Kind::Retained {
            let topic = parcel.publication.topic.clone();
            if let Some(older) = self.newest.insert(topic, self.next) {
                self.queue.remove(&older);
            }
        } else {
            self.events += 1;
        }
        self.queue.insert(self.next, parcel);
        self.next += 1;
        if self.events > MAX_EVENTS {
            self.drop_one_event();
        }
    }

    /// Adds the value of a topic that is sent at most once in [`PACE`], unless it is `urgent`.
    pub(super) fn push_paced(&mut self, now: Duration, publication: Publication, urgent: bool) {
        let topic = publication.topic.clone();
        match self.paced.get_mut(&topic) {
            Some(pace) if !urgent && now < pace.next_at => pace.held = Some(publication),
            _ => {
                self.paced.insert(topic, Pace { next_at: now + PACE, held: None });
                self.push(Parcel { publication, kind: Kind::Retained });
            }
        }
    }

    /// When the first of the topics that were held back may be sent.
    pub(super) fn due(&self) -> Option<Duration> {
        let held = self.paced.values().filter(|pace| pace.held.is_some());
        held.map(|pace| pace.next_at).min()
    }

    /// Lets go of everything whose time has come.
    pub(super) fn release(&mut self, now: Duration) {
        let mut released = Vec::new();
        for pace in self.paced.values_mut().filter(|pace| pace.next_at <= now) {
            if let Some(publication) = pace.held.take() {
                pace.next_at = now + PACE;
                released.push(publication);
            }
        }
        for publication in released {
            self.push(Parcel { publication, kind: Kind::Retained });
        }
    }

    /// Lets go of everything at once: there will be no later time.
    pub(super) fn release_all(&mut self) {
        for publication in std::mem::take(&mut self.paced).into_values().filter_map(|p| p.held) {
            self.push(Parcel { publication, kind: Kind::Retained });
        }
    }

    /// Takes the next publication to send.
    pub(super) fn pop(&mut self) -> Option<Parcel> {
        let (place, parcel) = self.queue.pop_first()?;
        match parcel.kind {
            Kind::Retained => {
                if self.newest.get(&parcel.publication.topic) == Some(&place) {
                    self.newest.remove(&parcel.publication.topic);
                }
            }
            Kind::Durable | Kind::Ephemeral => self.events -= 1,
        }
        Some(parcel)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The connection is lost: decisions that were sent and not acknowledged must be sent again,
    /// before those that wait.
    pub(super) fn interrupt(&mut self, unacknowledged: impl IntoIterator<Item = Parcel>) {
        let waiting = std::mem::take(&mut self.queue);
        self.connected = false;
        self.newest.clear();
        self.paced.clear();
        self.events = 0;
        for parcel in unacknowledged.into_iter().chain(waiting.into_values()) {
            self.push(parcel);
        }
    }

    /// There is a connection, or the state has jumped: first everything the broker keeps, as it is
    /// now, then the events that waited.
    pub(super) fn resume(&mut self, retained: impl IntoIterator<Item = Publication>) {
        let waiting = std::mem::take(&mut self.queue);
        self.connected = true;
        self.newest.clear();
        self.paced.clear();
        self.events = 0;
        for publication in retained {
            self.push(Parcel { publication, kind: Kind::Retained });
        }
        for parcel in waiting.into_values().filter(|parcel| parcel.kind != Kind::Retained) {
            self.push(parcel);
        }
    }

    /// What was given up since the last call.
    pub(super) fn take_dropped(&mut self) -> Dropped {
        std::mem::take(&mut self.dropped)
    }

    /// Makes room: the oldest passing event goes first, then the oldest decision.
    fn drop_one_event(&mut self) {
        let oldest = |kind| {
            let mut queue = self.queue.iter();
            queue.find(|(_, parcel)| parcel.kind == kind).map(|(&place, _)| place)
        };
        let (place, count) = match oldest(Kind::Ephemeral) {
            Some(place) => (Some(place), &mut self.dropped.ephemeral),
            None => (oldest(Kind::Durable), &mut self.dropped.durable),
        };
        if let Some(place) = place {
            self.queue.remove(&place);
            self.events -= 1;
            *count += 1;
        }
    }
}

/// Clocks are told at most this often, and at once when they are pressed.
pub(super) const PACE: Duration = Duration::from_secs(1);

/// Events that may wait for a broker that is away or slow: many rounds of decisions.
pub(super) const MAX_EVENTS: usize = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn publication(topic: &str, payload: &str) -> Publication {
        let retained = topic.starts_with('r');
        Publication { topic: topic.to_owned(), retained, payload: payload.to_owned() }
    }

    fn parcel(topic: &str, payload: &str) -> Parcel {
        let kind = match topic.as_bytes()[0] {
            b'r' => Kind::Retained,
            b'd' => Kind::Durable,
            _ => Kind::Ephemeral,
        };
        Parcel { publication: publication(topic, payload), kind }
    }

    fn outbox(parcels: &[(&str, &str)]) -> Outbox {
        let mut outbox = Outbox::default();
        outbox.resume([]);
        for (topic, payload) in parcels {
            outbox.push(parcel(topic, payload));
        }
        outbox
    }

    fn sent(outbox: &mut Outbox) -> Vec<String> {
        let parcels = std::iter::from_fn(|| outbox.pop());
        parcels.map(|p| format!("{} {}", p.publication.topic, p.publication.payload)).collect()
    }

    #[test]
    fn events_keep_their_order_and_a_retained_value_is_only_the_newest() {
        let mut outbox =
            outbox(&[("r1", "a"), ("d", "1"), ("r2", "b"), ("e", "2"), ("r1", "c"), ("d", "3")]);
        assert_eq!(sent(&mut outbox), ["d 1", "r2 b", "e 2", "r1 c", "d 3"]);
        assert!(outbox.is_empty());
        outbox.push(parcel("r1", "d"));
        assert_eq!(sent(&mut outbox), ["r1 d"]);
    }

    #[test]
    fn after_a_lost_connection_decisions_come_again_in_order_and_the_rest_is_fresh() {
        let mut outbox = outbox(&[("d", "3"), ("r1", "old"), ("e", "4"), ("d", "5")]);
        outbox.interrupt([parcel("d", "1"), parcel("r1", "older"), parcel("d", "2")]);
        outbox.push(parcel("d", "6"));
        outbox.push(parcel("e", "7"));
        outbox.push(parcel("r1", "not yet"));
        outbox.resume([publication("r0", "online"), publication("r1", "new")]);
        assert_eq!(sent(&mut outbox), ["r0 online", "r1 new", "d 1", "d 2", "d 3", "d 5", "d 6"]);
        assert_eq!(outbox.take_dropped(), Dropped { durable: 0, ephemeral: 2 });
        assert_eq!(outbox.take_dropped(), Dropped::default());
    }

    #[test]
    fn a_jump_of_the_state_replaces_what_waited_and_keeps_the_events() {
        let mut outbox = outbox(&[("r1", "old"), ("d", "1"), ("r/clock", "x"), ("e", "2")]);
        outbox.push_paced(Duration::ZERO, publication("r/clock", "y"), false);
        outbox.push_paced(Duration::ZERO, publication("r/clock", "z"), false);
        outbox.resume([publication("r1", "new"), publication("r/clock", "now")]);
        assert_eq!(sent(&mut outbox), ["r1 new", "r/clock now", "d 1", "e 2"]);
        assert_eq!(outbox.due(), None);
    }

    #[test]
    fn room_is_bounded_and_decisions_go_last() {
        let mut outbox = outbox(&[("e", "0"), ("d", "1"), ("e", "2")]);
        for i in 0..MAX_EVENTS {
            outbox.push(parcel("d", &format!("x{i}")));
        }
        assert_eq!(outbox.take_dropped(), Dropped { durable: 1, ephemeral: 2 });
        let sent = sent(&mut outbox);
        assert_eq!((sent.len(), sent[0].as_str()), (MAX_EVENTS, "d x0"));
    }

    #[test]
    fn a_clock_is_told_once_a_second_and_at_once_when_pressed() {
        let at = Duration::from_millis;
        let clock = |payload: &str| publication("r/clock", payload);
        let mut outbox = outbox(&[]);
        outbox.push_paced(at(0), clock("90"), false);
        assert_eq!(sent(&mut outbox), ["r/clock 90"]);
        outbox.push_paced(at(300), clock("89"), false);
        outbox.push_paced(at(900), clock("88"), false);
        assert!(outbox.is_empty());
        assert_eq!(outbox.due(), Some(at(1000)));
        outbox.release(at(999));
        assert!(outbox.is_empty());
        outbox.release(at(1000));
        assert_eq!(sent(&mut outbox), ["r/clock 88"]);

        // A press is told at once; what was held back is older and goes.
        outbox.push_paced(at(1200), clock("87"), false);
        outbox.push_paced(at(1300), clock("pressed"), true);
        assert_eq!(sent(&mut outbox), ["r/clock pressed"]);
        assert_eq!(outbox.due(), None);
        outbox.push_paced(at(2200), clock("86"), false);
        assert_eq!(outbox.due(), Some(at(2300)));

        // At the end nothing is left behind.
        outbox.release_all();
        assert_eq!((outbox.due(), sent(&mut outbox)), (None, vec!["r/clock 86".to_owned()]));
    }
}
