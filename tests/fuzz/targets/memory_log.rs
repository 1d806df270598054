//! See `boardcast_fuzz::memory_log`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| boardcast_fuzz::memory_log(bytes));
