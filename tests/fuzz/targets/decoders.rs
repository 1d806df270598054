//! See `boardcast_fuzz::decoders`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| boardcast_fuzz::decoders(bytes));
