//! The DGT electronic board and clock protocol: frames, messages and links, without I/O.
#![no_std]
extern crate alloc;
