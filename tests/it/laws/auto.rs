//! Ordinary moves of a scenario as what hands and clock do, and where its game stands when they begin.

use boardcast::game::{Placement, explain, ply::after_irregular};
use shakmaty::{
    Board, CastlingMode, Chess, Move, Piece, Position, Role, Square,
    fen::Fen,
    san::{San, SanPlus},
};

use super::scenario::{Event, Output, Scenario};

/// Turns `auto` into lifts, places and presses, and the completions they must give.
pub(super) fn expand_auto(events: &mut Vec<Event>, scenario: &Scenario, wanted: &mut Vec<Output>) {
    let mut game = Game::new(scenario);
    let mut expanded = Vec::new();
    for event in std::mem::take(events) {
        game.told_until(event.ms, scenario);
        if event.verb != "auto" {
            game.follow(&event, &expanded);
            expanded.push(event);
            continue;
        }
        let every = (event.args[0].parse::<f64>().expect("seconds") * 1000.0) as u64;
        for (i, san) in event.args[1..].iter().enumerate() {
            let at = event.ms + every * i as u64;
            let Ok(m) = san.parse::<San>().expect("SAN").to_move(&game.position) else {
                // The scenario went on from somewhere this reader does not follow.
                break;
            };
            for (ms, verb, args) in hands(&game.position, m) {
                expanded.push(Event { ms: at + ms, verb: verb.into(), args });
            }
            let number = game.number();
            let san = SanPlus::from_move(game.position.clone(), m);
            wanted.push(Output { ms: at + 1000, words: format!("completed {number} {san}") });
            game.play(m);
        }
    }
    *events = expanded;
}

/// The game that a scenario's events play, as far as its reader knows.
struct Game {
    position: Chess,
    /// The positions before.
    before: Vec<Chess>,
    /// How many of the written outputs were heard.
    heard: usize,
}

impl Game {
    fn new(scenario: &Scenario) -> Self {
        let position = scenario.option("fen").map_or_else(Chess::default, |fen| {
            let mode = CastlingMode::from_chess960(scenario.option("chess960").is_some());
            fen.parse::<Fen>().expect("a FEN").into_position(mode).expect("a position")
        });
        Self { position, before: Vec::new(), heard: 0 }
    }

    fn play(&mut self, m: Move) {
        let after = self.position.clone().play(m).expect("a legal move");
        self.go_to(after);
    }

    fn go_to(&mut self, position: Chess) {
        self.before.push(std::mem::replace(&mut self.position, position));
    }

    /// `1.` or `1...`.
    fn number(&self) -> String {
        format!("{}{}", self.position.fullmoves(), self.position.turn().fold_wb(".", "..."))
    }

    /// Takes in what must have been said until `ms`: it may be more than the events show.
    fn told_until(&mut self, ms: u64, scenario: &Scenario) {
        while let Some(output) = scenario.outputs().get(self.heard).filter(|said| said.ms <= ms) {
            self.heard += 1;
            let words: Vec<&str> = output.words.split_whitespace().collect();
            match words.as_slice() {
                ["irregular", number, .., fen] if *number == self.number() => {
                    let fen = fen.strip_prefix("fen=").expect("a placement");
                    let after = after_irregular(&self.position, &placement(fen));
                    self.go_to(after.expect("a position from which a game can go on"));
                }
                ["made" | "completed", number, san, ..] if *number == self.number() => {
                    if let Ok(m) = san.parse::<San>().expect("SAN").to_move(&self.position) {
                        self.play(m);
                    }
                }
                _ => {}
            }
        }
    }

    /// Keeps up with what single events do to the position, as far as a legal move explains it.
    fn follow(&mut self, event: &Event, so_far: &[Event]) {
        match event.verb.as_str() {
            "board" => self.follow_board(&placement(&event.args[0])),
            "place" | "lift" => self.follow_square(event, so_far),
            "arbiter" if event.args[0] == "backto" => {
                let n: usize = event.args[1].parse().expect("a number of plies");
                self.position = self.before[n].clone();
                self.before.truncate(n);
            }
            _ => {}
        }
    }

    fn follow_board(&mut self, placement: &Placement) {
        if self.position.board() == placement.board() {
            return;
        }
        let stands = |position: &Chess| position.board() == placement.board();
        if let Some(n) = self.before.iter().rposition(stands) {
            self.position = self.before[n].clone();
            self.before.truncate(n);
            return;
        }
        if *placement.board() == Board::new() {
            self.go_to(Chess::default());
            return;
        }
        let lines = explain::shortest_lines(&self.position, placement, 4, 1);
        for m in lines.first().into_iter().flatten() {
            self.play(*m);
        }
    }

    fn follow_square(&mut self, event: &Event, so_far: &[Event]) {
        let mut board = self.position.board().clone();
        let turn_start =
            so_far.iter().rposition(|e| e.verb == "press" || e.verb == "mark").map_or(0, |i| i + 1);
        for event in so_far[turn_start..].iter().chain([event]) {
            let Ok(square) = event.args.first().map_or("", String::as_str).parse::<Square>() else {
                continue;
            };
            match event.verb.as_str() {
                "lift" => {
                    board.discard_piece_at(square);
                }
                "place" => {
                    if let Some(piece) = event.args[1].chars().next().and_then(Piece::from_char) {
                        board.set_piece_at(square, piece);
                    }
                }
                _ => {}
            }
        }
        let found =
            self.position.legal_moves().into_iter().find(|m| {
                self.position.clone().play(*m).is_ok_and(|after| *after.board() == board)
            });
        if let Some(m) = found {
            self.play(m);
        }
    }
}

/// What hands and clock do in a move, with the milliseconds since it begins.
fn hands(before: &Chess, m: Move) -> Vec<(u64, &'static str, Vec<String>)> {
    let turn = before.turn();
    let after = before.clone().play(m).expect("a legal move");
    let letter = |piece: Piece| piece.char().to_string();
    let lift = |square: Square| vec![square.to_string(), "?".into()];
    let mut acts: Vec<(u64, &'static str, Vec<String>)> = Vec::new();
    if let Some(side) = m.castling_side() {
        acts.push((0, "lift", lift(m.from().expect("a king's square"))));
        acts.push((200, "lift", lift(m.to())));
        for (ms, role, file) in
            [(300, Role::King, side.king_to_file()), (800, Role::Rook, side.rook_to_file())]
        {
            let to = Square::from_coords(file, m.to().rank());
            acts.push((ms, "place", vec![to.to_string(), letter(role.of(turn))]));
        }
    } else {
        let from = m.from().expect("a man's square");
        let mut gone: Vec<Square> = before.board().occupied().into_iter().collect();
        gone.retain(|&square| {
            square == m.to() || (square != from && after.board().piece_at(square).is_none())
        });
        acts.extend(gone.into_iter().map(|square| (0, "lift", lift(square))));
        acts.push((200, "lift", lift(from)));
        let piece = after.board().piece_at(m.to()).expect("the man that moved");
        acts.push((500, "place", vec![m.to().to_string(), letter(piece)]));
    }
    acts.push((1000, "press", vec![turn.fold_wb("white", "black").into()]));
    acts
}

fn placement(fen: &str) -> Placement {
    Placement::new(Board::from_ascii_board_fen(fen.as_bytes()).expect("a placement"))
}
