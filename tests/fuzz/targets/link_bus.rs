//! See `boardcast_fuzz::link_bus`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| boardcast_fuzz::link_bus(bytes));
