use proptest::prelude::*;
use shakmaty::{Board, Chess, Piece, Position, Role};

use super::*;
use crate::game::{SideReading, StartRule};

/// What can happen, in numbers that shrink well.
#[derive(Clone, Debug)]
enum Act {
    /// A legal move, chosen by number, lifted and placed without a pause.
    Move(usize),
    /// A square is reported to hold something.
    Change(u32, usize),
    /// The array, possibly turned, or what the tracker believes to stand is dumped.
    Dump(u8),
    Press,
    Stop,
    ClockGone,
    Link(bool),
    Wait(u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => any::<usize>().prop_map(Act::Move),
        4 => (0u32..64, 0usize..13).prop_map(|(square, code)| Act::Change(square, code)),
        1 => (0u8..4).prop_map(Act::Dump),
        6 => Just(Act::Press),
        1 => Just(Act::Stop),
        1 => Just(Act::ClockGone),
        1 => any::<bool>().prop_map(Act::Link),
        6 => (0u64..3_000).prop_map(Act::Wait),
    ];
    proptest::collection::vec(act, 0..120)
}

/// A table on which acts are carried out.
struct Table {
    tracker: Tracker,
    folded: State,
    board: Placement,
    position: Chess,
    white_to_move: bool,
    now: u64,
}

impl Table {
    fn new() -> Self {
        let mut table = Self {
            tracker: Tracker::new(Settings::default()),
            folded: State::default(),
            board: Placement::new(Board::new()),
            position: Chess::default(),
            white_to_move: true,
            now: 0,
        };
        table.observe(&Observation::Link { up: true });
        table.observe(&Observation::Dump(table.board.clone()));
        table.clock(false);
        table.now += 3_000;
        table.clock(true);
        table
    }

    fn observe(&mut self, observation: &Observation) {
        self.tracker.handle(Timestamp::from_millis(self.now), observation);
        self.check();
    }

    /// The events rebuild the state, and the mainline is a legal game.
    fn check(&mut self) {
        while let Some(event) = self.tracker.poll_event() {
            self.folded.apply(&event);
        }
        let state = self.tracker.state();
        assert_eq!(&self.folded, state);
        let mut position = state.start().position().clone();
        for (i, ply) in state.plies().iter().enumerate() {
            assert_eq!(state.position(i), Some(&position));
            position = ply.step.after(&position).unwrap();
        }
        assert_eq!(state.tip(), &position);
        let due = self.tracker.deadline();
        assert!(due.is_none_or(|due| due > Timestamp::from_millis(self.now)), "{due:?}");
    }

    fn put(&mut self, square: Square, piece: Option<Piece>) {
        self.board.set(square, piece);
        self.observe(&Observation::Change { square, piece });
    }

    fn clock(&mut self, running: bool) {
        let side = SideReading { ms: 60_000, flag: false };
        let left_high = self.white_to_move;
        let reading = ClockReading { left: side, right: side, running, left_high };
        self.observe(&Observation::Clock(reading));
    }

