//! The game core: from what stands on a board, and when, to the game that was played.
//!
//! Pure: it reads no clock, does no I/O, cannot fail on any input and gives the same events for the
//! same observations on any machine. Whatever stands on the board is a [`Placement`]; what the game
//! has reached is a legal position; where the two disagree, that is a fact to report, not an error.
//!
//! Reading order: [`placement`], [`observation`], [`clock`], [`ply`], [`event`], [`state`], [`window`],
//! [`explain`], [`evidence`], [`reading`], [`tracker`].

pub mod time;

pub mod placement;

pub mod orientation;

pub mod clock;

pub mod observation;

pub mod start;

pub mod ending;

pub mod alert;

pub mod ply;

pub mod event;

pub mod state;

pub mod settings;

pub mod explain;

pub mod evidence;

pub mod reading;

pub mod window;

pub mod tracker;

pub use alert::Alert;
pub use clock::{ClockReading, ClockView, SideReading};
pub use ending::{EndReason, GameResult};
pub use event::{Cause, Event, Phase};
pub use observation::{Observation, Seat};
pub use orientation::Orientation;
pub use placement::Placement;
pub use ply::{Ply, Step};
pub use settings::{Settings, StartRule};
pub use start::Start;
pub use state::State;
pub use time::Timestamp;
pub use tracker::Tracker;
