//! The integration tests, one binary so that linking happens once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

mod laws;
mod layers;
