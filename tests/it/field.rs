//! What went wrong for real users, replayed: each file tells the events and the moves that must be
//! in the record at the end. `tests/scenarios/README.md` explains the notation.

use std::{fs, path::Path};

use boardcast::game::{
    ClockReading, Observation, Placement, Settings, SideReading, Start, StartRule, Timestamp,
    Tracker,
};
use shakmaty::{Board, CastlingMode, Color, Piece, Position, Square, fen::Fen, san::San};

/// These need what is not built yet: the arbiter's commands, moves that count although they are
/// illegal, take-backs of completed moves, kings without colours.
const LATER: &[&str] = &["F49", "F53", "F56", "F77", "F82"];

#[test]
fn reports_from_the_field() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/field");
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), path))
        .collect();
    names.sort();
    let mut failed = Vec::new();
    for (name, path) in names.iter().filter(|(name, _)| !LATER.contains(&name.as_str())) {
        let report = Report::parse(&fs::read_to_string(path).unwrap());
        let read = report.play();
        if !report.accepted.contains(&read) {
            failed.push(format!("{name}: read {read:?}, accepted {:?}", report.accepted));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), names.len(), failed.join("\n"));
}

struct Report {
    start: Start,
    played: Vec<String>,
    events: Vec<(u64, Vec<String>)>,
    /// The lines any of which is right, in SAN.
    accepted: Vec<Vec<String>>,
    /// How many of the moves played before are taken back.
    taken_back: usize,
    /// The start is not the array that the table is set up for.
    wrong_array: bool,
}

impl Report {
    fn parse(text: &str) -> Self {
        let chess960 = text.lines().any(|line| line == "variant 960");
        let mut report = Self {
            start: Start::classical(),
            played: Vec::new(),
            events: Vec::new(),
            accepted: Vec::new(),
            taken_back: 0,
            wrong_array: text.contains("start_position_mismatch"),
        };
        for line in text.lines() {
            if let Some(fen) = line.strip_prefix("start ") {
                let setup = fen.parse::<Fen>().unwrap().into_setup();
                let mode = CastlingMode::from_chess960(chess960);
                report.start = Start::from_setup(setup, mode).unwrap();
            } else if let Some(moves) = line.strip_prefix("played ") {
                report.played = words(moves);
            } else if let Some(moves) = line.strip_prefix("=> moves ") {
                report.accepted = moves.split('|').map(words).collect();
            } else if let Some(event) = line.strip_prefix('+') {
                let mut words = words(event);
                let seconds: f64 = words.remove(0).parse().unwrap();
                report.events.push(((seconds * 1000.0).round() as u64, words));
            }
        }
        for line in &mut report.accepted {
            report.taken_back = line.iter().filter(|word| *word == "takeback").count();
            line.retain(|word| word != "none" && word != "takeback");
            for word in line.iter_mut().filter(|word| word.starts_with("illegal:")) {
                "irregular".clone_into(word);
            }
        }
        report
    }

    /// Plays the events and returns the moves that came to those already played.
    fn play(&self) -> Vec<String> {
        let start = StartRule::Position(Box::new(self.start.clone()));
        let start = if self.wrong_array { StartRule::Classical } else { start };
        let settings = Settings { start, ..Settings::default() };
        let mut table = Table {
            tracker: Tracker::new(settings),
            board: self.start.placement(),
            in_hand: None,
            running: self.start.position().turn(),
            stopped: self.begins_stopped(),
            times_ms: [5_400_000; 2],
        };
        let clocked = !self.untimed();
        table.observe(0, &Observation::Link { up: true });
        table.observe(0, &Observation::Dump(table.board.clone()));
        if clocked {
            table.clock(3_000);
        }
        let mut position = self.start.position().clone();
        let mut at = 3_000;
        for san in &self.played {
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            let after = position.clone().play(m).unwrap();
            for square in table.board.difference(after.board()) {
                at += 300;
                table.put(at, square, after.board().piece_at(square));
            }
            at += 700;
            if clocked {
                table.running = after.turn();
                table.clock(at);
            }
            at += 2_000;
            table.tracker.handle_timeout(Timestamp::from_millis(at));
            position = after;
        }
        let zero = at + 10_000;
        let mut last = zero;
        for (ms, event) in &self.events {
            last = zero + ms;
            let event: Vec<&str> = event.iter().map(String::as_str).collect();
            table.happen(last, &event);
        }
        table.tracker.handle_timeout(Timestamp::from_millis(last + 10_000));
        let state = table.tracker.state();
        let kept = self.played.len() - self.taken_back;
        let san = |i| state.san(i).unwrap_or_else(|| "irregular".to_owned());
        (kept..state.plies().len()).map(san).collect()
    }

