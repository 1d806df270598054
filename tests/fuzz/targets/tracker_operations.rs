//! See `boardcast_fuzz::tracker_operations`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| boardcast_fuzz::tracker_operations(bytes));
