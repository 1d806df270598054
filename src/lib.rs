//! boardcast: from the DGT boards of a tournament to the wall, the arbiter and the world.
//!
//! # The house
//!
//! Facts flow one way, and each step is a layer with its own folder:
//!
//! ```text
//! serial bytes
//!   -> dgt_protocol   frames, messages, the conversation on a port (a crate of its own, no std)
//!   -> hall::adapt    observations: a square changed, the board was read, the clock was read
//!   -> game           what was played: placements, open plies, presses, the life of a game
//!   -> hall           all tables of one daemon, events numbered
//!   -> daemon::log    the events in memory, read with cursors
//!   -> view           events and states as JSON, PGN and topics
//!   -> daemon::sink   brokers
//! ```
//!
//! Two things travel the other way, both as plain data: *requests* from the hall to a port, and
//! commands from people, which enter the hall as inputs like any other.
//!
//! Beside the stream: [`sim`] is the virtual hardware with hands that play on it, [`replay`] sends
//! a capture through the stack on virtual time, [`accuracy`] compares what was played with what was
//! read, [`cli`] is what a person types.
//!
//! # Who may import whom
//!
//! | layer | may import | must not import |
//! |---|---|---|
//! | `dgt_protocol` | core, alloc | everything else |
//! | `game` | shakmaty, tracing | every other layer, serde, tokio, files, sockets, clocks |
//! | `hall` | `game`, `dgt_protocol` | `view`, `daemon`, `config`, `sim`, serde, tokio |
//! | `view` | `game`, `hall`, serde | `daemon`, `sim`, tokio, `dgt_protocol` |
//! | `config` | `game`, `hall`, serde | `daemon`, `view`, `sim` |
//! | `replay` | `dgt_protocol`, `game`, `hall`, `view` | `daemon`, `sim`, tokio |
//! | `sim` | `dgt_protocol`, shakmaty; `sim::pty` also tokio | `game`, `hall`, `view`, `daemon` |
//! | `daemon` | all of the above | `sim`, `cli` |
//! | `accuracy`, `cli` | everything | |
//!
//! `tests/it/layers.rs` reads the source and fails on a forbidden edge or an overgrown file.
//!
//! # Invariants
//!
//! 1. `dgt_protocol`, `game` and `hall` read no clock and no chance and do no I/O. Time is passed
//!    in. The same inputs give the same events on any machine.
//! 2. They cannot fail. Garbage on a line, an impossible placement, a clock gone mad are values.
//! 3. State changes only by applying an event, and everybody uses the same `apply`.
//! 4. The mainline changes in one way only: *the plies from n on are now these*. A new move, a
//!    take-back, a correction are that one event with a cause.
//! 5. Commands to a single board and commands to a bus are different types.
//! 6. One task owns the hall. What can wake it is one closed list, [`hall::Input`].
//! 7. Sinks pull from the log with a cursor. A slow or dead one delays nobody.
//! 8. serde appears in `view`, `config`, `replay` and `cli` only.
//! 9. What goes to the public tree is built from types that cannot say whether a move was
//!    completed, what was touched, or that a rule was broken.
//! 10. A panic inside one table's tracker stops that table only; any other ends the process, which
//!     is restarted.
//!
//! # Blind alleys
//!
//! - *Believing lifts and places.* A piece that slides, a square that flickers and a report that is
//!   lost all tell stories about moves. What stands on the board at the press is the move.
//! - *One actor per board that publishes by itself.* Without one order over all events the journal,
//!   the delay and the PGN of a round each need their own locking.
//! - *Settling by time alone.* In a scramble nothing settles; a ply on top of which two more are
//!   seen has stood long enough.

pub mod game;

pub mod hall;

pub mod view;

pub mod replay;

pub mod config;

pub mod daemon;

pub mod sim;

pub mod accuracy;

pub mod cli;
