//! From the words of the wire to observations. The only place above the ports that knows them.

use dgt_protocol::{
    Address, BoardEvent, Changes, ClockMessage, ClockSide, ClockTimes, Dump, Field, Lever,
    LinkEvent, Log, Message, Pace, PieceCode, Request, Side, Tag,
};
use shakmaty::{Color, Piece, Role, Square};

use super::memory::{Change, Note};
use crate::game::{ClockReading, Observation, Placement, SideReading};

/// What a link event tells about board or clock, if anything.
pub fn observation(event: &LinkEvent) -> Option<Observation> {
    match event {
        LinkEvent::Message(Message::Dump(dump)) => Some(Observation::Dump(placement(dump))),
        LinkEvent::Message(Message::FieldUpdate { field, code }) => {
            Some(Observation::Change { square: square(*field), piece: piece(*code) })
        }
        LinkEvent::Message(Message::Clock(ClockMessage::Times(times))) => Some(clock(times)),
        LinkEvent::Silent => Some(Observation::Link { up: false }),
        LinkEvent::Answering => Some(Observation::Link { up: true }),
        _ => None,
    }
}

/// Whether the event proves that the board speaks.
pub fn shows_life(event: &LinkEvent) -> bool {
    matches!(event, LinkEvent::Message(_) | LinkEvent::Answering)
}

/// Whether the event tells that the board on the link has this serial number, long or short.
pub fn names_board(event: &LinkEvent, serial: &str) -> bool {
    let LinkEvent::Identified(identity) = event else {
        return false;
    };
    let short = identity.serial_number.as_ref().map(dgt_protocol::SerialNumber::as_str);
    let long = identity.long_serial_number.as_ref().map(dgt_protocol::LongSerialNumber::as_str);
    [short, long].into_iter().flatten().any(|own| without_zeros(own) == without_zeros(serial))
}

/// Boards tell five digits, and people leave out the zeros before their number.
fn without_zeros(serial: &str) -> &str {
    serial.trim_start_matches('0')
}

/// What a board on a bus tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// The board went silent.
    Gone,
    /// A reading of board or clock.
    Reading(Observation),
    /// What happened since the last time, in order.
    Notes {
        /// The entries, oldest first.
        notes: Vec<Note>,
        /// Whether it happened just now.
        live: bool,
    },
    /// Some of what happened was lost on the way; the log of the game and a dump follow.
    Lost,
    /// The log of the game.
    Game(Vec<Note>),
}

/// What an event of a board on a bus tells about board or clock, if anything.
pub fn told(event: &BoardEvent) -> Option<Told> {
    let notes = |tags: &[Tag]| tags.iter().copied().filter_map(note).collect();
    Some(match event {
        BoardEvent::Silent => Told::Gone,
        BoardEvent::Dump(dump) => Told::Reading(Observation::Dump(placement(dump))),
        BoardEvent::Clock(ClockMessage::Times(times)) => Told::Reading(clock(times)),
        BoardEvent::Changes(Changes { tags, pace, .. }) => {
            Told::Notes { notes: notes(tags), live: *pace == Pace::Live }
        }
        BoardEvent::ChangesLost => Told::Lost,
        BoardEvent::FromStart { tags, .. } => Told::Game(notes(tags)),
        _ => return None,
    })
}

/// Whether the board with this serial number has this address: on a bus the one is the other.
pub fn has_address(serial: &str, address: Address) -> bool {
    serial.parse() == Ok(address.number())
}

/// What the board remembers, if the event tells it.
pub fn memory(event: &LinkEvent) -> Option<Vec<Note>> {
    match event {
        LinkEvent::Message(Message::Memory(bytes)) => {
            Some(Log::cyclic(bytes).filter_map(note).collect())
        }
        _ => None,
    }
}

/// Whether the board does not tell what it remembers.
pub fn refuses_memory(event: &LinkEvent) -> bool {
    matches!(event, LinkEvent::Unanswered(Request::Memory))
}

fn note(tag: Tag) -> Option<Note> {
    match tag {
        Tag::FieldChange { field, code, .. } => {
            Some(Note::Change(Change { square: square(field), piece: piece(code) }))
        }
        Tag::Halted { side, time } => {
            Some(Note::Halted { left: side == Side::Left, ms: time.total_seconds() * 1000 })
        }
        Tag::PowerUp => Some(Note::PowerUp),
        _ => None,
    }
}

/// The men on the board, in the board's own frame.
pub fn placement(dump: &Dump) -> Placement {
    let mut placement = Placement::empty();
    for field in Field::all() {
        placement.set(square(field), piece(dump.code(field)));
    }
    placement
}

/// Field 0 is a8 and the rows are read as a page; squares count from a1 upwards.
fn square(field: Field) -> Square {
    Square::new(u32::from(field.index())).flip_vertical()
}

/// The result markers of the protocol stand for no man: they are read as empty squares.
fn piece(code: PieceCode) -> Option<Piece> {
    use PieceCode as P;
    let (color, role) = match code {
        P::Empty | P::DrawMark | P::WhiteWinsMark | P::BlackWinsMark => return None,
        P::WhitePawn => (Color::White, Role::Pawn),
        P::WhiteRook => (Color::White, Role::Rook),
        P::WhiteKnight => (Color::White, Role::Knight),
        P::WhiteBishop => (Color::White, Role::Bishop),
        P::WhiteKing => (Color::White, Role::King),
        P::WhiteQueen => (Color::White, Role::Queen),
        P::BlackPawn => (Color::Black, Role::Pawn),
        P::BlackRook => (Color::Black, Role::Rook),
        P::BlackKnight => (Color::Black, Role::Knight),
        P::BlackBishop => (Color::Black, Role::Bishop),
        P::BlackKing => (Color::Black, Role::King),
        P::BlackQueen => (Color::Black, Role::Queen),
    };
    Some(Piece { color, role })
}

fn clock(times: &ClockTimes) -> Observation {
    if !times.connected {
        return Observation::ClockAbsent;
    }
    let side = |side: &ClockSide| SideReading {
        ms: side.total_seconds() * 1000,
        flag: side.flag || side.flag_running,
    };
    Observation::Clock(ClockReading {
        left: side(&times.left),
        right: side(&times.right),
        running: times.running,
        left_high: times.lever == Lever::LeftHigh,
    })
}