    fn act(&mut self, act: &Act) {
        self.now += 40;
        match act {
            Act::Move(choice) => {
                let moves = self.position.legal_moves();
                if moves.is_empty() {
                    return;
                }
                let m = moves[choice % moves.len()];
                let after = self.position.clone().play(m).unwrap();
                for square in self.board.difference(after.board()) {
                    self.now += 30;
                    self.put(square, after.board().piece_at(square));
                }
                self.position = after;
            }
            Act::Change(square, code) => {
                let piece = (*code < 12).then(|| Piece {
                    color: Color::from_white(code % 2 == 0),
                    role: Role::ALL[code / 2],
                });
                self.put(Square::new(*square), piece);
            }
            Act::Dump(kind) => {
                self.board = match kind {
                    0 => Placement::new(Board::new()),
                    1 => Placement::new(Board::new()).turned(),
                    2 => Placement::new(self.position.board().clone()),
                    _ => self.board.clone(),
                };
                self.observe(&Observation::Dump(self.board.clone()));
            }
            Act::Press => {
                self.white_to_move = !self.white_to_move;
                self.clock(true);
            }
            Act::Stop => self.clock(false),
            Act::ClockGone => self.observe(&Observation::ClockAbsent),
            Act::Link(up) => self.observe(&Observation::Link { up: *up }),
            Act::Wait(ms) => {
                self.now += ms;
                self.tracker.handle_timeout(Timestamp::from_millis(self.now));
                self.check();
            }
        }
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_events_rebuild_the_state_and_the_mainline_is_legal(acts in acts()) {
        let mut table = Table::new();
        for act in &acts {
            table.act(act);
        }
    }

    #[test]
    fn moves_with_presses_are_read_exactly(choices in proptest::collection::vec(any::<usize>(), 1..60)) {
        let mut table = Table::new();
        for choice in &choices {
            table.act(&Act::Move(*choice));
            table.act(&Act::Wait(400));
            table.act(&Act::Press);
            table.act(&Act::Wait(600));
        }
        table.act(&Act::Wait(2_000));
        prop_assert_eq!(table.tracker.state().tip().board(), table.position.board());
    }

    #[test]
    fn a_stream_cut_anywhere_goes_on_from_a_dump(
        choices in proptest::collection::vec(any::<usize>(), 4..40),
        cut in 0usize..40,
    ) {
        let mut table = Table::new();
        for (i, choice) in choices.iter().enumerate() {
            table.act(&Act::Move(*choice));
            table.act(&Act::Wait(400));
            table.act(&Act::Press);
            table.act(&Act::Wait(600));
            if i == cut {
                table.act(&Act::Link(false));
                table.act(&Act::Wait(5_000));
                table.act(&Act::Link(true));
                table.act(&Act::Dump(3));
                table.act(&Act::Wait(2_000));
            }
        }
        prop_assert_eq!(table.tracker.state().tip().board(), table.position.board());
    }
}

#[test]
fn a_board_that_is_turned_is_read_turned() {
    let mut tracker = Tracker::new(Settings { start: StartRule::Classical, ..Settings::default() });
    let at = Timestamp::from_millis;
    tracker.handle(at(0), &Observation::Dump(Placement::new(Board::new()).turned()));
    let piece = Some(Piece { color: Color::White, role: Role::Pawn });
    // The square that this board calls d7 is White's e2.
    for (ms, square, piece) in [(3_000, Square::D7, None), (3_400, Square::D5, piece)] {
        tracker.handle(at(ms), &Observation::Change { square, piece });
    }
    tracker.handle_timeout(at(5_000));
    let uci: Vec<_> = tracker
        .state()
        .plies()
        .iter()
        .map(|ply| (ply.legal().unwrap().from(), ply.legal().unwrap().to()))
        .collect();
    assert_eq!(uci, [(Some(Square::E2), Square::E4)]);
    assert_eq!(tracker.state().orientation(), Orientation::Turned);
}

#[test]
fn a_gap_that_one_line_explains_is_not_lost_to_players_who_go_on_at_once() {
    let mut table = Table::new();
    let carry = |table: &mut Table, moves: &[(Square, Square)], seen: bool| {
        for &(from, to) in moves {
            table.now += 300;
            let piece = table.board.piece_at(from);
            if seen {
                table.put(from, None);
                table.now += 200;
                table.put(to, piece);
                table.now += 100;
            } else {
                table.board.set(from, None);
                table.board.set(to, piece);
            }
            table.white_to_move = !table.white_to_move;
            if seen {
                table.clock(true);
            }
        }
    };
    carry(&mut table, &[(Square::E2, Square::E4), (Square::E7, Square::E5)], true);
    table.act(&Act::Wait(1_000));
    table.observe(&Observation::Link { up: false });
    // Each move of this line needs the one before it.
    carry(
        &mut table,
        &[
            (Square::D2, Square::D4),
            (Square::E5, Square::D4),
            (Square::D1, Square::D4),
            (Square::B8, Square::C6),
        ],
        false,
    );
    table.act(&Act::Wait(4_000));
    table.observe(&Observation::Link { up: true });
    table.observe(&Observation::Dump(table.board.clone()));
    let at_return = table.tracker.state().plies().len();
    table.clock(true);
    carry(&mut table, &[(Square::G1, Square::F3), (Square::G8, Square::F6)], true);
    table.act(&Act::Wait(2_000));
    let state = table.tracker.state();
    assert_eq!(at_return, 6, "all four at once");
    assert_eq!((state.plies().len(), state.tip().board()), (8, table.board.board()));
    // What was pressed while nobody saw it has no time.
    assert!(
        state.plies()[2..6].iter().all(|ply| ply.clock_ms.is_none() && ply.pressed_at.is_none())
    );
}

#[test]
fn a_man_in_the_air_when_the_board_goes_away_is_no_reason_to_think_up_moves() {
    let mut table = Table::new();
    for (from, to) in [
        (Square::E2, Square::E4),
        (Square::G8, Square::F6),
        (Square::B1, Square::C3),
        (Square::F6, Square::D5),
    ] {
        let piece = table.board.piece_at(from);
        table.put(from, None);
        table.put(to, piece);
        table.white_to_move = !table.white_to_move;
        table.clock(true);
        table.act(&Act::Wait(2_000));
    }
    // The victim is lifted first. Four plies could lead to what stands then: Nxd5 Nc6, Nc3 Nb8.
    table.put(Square::D5, None);
    table.observe(&Observation::Link { up: false });
    table.act(&Act::Wait(5_000));
    assert_eq!(table.tracker.state().plies().len(), 4);
    let pawn = table.board.set(Square::E4, None);
    table.board.set(Square::D5, pawn);
    table.observe(&Observation::Link { up: true });
    table.act(&Act::Wait(100));
    table.observe(&Observation::Dump(table.board.clone()));
    table.act(&Act::Wait(2_000));
    let state = table.tracker.state();
    assert_eq!((state.plies().len(), state.tip().board()), (5, table.board.board()));
    assert_eq!(state.revision(), 0);
}
