//! The integration tests, one binary so that linking happens once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

mod access;
mod boards;
mod bus;
mod field;
mod fuzz_inputs;
mod hall;
mod laws;
mod layers;
mod mqtt;
mod program;
mod publish;
mod recall;
mod record;
mod service;
mod tools;
mod web;
