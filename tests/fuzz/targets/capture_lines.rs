//! See `boardcast_fuzz::capture_lines`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| boardcast_fuzz::capture_lines(bytes));
