use shakmaty::{Chess, Position, san::San};

use super::*;

/// A board on which games are played by the book: it notes all, and the reader sees what it likes.
struct Book {
    position: Chess,
    standing: Placement,
    notes: Vec<Note>,
    trail: Trail,
}

impl Book {
    fn new() -> Self {
        let position = Chess::default();
        let standing = Placement::new(position.board().clone());
        let mut notes = vec![Note::PowerUp];
        for (square, piece) in position.board() {
            notes.push(Note::Change(Change { square, piece: Some(piece) }));
        }
        Self { position, standing, notes, trail: Trail::default() }
    }

    fn play(&mut self, sans: &str) {
        for san in sans.split(' ') {
            let m = san.parse::<San>().unwrap().to_move(&self.position).unwrap();
            let man = self.position.board().piece_at(m.from().unwrap());
            self.change(m.from().unwrap(), None);
            self.change(m.to(), man);
            self.position = self.position.clone().play(m).unwrap();
        }
    }

    fn change(&mut self, square: Square, piece: Option<Piece>) {
        let change = Change { square, piece };
        self.standing.set(square, piece);
        self.notes.push(Note::Change(change));
        self.trail.push(change);
    }

    fn changes_since(&self, known: &Placement, trail: &Trail) -> usize {
        let past = since(&self.notes, Known::Placement(known, trail), &self.standing);
        past.unwrap().iter().filter(|past| matches!(past, Past::Change(_))).count()
    }
}

#[test]
fn what_was_played_since_is_told_in_its_order() {
    let mut book = Book::new();
    book.play("e4 e5 Nf3");
    let (known, trail) = (book.standing.clone(), book.trail.clone());
    let seen = book.notes.len();
    book.play("Nc6 Bb5 a6");
    let past = since(&book.notes, Known::Placement(&known, &trail), &book.standing).unwrap();
    let new = book.notes[seen..].iter().map(|note| match note {
        Note::Change(change) => Past::Change(*change),
        other => panic!("{other:?}"),
    });
    assert_eq!(past, new.collect::<Vec<_>>());
}

#[test]
fn a_repetition_played_meanwhile_is_not_taken_for_what_was_known() {
    let mut book = Book::new();
    book.play("e4 e5 Nf3 Nf6");
    let (known, trail) = (book.standing.clone(), book.trail.clone());
    book.play("Ng1 Ng8 Nf3 Nf6 Nc3");
    assert_eq!(book.changes_since(&known, &trail), 10);
    // One that was known already is not told again.
    let mut book = Book::new();
    book.play("e4 e5 Nf3 Nf6 Ng1 Ng8 Nf3 Nf6");
    let (known, trail) = (book.standing.clone(), book.trail.clone());
    book.play("Nc3");
    assert_eq!(book.changes_since(&known, &trail), 2);
}

#[test]
fn a_memory_whose_beginning_is_overwritten_still_tells_the_end() {
    let mut book = Book::new();
    book.play("e4 e5 Nf3");
    let (known, trail) = (book.standing.clone(), book.trail.clone());
    book.play("Nc6 Bb5");
    book.notes.drain(..36);
    assert_eq!(book.changes_since(&known, &trail), 4);
}

#[test]
fn a_board_that_was_switched_off_meanwhile_tells_what_changed() {
    let mut book = Book::new();
    book.play("e4 e5");
    let (known, trail) = (book.standing.clone(), book.trail.clone());
    book.play("Nf3");
    book.notes.push(Note::PowerUp);
    for (square, piece) in book.standing.board().clone() {
        book.notes.push(Note::Change(Change { square, piece: Some(piece) }));
    }
    book.play("Nc6");
    assert_eq!(book.changes_since(&known, &trail), 4);
}

#[test]
fn a_board_never_seen_before_tells_the_game_from_its_array() {
    let mut book = Book::new();
    book.play("e4 e5");
    let rule = StartRule::Classical;
    let past = since(&book.notes, Known::Array(&rule), &book.standing).unwrap();
    assert_eq!(past[0], Past::Placement(Start::classical().placement()));
    assert_eq!(past.len(), 5);
    // The game of yesterday stays there.
    book.notes.push(Note::PowerUp);
    assert_eq!(since(&book.notes, Known::Array(&rule), &book.standing), None);
}

#[test]
fn a_memory_of_something_else_tells_nothing() {
    let mut book = Book::new();
    book.play("e4 e5");
    let foreign = Placement::new(
        Chess::default().play(Chess::default().legal_moves()[0]).unwrap().board().clone(),
    );
    let trail = Trail::default();
    assert_eq!(since(&book.notes, Known::Placement(&foreign, &trail), &book.standing), None);
    let known = Start::classical().placement();
    assert_eq!(since(&book.notes, Known::Placement(&known, &trail), &foreign), None);
    assert_eq!(since(&[], Known::Placement(&known, &trail), &foreign), None);
}

#[test]
fn presses_become_readings_between_the_times() {
    let side = SideReading { ms: 60_000, flag: false };
    let clock = ClockReading { left: side, right: side, running: true, left_high: true };
    let change = Change { square: Square::E2, piece: None };
    let past = vec![Past::Change(change), Past::Halted { left: true, ms: 50_000 }];
    let (from, to) = (Timestamp::from_millis(1_000), Timestamp::from_millis(9_000));
    let told = observations(past.clone(), Some(clock), from, to);
    let times: Vec<_> = told.iter().map(|(at, _)| at.as_millis()).collect();
    assert_eq!(times, [8_400, 8_700]);
    let Observation::Clock(reading) = &told[1].1 else { panic!("{told:?}") };
    assert_eq!((reading.left.ms, reading.right.ms, reading.left_high), (50_000, 60_000, false));
    assert_eq!(observations(past, None, from, to).len(), 1, "half a clock is none");
}
