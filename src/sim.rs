//! Boards without a hall: games played by simulated hands on virtual boards.
//!
//! Everything here works on virtual time and reads neither clock nor chance; only [`pty`] touches the
//! system. In reading order:
//!
//! - [`score`] holds a game that shall be played, [`pgn`] reads it from a file;
//! - [`hand`] turns it into a script of lifts, placings and presses, made the way people make them;
//! - [`clock`] and [`board`] are the machines the hands touch: a digital clock, and a board whose
//!   sensors are scanned field by field and which speaks the protocol over a slow line;
//! - [`performance`] carries a script out on a board, event by event, and [`bus`] does so on several
//!   boards that share a line; to a host both are a [`device`], which [`faults`] can spoil;
//! - [`capture`] writes down what a host on the other end of the line would have seen, and
//!   [`pty`] lets a real host see it.

pub mod board;
pub mod bus;
pub mod capture;
pub mod clock;
pub mod device;
pub mod faults;
pub mod hand;
pub mod performance;
pub mod pgn;
pub mod pty;
pub mod random;
pub mod score;
pub mod time_control;
