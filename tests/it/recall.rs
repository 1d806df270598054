//! What was played while nobody listened, from the board's own memory: a virtual board, the link and
//! the hall on virtual time.

use std::time::Duration;

use boardcast::{
    game::Timestamp,
    hall::{Hall, HallSetup, Input, PortName, Request, Source, TableSetup},
    sim::{
        board::{BoardSettings, VirtualBoard},
        device::Device,
        hand::{self, preset, script::PlyTruth},
        performance::Performance,
        pgn,
    },
};
use dgt_protocol::{SingleLink, SingleSettings};
use shakmaty::Position;

/// A daemon's ear at a board.
struct Ear {
    board: Performance,
    link: Option<SingleLink>,
    hall: Hall,
    now: Duration,
    /// How often the memory was asked for.
    asked: usize,
}

fn port() -> PortName {
    PortName::new("/dev/board")
}

fn hall() -> Hall {
    let tables = vec![TableSetup::new(1, Source::Port(port()))];
    Hall::new(HallSetup { tables, first_event: 1 }).recalling()
}

impl Ear {
    /// At a board on which this is going to be played.
    fn new(movetext: &str) -> (Self, Vec<PlyTruth>) {
        let scores: Vec<_> =
            pgn::read(movetext.as_bytes()).into_iter().map(Result::unwrap).collect();
        let script = hand::play(&scores, &preset::Preset::new(preset::Name::Clean), 7);
        let board = VirtualBoard::new(BoardSettings::new(30_001), Duration::ZERO);
        let board = Performance::new(board, scores[0].start().board(), &script);
        let ear = Self { board, link: None, hall: hall(), now: Duration::ZERO, asked: 0 };
        (ear, script.games[0].plies.clone())
    }

    fn at(&self) -> Timestamp {
        Timestamp::from_millis(u64::try_from(self.now.as_millis()).unwrap())
    }

    fn connect(&mut self) {
        self.link = Some(SingleLink::new(SingleSettings::cable(), self.now));
        self.hall.handle(self.at(), Input::PortOpened { port: port() });
    }

    fn leave(&mut self) {
        self.link = None;
        let reason = "pulled".to_owned();
        self.hall.handle(self.at(), Input::PortClosed { port: port(), reason });
    }

    /// Another daemon, which knows nothing, in place of this one.
    fn forget(&mut self) {
        self.link = None;
        self.hall = hall();
    }

    fn run_until(&mut self, end: Duration) {
        while self.now < end {
            let link = self.link.as_ref().and_then(SingleLink::poll_timeout);
            let hall = self.hall.deadline().map(|due| Duration::from_millis(due.as_millis()));
            let next = [self.board.poll_timeout(), link, hall].into_iter().flatten().min();
            self.now = next.unwrap_or(end).clamp(self.now, end);
            self.turn();
            if next.is_some_and(|next| next <= self.now) && self.now < end {
                // What was due now has been done; whoever is still due comes a moment later.
                self.now += Duration::from_millis(1);
            }
        }
    }

    fn turn(&mut self) {
        let at = self.at();
        while self.hall.deadline().is_some_and(|due| due <= at) {
            self.hall.handle_timeout(at);
        }
        self.board.handle_timeout(self.now);
        while let Some(bytes) = self.board.poll_transmit() {
            if let Some(link) = &mut self.link {
                link.handle_bytes(self.now, &bytes);
            }
        }
        let Some(link) = &mut self.link else { return };
        link.handle_timeout(self.now);
        while let Some(bytes) = link.poll_transmit() {
            self.board.handle_bytes(self.now, &bytes);
        }
        while let Some(event) = link.poll_event() {
            self.hall.handle(at, Input::Link { port: port(), event });
        }
        while let Some((_, request)) = self.hall.poll_request() {
            self.asked += usize::from(request == Request::Memory);
            let request = match request {
                Request::Board => dgt_protocol::Request::Dump,
                Request::Memory => dgt_protocol::Request::Memory,
            };
            link.request(self.now, request);
        }
        let mut last = Timestamp::ZERO;
        while let Some(recorded) = self.hall.poll_event() {
            assert!(recorded.at >= last, "events come in order of time");
            last = recorded.at;
        }
    }

