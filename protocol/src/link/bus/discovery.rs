//! The search for boards: rounds of a ping to all that known boards are told to ignore.

use alloc::collections::VecDeque;

use crate::bus::{Address, BusCommand, Order};

/// Where the search stands.
///
/// A round first tells every known board to ignore the next ping, then pings all and listens. The
/// answers come at random moments and garble each other, so rounds are repeated until one brings
/// nothing: two such rounds at the start, because the first command to a board may only bring it
/// into bus mode. Those rounds have the line to themselves. From time to time a round is done
/// beside the polling; if anything is heard in it that should not be, rounds alone follow. Every
/// fourth one is done alone anyway, for boards that are found in silence only.
///
/// A round alone keeps changes waiting for two seconds. While games are on, the line therefore is
/// shared as long as possible: nothing is done alone but what three surprising rounds in a row ask
/// for, which the damaged bytes of a bad line hardly make.
#[derive(Clone, Debug)]
pub(super) struct Discovery {
    stage: Stage,
    manner: Manner,
    /// Quiet rounds still needed.
    needed: u8,
    /// Rounds since the search began.
    rounds: u8,
    /// Whether the first search is over.
    begun: bool,
    /// Searches since the last one that was done alone.
    shared: u8,
    /// Whether no game is on.
    calm: bool,
    /// Something new or garbled was heard in this round.
    surprised: bool,
    /// Commands of others until the next one of the search, on a shared line.
    turn: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    Resting,
    /// These boards have yet to be told to ignore the ping.
    Quieting(VecDeque<Address>),
    Listening,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Alone,
    Beside,
}

/// A command of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Tell a board to ignore the next ping; it answers.
    Quiet(Address),
    /// Ping all; the window for answers begins.
    PingAll,
}

impl Discovery {
    pub(super) const fn new() -> Self {
        Self {
            stage: Stage::Resting,
            manner: Manner::Alone,
            needed: 2,
            rounds: 0,
            begun: false,
            shared: 0,
            calm: true,
            surprised: false,
            turn: 0,
        }
    }

    /// The same search at rest, after whatever it was doing has been cut off.
    pub(super) fn resting(&self) -> Self {
        let needed = if !self.begun || self.needed > 0 { 2 } else { 0 };
        Self { needed, begun: self.begun, shared: self.shared, ..Self::new() }
    }

    /// Begins a round in which these boards are told to be quiet; `calm` when no game is on.
    pub(super) fn begin(&mut self, known: impl Iterator<Item = Address>, calm: bool) {
        self.calm = calm;
        if self.rounds == 0 && self.begun {
            self.shared = self.shared.saturating_add(1);
            if self.shared >= ALONE_EVERY && calm {
                self.needed = self.needed.max(1);
            }
        }
        self.begun = true;
        self.manner = if self.needed > 0 { Manner::Alone } else { Manner::Beside };
        if self.manner == Manner::Alone {
            self.shared = 0;
        }
        self.rounds = self.rounds.saturating_add(1);
        self.surprised = false;
        self.turn = 0;
        self.stage = Stage::Quieting(known.collect());
    }

    /// The next command of the search, if it is its turn.
    pub(super) fn next_step(&mut self) -> Option<Step> {
        let Stage::Quieting(quiet) = &mut self.stage else { return None };
        if self.manner == Manner::Beside && self.turn > 0 {
            self.turn -= 1;
            return None;
        }
        self.turn = SHARE;
        if let Some(address) = quiet.pop_front() {
            return Some(Step::Quiet(address));
        }
        self.stage = Stage::Listening;
        Some(Step::PingAll)
    }

    /// Whether boards may be polled at present.
    pub(super) fn shares_the_line(&self) -> bool {
        self.manner == Manner::Beside || self.stage == Stage::Resting
    }

    /// Whether the search has a command to send.
    pub(super) fn is_quieting(&self) -> bool {
        matches!(self.stage, Stage::Quieting(_))
    }

