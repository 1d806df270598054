//! Playing a scenario against the tracker.

use boardcast::game::{
    Alert, ClockReading, Event, Observation, Orientation, Placement, Settings, SideReading, Start,
    StartRule, State, Timestamp, Tracker, alert::Status,
};
use shakmaty::{Board, CastlingMode, Color, Piece, Position, Square, fen::Fen};

use super::{
    auto::expand_auto,
    scenario::{self, Output, Scenario},
};

/// Plays `scenario` and returns what the tracker said about moves, states and results.
pub(super) fn play(scenario: &Scenario) -> Vec<Output> {
    let mut table = Table::new(scenario);
    let mut outputs = Vec::new();
    table.prelude(scenario);
    let mut events = scenario.events.clone();
    expand_auto(&mut events, scenario, &mut outputs);
    events.sort_by_key(|event| event.ms);
    table.said.clear();
    let mut end = 0;
    for event in &events {
        end = end.max(event.ms);
        table.happen(event);
    }
    table.run_to(end + AFTERWARDS_MS);
    // The completions of ordinary moves are not written in the scenarios: they must be there.
    for wanted in &outputs {
        let i = table.said.iter().position(|output: &Output| output.agrees(wanted));
        match i {
            Some(i) => {
                table.said.remove(i);
            }
            None => {
                table.said.push(Output { ms: wanted.ms, words: format!("not {}", wanted.words) });
            }
        }
    }
    table.said
}

struct Table {
    tracker: Tracker,
    /// What was published so far, to tell what a change of the mainline means.
    shown: State,
    board: Placement,
    running: Option<Color>,
    lever: Color,
    clock_up: bool,
    board_up: bool,
    times_ms: [u32; 2],
    said: Vec<Output>,
}

impl Table {
    fn new(scenario: &Scenario) -> Self {
        let chess960 = scenario.option("chess960").is_some();
        let start = scenario.option("fen").map_or_else(Start::classical, |fen| {
            let setup = fen.parse::<Fen>().expect("a FEN").into_setup();
            Start::from_setup(setup, CastlingMode::from_chess960(chess960)).expect("a position")
        });
        let times = scenario.option("clock").unwrap_or("5400,5400");
        let (white, black) = times.split_once(',').expect("two times");
        let ms = |s: &str| s.parse::<f64>().expect("seconds") as u32 * 1000;
        let turn = start.position().turn();
        let settings =
            Settings { start: StartRule::Position(Box::new(start)), ..Settings::default() };
        Self {
            tracker: Tracker::new(settings),
            shown: State::default(),
            board: Placement::empty(),
            running: None,
            lever: turn,
            clock_up: true,
            board_up: false,
            times_ms: [ms(white), ms(black)],
            said: Vec::new(),
        }
    }

    /// Brings the table into the state in which the scenario begins.
    fn prelude(&mut self, scenario: &Scenario) {
        let start = scenario
            .option("fen")
            .map_or_else(Board::new, |fen| fen.parse::<Fen>().expect("a FEN").into_setup().board);
        self.observe(PRELUDE_MS - 9_000, &Observation::Link { up: true });
        self.observe(PRELUDE_MS - 9_000, &Observation::Dump(Placement::empty()));
        self.clock(PRELUDE_MS - 8_000);
        let state = scenario.option("state").unwrap_or("running");
        let set_up_at = if state == "waiting_setup" { PRELUDE_MS } else { PRELUDE_MS - 5_000 };
        let board = scenario
            .option("board")
            .map_or(start, |fen| Board::from_ascii_board_fen(fen.as_bytes()).expect("a placement"));
        self.board = Placement::new(board);
        self.observe(set_up_at, &Observation::Dump(self.board.clone()));
        if state == "running" {
            self.running = Some(self.lever);
            self.clock(PRELUDE_MS - 1_000);
        }
        self.tracker.handle_timeout(Timestamp::from_millis(PRELUDE_MS));
        self.listen(PRELUDE_MS);
    }

    fn happen(&mut self, event: &scenario::Event) {
        let at = PRELUDE_MS + event.ms;
        let args: Vec<&str> = event.args.iter().map(String::as_str).collect();
        match (event.verb.as_str(), args.as_slice()) {
            ("lift", [square, _]) => self.put(at, square, None),
            ("place", [square, piece]) | ("replace", [square, _, piece]) => {
                self.put(at, square, Some(piece));
            }
            ("board", [placement]) => {
                let board = Board::from_ascii_board_fen(placement.as_bytes()).expect("placement");
                self.board = Placement::new(board);
                if !self.board_up {
                    self.board_up = true;
                    self.observe(at, &Observation::Link { up: true });
                }
                self.observe(at, &Observation::Dump(self.board.clone()));
            }
            ("press", [side]) => {
                let side = side_of(side);
                self.running = Some(!side);
                self.lever = !side;
                self.clock(at);
            }
            ("start", [side]) => {
                let side = side_of(side);
                if self.running == Some(side) && event.ms > 0 {
                    self.running = None;
                    self.clock(at); // A clock that is started was standing.
                }
                self.running = Some(side);
                self.lever = side;
                self.clock(at);
            }
            ("stop", _) => {
                self.running = None;
                self.clock(at);
            }
            ("lost", ["clock"]) => {
                self.clock_up = false;
                self.observe(at, &Observation::ClockAbsent);
            }
            ("back", ["clock"]) => {
                self.clock_up = true;
                self.clock(at);
            }
            ("lost" | "back", ["board"]) => {
                self.board_up = event.verb == "back";
                self.observe(at, &Observation::Link { up: self.board_up });
            }
            _ => self.run_to(event.ms),
        }
    }

