//! What must hold for any bytes, whoever sent them: one function for each fuzz target.
//!
//! A target takes the bytes apart as it likes and panics when something does not hold. The fuzzer
//! calls it through `targets/`; the ordinary tests of the repository hold this library as a module
//! and call it with the kept inputs. `docs/fuzzing.md` tells how to look for new ones.

mod links;
mod source;
mod table;
mod texts;
mod wire;

pub mod seeds;

pub use links::{bus::link_bus, single::link_single};
pub use table::tracker_operations;
pub use texts::{capture_lines, pgn};
pub use wire::{decoders, deframer, memory_log};

/// Panics when something does not hold.
pub type Target = fn(&[u8]);

/// Every target by its name, which is also that of its folders below `corpus` and `regressions`.
pub const TARGETS: [(&str, Target); 8] = [
    ("deframer", deframer),
    ("decoders", decoders),
    ("memory_log", memory_log),
    ("link_single", link_single),
    ("link_bus", link_bus),
    ("capture_lines", capture_lines),
    ("tracker_operations", tracker_operations),
    ("pgn", pgn),
];
