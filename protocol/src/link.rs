//! Links: the conversation on a port, as state machines without I/O and without a clock.
//!
//! Time is a [`Duration`](core::time::Duration) since an origin that the caller chooses; a time
//! earlier than the last one counts as the last one. The methods of a link come in four kinds:
//!
//! - getters, which change nothing;
//! - `handle_bytes` and `handle_timeout` for what happened;
//! - `request` for what the caller wants;
//! - `poll_event`, `poll_transmit` and `poll_timeout` for what follows from it.
//!
//! After any call of the second and third kind, drain the link in this order: take events until
//! there are none, take bytes to send until there are none, then ask for the next deadline and wait
//! for bytes or for that moment, whichever comes first. Calling `handle_timeout` early, late or
//! twice is harmless. What is not taken in time is bounded: events beyond about 256 KiB are dropped
//! and reported in their place, and the link then asks for the whole board again.

mod bus;
mod outbox;
mod single;
mod timer;

pub use bus::{BoardEvent, BusEvent, BusLink, BusRequest, BusSettings, Changes, Pace};
pub use single::{Identity, LinkEvent, Request, SingleLink, SingleSettings};