    fn put(&mut self, at: u64, square: &str, piece: Option<&str>) {
        let square: Square = square.parse().expect("a square");
        let piece = piece.and_then(|letter| Piece::from_char(letter.chars().next()?));
        self.board.set(square, piece);
        self.observe(at, &Observation::Change { square, piece });
    }

    fn clock(&mut self, at: u64) {
        if !self.clock_up {
            return;
        }
        let side = |ms| SideReading { ms, flag: false };
        let [white, black] = self.times_ms;
        let reading = ClockReading {
            left: side(white),
            right: side(black),
            running: self.running.is_some(),
            left_high: self.running.unwrap_or(self.lever) == Color::White,
        };
        self.observe(at, &Observation::Clock(reading));
    }

    fn run_to(&mut self, ms: u64) {
        self.wake_until(PRELUDE_MS + ms);
    }

    fn wake_until(&mut self, at: u64) {
        while let Some(due) = self.tracker.deadline().filter(|due| due.as_millis() <= at) {
            self.tracker.handle_timeout(due);
            self.listen(due.as_millis());
        }
    }

    fn observe(&mut self, at: u64, observation: &Observation) {
        self.wake_until(at);
        self.tracker.handle(Timestamp::from_millis(at), observation);
        self.listen(at);
    }

    fn listen(&mut self, at: u64) {
        let ms = at.saturating_sub(PRELUDE_MS);
        while let Some(event) = self.tracker.poll_event() {
            let before = self.shown.clone();
            self.shown.apply(&event);
            let mut say = |words: String| self.said.push(Output { ms, words });
            match &event {
                Event::Plies { .. } => changes(&before, &self.shown, &mut say),
                Event::GameEnded { result, reason } => {
                    say(format!("end {} result={}", reason.as_str(), result.as_str()));
                }
                Event::Phase(phase) => say(format!("state {}", phase.as_str())),
                Event::Alert { status, alert } => say(told(*status, alert)),
                Event::GameStarted { orientation, .. } => {
                    assert_eq!(*orientation, Orientation::Normal);
                }
                _ => {}
            }
        }
    }
}

fn side_of(name: &str) -> Color {
    match name {
        "white" | "left" => Color::White,
        _ => Color::Black,
    }
}

/// An alert in the words of the scenarios.
fn told(status: Status, alert: &Alert) -> String {
    let code = alert.code().as_str();
    if status == Status::Cleared {
        return format!("clear {code}");
    }
    match alert {
        Alert::MoveOrderUncertain { orders, .. } => format!("alert {code} orders={}", orders.len()),
        Alert::GapUnresolved { wrong } | Alert::StartPositionWrong { wrong } => {
            let mut squares: Vec<String> = wrong.into_iter().map(|s| s.to_string()).collect();
            squares.sort();
            format!("alert {code} wrong=[{}]", squares.join(","))
        }
        Alert::Resynchronised { plies } => format!("alert {code} plies={plies}"),
    }
}

/// What a change of the mainline means in the words of the scenarios.
fn changes(before: &State, after: &State, say: &mut impl FnMut(String)) {
    let pairs = before.plies().iter().zip(after.plies());
    let same = pairs.take_while(|(old, new)| old.step == new.step).count();
    for i in same..before.plies().len() {
        say(format!("retract {}", numbered(before, i)));
    }
    for i in 0..after.plies().len() {
        let done = after.plies()[i].completed;
        let was = (i < same).then(|| before.plies()[i].completed);
        match (was, done) {
            (None, true) if after.san(i).is_none() => {
                say(format!("irregular {}", numbered(after, i)));
            }
            (None, false) => say(format!("made {}", numbered(after, i))),
            (None | Some(false), true) => say(format!("completed {}", numbered(after, i))),
            _ => {}
        }
    }
}

fn numbered(state: &State, i: usize) -> String {
    let position = state.position(i).expect("a ply's position");
    let dots = position.turn().fold_wb(".", "...");
    let san = state.san(i).unwrap_or_else(|| "(irregular)".to_owned());
    format!("{}{dots} {san}", position.fullmoves())
}

/// The scenario's zero on the tracker's time line.
const PRELUDE_MS: u64 = 100_000;

/// How long the timers run on after the last event.
const AFTERWARDS_MS: u64 = 2_000;