    /// Something was heard that no known board was asked for.
    pub(super) fn note_surprise(&mut self) {
        if self.stage == Stage::Listening {
            self.surprised = true;
        }
    }

    /// Ends a round; `true` when another one has to follow at once.
    pub(super) fn end_round(&mut self) -> bool {
        self.stage = Stage::Resting;
        let most = if self.calm || !self.begun { MAX_ROUNDS } else { MAX_ROUNDS_IN_PLAY };
        let again = match self.manner {
            _ if self.rounds >= most => {
                self.needed = 0;
                false
            }
            Manner::Beside if self.surprised => {
                if self.calm || self.rounds >= SURPRISES {
                    self.needed = 1;
                }
                true
            }
            Manner::Beside => false,
            Manner::Alone => {
                let needed = self.needed;
                self.needed = if self.surprised { needed.max(1) } else { needed.saturating_sub(1) };
                self.needed > 0
            }
        };
        if !again {
            self.rounds = 0;
        }
        again
    }
}

impl Step {
    pub(super) const fn command(self) -> BusCommand {
        match self {
            Self::Quiet(address) => BusCommand::to(address, Order::IgnoreNextPing),
            Self::PingAll => BusCommand::to_all(Order::Ping),
        }
    }
}

const MAX_ROUNDS: u8 = 12;
/// Three rounds beside the polling and two alone.
const MAX_ROUNDS_IN_PLAY: u8 = SURPRISES + 2;
const SURPRISES: u8 = 3;
const ALONE_EVERY: u8 = 4;
/// Commands that boards are asked on a shared line for each one of the search.
const SHARE: u8 = 3;

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{
        Manner::{Alone, Beside},
        *,
    };

    fn board() -> impl Iterator<Item = Address> {
        Address::new(1025).into_iter()
    }

    #[test]
    fn two_quiet_rounds_alone_end_the_first_search() {
        let mut discovery = Discovery::new();
        discovery.begin(board(), true);
        assert!(!discovery.shares_the_line());
        assert_eq!(discovery.next_step(), Address::new(1025).map(Step::Quiet));
        assert_eq!(discovery.next_step(), Some(Step::PingAll));
        assert_eq!(discovery.next_step(), None);
        assert!(discovery.end_round());
        discovery.begin(board(), true);
        assert!(!discovery.end_round());
        assert!(discovery.shares_the_line());
    }

    #[test]
    fn a_surprise_beside_the_polling_leads_to_a_round_alone() {
        let mut discovery = Discovery { needed: 0, begun: true, ..Discovery::new() };
        discovery.begin(board(), true);
        assert!(discovery.shares_the_line());
        while discovery.is_quieting() {
            discovery.next_step();
        }
        discovery.note_surprise();
        assert!(discovery.end_round());
        discovery.begin(board(), true);
        assert!(!discovery.shares_the_line());
        assert!(!discovery.end_round());
    }

    #[test]
    fn while_games_are_on_only_repeated_surprises_lead_to_a_round_alone() {
        let mut discovery = Discovery { needed: 0, begun: true, ..Discovery::new() };
        let mut manners = Vec::new();
        loop {
            discovery.begin(board(), false);
            manners.push(discovery.manner);
            while discovery.is_quieting() {
                discovery.next_step();
            }
            discovery.note_surprise();
            if !discovery.end_round() {
                break;
            }
        }
        assert_eq!(manners, [Beside, Beside, Beside, Alone, Alone]);
        // However long a game takes.
        for _ in 0..20 {
            discovery.begin(board(), false);
            assert!(discovery.shares_the_line());
            assert!(!discovery.end_round());
        }
        discovery.begin(board(), true);
        assert!(!discovery.shares_the_line());
    }

    #[test]
    fn a_line_full_of_noise_does_not_keep_the_search_going() {
        let mut discovery = Discovery::new();
        let rounds = (1..=100).find(|_| {
            discovery.begin(board(), true);
            while discovery.is_quieting() {
                discovery.next_step();
            }
            discovery.note_surprise();
            !discovery.end_round()
        });
        assert_eq!(rounds, Some(12));
    }
}
