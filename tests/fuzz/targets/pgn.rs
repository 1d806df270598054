//! See `boardcast_fuzz::pgn`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| boardcast_fuzz::pgn(bytes));
