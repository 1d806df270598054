//! See `boardcast_fuzz::deframer`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| boardcast_fuzz::deframer(bytes));
