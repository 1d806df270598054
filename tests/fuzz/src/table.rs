//! One table's tracker under anything that boards, clocks and people can do.

use boardcast::game::{
    ClockReading, Event, Observation, Placement, Seat, Settings, SideReading, Start, StartRule,
    State, Timestamp, Tracker,
};
use shakmaty::{CastlingMode, Color, Piece, Position, Role, Square, fen::Fen};

use super::{source::Source, texts::reads_back};

/// A tracker never panics or spins, its mainline is legal, its events tell all that it knows, and
/// the game that results can be written down.
pub fn tracker_operations(bytes: &[u8]) {
    let mut source = Source::new(bytes);
    let settings = settings(&mut source);
    let start = match &settings.start {
        StartRule::Position(start) => (**start).clone(),
        StartRule::Classical | StartRule::AnyChess960 => Start::classical(),
    };
    let mut table = Table {
        tracker: Tracker::new(settings),
        now: Timestamp::ZERO,
        start,
        named: Placement::empty(),
        clock: ClockReading {
            left: SideReading { ms: 5_400_000, flag: false },
            right: SideReading { ms: 5_400_000, flag: false },
            running: false,
            left_high: true,
        },
        told: State::default(),
    };
    while !source.is_empty() {
        table.step(&mut source);
        table.take_events();
    }
    table.wait(60_000);
    table.take_events();
    assert_eq!(table.told, *table.tracker.state(), "the events tell all");
    check_mainline(&table.told, 0);
    reads_back(&table.told);
}

struct Table {
    tracker: Tracker,
    now: Timestamp,
    start: Start,
    /// What really stands on the board, in its own frame.
    named: Placement,
    clock: ClockReading,
    /// What the events told.
    told: State,
}

impl Table {
    fn step(&mut self, source: &mut Source<'_>) {
        match source.below(14) {
            0 | 1 => self.play(source),
            2 => self.wait(u64::from(source.byte()) * 16),
            3 => self.wait(source.number().into()),
            4 => self.press(),
            5 => {
                self.clock.running = !self.clock.running;
                self.read_clock();
            }
            6 => {
                let (square, piece) = (square(source), piece(source.byte()));
                self.put(square, piece);
            }
            // A report that is lost.
            7 => {
                self.named.set(square(source), piece(source.byte()));
            }
            8 => self.dump(),
            9 => self.set_up(source.byte()),
            10 => {
                let mut side =
                    || SideReading { ms: u32::from(source.number()) * 1000, flag: source.flag() };
                (self.clock.left, self.clock.right) = (side(), side());
                self.read_clock();
            }
            11 => match source.below(4) {
                0 => self.observe(&Observation::ClockAbsent),
                1 => self.observe(&Observation::Link { up: false }),
                2 => self.observe(&Observation::Link { up: true }),
                _ => self.stand_kings(source.byte()),
            },
            12 => {
                if let Some(deadline) = self.tracker.deadline() {
                    self.now = self.now.max(deadline);
                    self.timeout();
                }
            }
            // Time does not go back.
            _ => {
                let ms = self.now.as_millis().saturating_sub(source.number().into());
                self.tracker.handle_timeout(Timestamp::from_millis(ms));
            }
        }
    }

    /// One of the legal moves, made man by man in one order or the other.
    fn play(&mut self, source: &mut Source<'_>) {
        let position = self.tracker.state().tip();
        let moves = position.legal_moves();
        let Some(m) = moves.get(usize::from(source.byte()) % moves.len().max(1)) else { return };
        let after = position.clone().play(*m).expect("a legal move");
        let after = Placement::new(after.board().clone());
        let orientation = self.tracker.state().orientation();
        let way = source.byte();
        let mut squares: Vec<_> = after
            .difference(position.board())
            .into_iter()
            .map(|square| (square, after.piece_at(square)))
            .collect();
        squares.sort_by_key(|(_, piece)| piece.is_some());
        if way & 1 == 1 {
            squares.reverse();
        }
        for (square, piece) in squares {
            self.put(orientation.square(square), piece);
            self.wait(u64::from(way >> 1) * 8);
        }
        if way & 2 == 2 {
            self.press();
        }
    }

    fn press(&mut self) {
        self.clock.left_high = !self.clock.left_high;
        self.read_clock();
    }

    fn read_clock(&mut self) {
        self.observe(&Observation::Clock(self.clock));
    }

    fn put(&mut self, square: Square, piece: Option<Piece>) {
        self.named.set(square, piece);
        self.observe(&Observation::Change { square, piece });
    }

    fn dump(&mut self) {
        self.observe(&Observation::Dump(self.named.clone()));
    }

    fn set_up(&mut self, choice: u8) {
        self.named = match choice % 4 {
            0 => self.start.placement(),
            1 => self.start.placement().turned(),
            2 => Placement::empty(),
            _ => self.tracker.state().start().placement(),
        };
        self.dump();
        if choice & 4 == 4 {
            self.wait(3_000);
        }
    }