    fn moves(&self) -> Vec<String> {
        let game = &self.hall.state().table(1).unwrap().game;
        (0..).map_while(|i| game.san(i)).collect()
    }
}

fn sans(plies: &[PlyTruth]) -> Vec<&str> {
    plies.iter().map(|ply| ply.san.trim_end_matches(['+', '#'])).collect()
}

/// A little after the ply was pressed, before the next one is touched.
fn after(plies: &[PlyTruth], n: usize) -> Duration {
    plies[n - 1].pressed.unwrap_or(plies[n - 1].complete) + Duration::from_millis(400)
}

/// Six plies whose order the placement does not tell, and which undo each other in part.
const GAME: &str = "[TimeControl \"5400+30\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d3 d6 \
                    6. O-O O-O 7. h3 h6 8. Re1 a6 9. Bb3 Ba7 10. Nbd2 Re8 11. Nf1 Be6 1-0\n";
const SHUFFLE: &str = "[TimeControl \"5400+30\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Ng1 Nb8 4. Nf3 Nc6 5. Bb5 a6 \
                       6. Ba4 Nf6 7. O-O Be7 1-0\n";

#[test]
fn six_plies_played_while_nobody_listened_come_in_their_order() {
    for (game, from) in [(GAME, 8), (GAME, 5), (GAME, 11), (SHUFFLE, 4), (SHUFFLE, 3)] {
        let (mut ear, plies) = Ear::new(game);
        ear.connect();
        ear.run_until(after(&plies, from));
        assert_eq!(ear.moves(), sans(&plies[..from]));
        ear.leave();
        ear.run_until(after(&plies, from + 6));
        ear.connect();
        ear.run_until(plies.last().unwrap().complete + Duration::from_secs(30));
        assert_eq!(ear.moves(), sans(&plies), "after {from} of {game}");
        assert_eq!(ear.asked, 1);
        let game = &ear.hall.state().table(1).unwrap().game;
        assert_eq!(game.revision(), 0, "nothing was shown that had to be taken back");
        assert!(game.link_up());
    }
}

#[test]
fn what_the_placement_tells_is_not_asked_for() {
    let (mut ear, plies) = Ear::new(GAME);
    ear.connect();
    ear.run_until(plies[8].touched.saturating_sub(Duration::from_millis(100)));
    ear.leave();
    ear.run_until(after(&plies, 9));
    ear.connect();
    ear.run_until(plies.last().unwrap().complete + Duration::from_secs(30));
    assert_eq!((ear.moves(), ear.asked), (sans(&plies).iter().map(|&s| s.to_owned()).collect(), 0));
}

#[test]
fn a_daemon_that_knows_nothing_learns_the_game_from_its_array() {
    let (mut ear, plies) = Ear::new(GAME);
    ear.connect();
    ear.run_until(after(&plies, 8));
    ear.forget();
    ear.run_until(after(&plies, 14));
    ear.connect();
    ear.run_until(plies.last().unwrap().complete + Duration::from_secs(30));
    assert_eq!(ear.moves(), sans(&plies));
    assert_eq!(ear.asked, 1);
}

#[test]
fn a_board_without_a_memory_delays_the_table_but_does_not_stop_it() {
    let (mut ear, plies) = Ear::new(GAME);
    ear.connect();
    ear.run_until(after(&plies, 8));
    ear.leave();
    ear.run_until(after(&plies, 14));
    // It is asked, and before it has told anything the cable is pulled again.
    ear.connect();
    ear.run_until(ear.now + Duration::from_secs(4));
    assert_eq!(ear.asked, 1);
    ear.leave();
    ear.run_until(ear.now + Duration::from_secs(1));
    assert!(!ear.hall.state().table(1).unwrap().game.link_up());
    ear.connect();
    ear.run_until(plies.last().unwrap().complete + Duration::from_mins(1));
    assert_eq!((ear.moves().len(), ear.asked), (plies.len(), 2));
}