    /// Whether the clock stands at the beginning: it does if it does when it is first read.
    fn begins_stopped(&self) -> bool {
        let clock = self.events.iter().find(|(_, words)| words[0] == "clock");
        self.played.is_empty() && clock.is_some_and(|(_, words)| words.ends_with(&["none".into()]))
    }

    /// Whether the report has no clock in it at all.
    fn untimed(&self) -> bool {
        !self.events.iter().any(|(_, words)| words[0] == "clock")
    }
}

struct Table {
    tracker: Tracker,
    board: Placement,
    /// What was lifted last: the man that a later `?` puts down.
    in_hand: Option<Piece>,
    running: Color,
    stopped: bool,
    times_ms: [u32; 2],
}

impl Table {
    fn happen(&mut self, at: u64, event: &[&str]) {
        match event {
            ["(missed)", what @ ..] => {
                if let [_, square, piece] = what {
                    let piece = if what[0] == "place" { piece.chars().next() } else { None };
                    self.board.set(square.parse().unwrap(), piece.and_then(Piece::from_char));
                }
            }
            ["lift", square, _] => {
                let square = square.parse().unwrap();
                self.in_hand = self.board.piece_at(square);
                self.put(at, square, None);
            }
            ["place", square, piece] => {
                let named = piece.chars().next().and_then(Piece::from_char);
                let piece = if *piece == "?" { self.in_hand } else { named };
                self.put(at, square.parse().unwrap(), piece);
            }
            ["dump", placement] => {
                let board = Board::from_ascii_board_fen(placement.as_bytes()).unwrap();
                self.board = Placement::new(board);
                self.observe(at, &Observation::Dump(self.board.clone()));
            }
            ["clock", "press", side] => {
                let side = Color::from_white(*side == "white");
                (self.running, self.stopped) = (!side, false);
                self.clock(at);
            }
            ["clock", "stop"] => {
                self.stopped = true;
                self.clock(at);
            }
            ["clock", "link", "down"] => self.observe(at, &Observation::ClockAbsent),
            ["clock", "link", "up"] => {}
            ["clock", "W", white, "B", black, "run", side, ..] => {
                self.times_ms = [millis(white), millis(black)];
                self.stopped = *side == "none";
                match *side {
                    "W" => self.running = Color::White,
                    "B" => self.running = Color::Black,
                    _ => {}
                }
                self.clock(at);
            }
            ["link", state] => self.observe(at, &Observation::Link { up: *state == "up" }),
            _ => panic!("{event:?} is not understood"),
        }
    }

    fn put(&mut self, at: u64, square: Square, piece: Option<Piece>) {
        self.board.set(square, piece);
        self.observe(at, &Observation::Change { square, piece });
    }

    fn clock(&mut self, at: u64) {
        let side = |ms| SideReading { ms, flag: false };
        let reading = ClockReading {
            left: side(self.times_ms[0]),
            right: side(self.times_ms[1]),
            running: !self.stopped,
            left_high: self.running.is_white(),
        };
        self.observe(at, &Observation::Clock(reading));
    }

    fn observe(&mut self, at: u64, observation: &Observation) {
        self.tracker.handle(Timestamp::from_millis(at), observation);
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn millis(time: &str) -> u32 {
    let parts = time.split(':').map(|part| part.parse::<u32>().unwrap());
    parts.fold(0, |total, part| total * 60 + part) * 1000
}