    /// The kings in the centre, as players tell a result.
    fn stand_kings(&mut self, choice: u8) {
        let (white, black) = match choice % 3 {
            0 => (Square::E4, Square::D5),
            1 => (Square::E4, Square::E5),
            _ => (Square::D4, Square::D5),
        };
        let kings: Vec<_> = self.named.board().kings().into_iter().collect();
        for square in kings {
            self.put(square, None);
        }
        self.put(white, Some(Piece { color: Color::White, role: Role::King }));
        self.put(black, Some(Piece { color: Color::Black, role: Role::King }));
    }

    fn observe(&mut self, observation: &Observation) {
        self.tracker.handle(self.now, observation);
        let deadline = self.tracker.deadline();
        assert!(deadline.is_none_or(|deadline| deadline >= self.now), "{deadline:?}");
    }

    fn wait(&mut self, ms: u64) {
        self.now = self.now.after(ms);
        self.timeout();
    }

    fn timeout(&mut self) {
        self.tracker.handle_timeout(self.now);
        let deadline = self.tracker.deadline();
        assert!(deadline.is_none_or(|deadline| deadline > self.now), "{deadline:?}");
    }

    fn take_events(&mut self) {
        while let Some(event) = self.tracker.poll_event() {
            let known = self.told.plies().len();
            self.told.apply(&event);
            match &event {
                Event::Plies { from, plies, .. } => {
                    assert!(*from <= known, "plies from {from} on, and there are {known}");
                    assert_eq!(&self.told.plies()[*from..], plies, "every ply is legal");
                    check_mainline(&self.told, *from);
                }
                Event::GameStarted { .. } => assert!(self.told.plies().is_empty()),
                _ => {}
            }
        }
        assert_eq!(self.told.plies().len(), self.tracker.state().plies().len());
    }
}

fn check_mainline(state: &State, from: usize) {
    let mut position = state.position(from).expect("a position before each ply").clone();
    for (n, ply) in state.plies().iter().enumerate().skip(from) {
        assert_eq!(state.position(n), Some(&position));
        position = ply.step.after(&position).unwrap_or_else(|| panic!("ply {n}: {:?}", ply.step));
    }
    assert_eq!(state.tip(), &position);
}

fn settings(source: &mut Source<'_>) -> Settings {
    let choice = source.byte();
    let defaults = Settings::default();
    Settings {
        start: match choice & 3 {
            0 | 1 => StartRule::Classical,
            2 => StartRule::AnyChess960,
            _ => StartRule::Position(Box::new(position(source.byte()))),
        },
        seat: if choice & 4 == 0 { Seat::ConnectorSide } else { Seat::OppositeSide },
        settle_ms: if choice & 8 == 0 { defaults.settle_ms } else { 1 },
        press_grace_ms: if choice & 16 == 0 { defaults.press_grace_ms } else { 1 },
        setup_stable_ms: if choice & 32 == 0 { defaults.setup_stable_ms } else { 1 },
        // Longer lines take most of the time, and most searches need none.
        gap_plies: if choice & 64 == 0 { 2 } else { defaults.gap_plies },
        ..defaults
    }
}

/// Positions in which castling, promotion, en passant, mate and dead positions are near.
fn position(choice: u8) -> Start {
    let (fen, mode) = POSITIONS[usize::from(choice) % POSITIONS.len()];
    let fen: Fen = fen.parse().expect("a FEN");
    Start::from_setup(fen.into_setup(), mode).expect("a legal position")
}

fn square(source: &mut Source<'_>) -> Square {
    Square::new(u32::from(source.byte()) % 64)
}

fn piece(choice: u8) -> Option<Piece> {
    let choice = usize::from(choice) % 13;
    let role = Role::ALL.get(choice % 6).copied().expect("six roles");
    match choice {
        0..6 => Some(Piece { color: Color::White, role }),
        6..12 => Some(Piece { color: Color::Black, role }),
        _ => None,
    }
}

const POSITIONS: [(&str, CastlingMode); 6] = [
    ("r3k2r/1P4p1/8/3pP3/4p3/8/1p3P2/R3K2R w KQkq d6 0 30", CastlingMode::Standard),
    ("r1k1r3/8/8/8/8/8/8/1RK1R3 w EBea - 0 1", CastlingMode::Chess960),
    ("8/4P1k1/8/8/8/8/8/4K3 b - - 0 60", CastlingMode::Standard),
    ("8/8/8/3k4/8/3KP3/8/8 w - - 99 90", CastlingMode::Standard),
    ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", CastlingMode::Standard),
    ("4k3/8/4K3/8/7p/6P1/8/2B5 w - - 0 1", CastlingMode::Standard),
];
