//! The shell: tasks, devices, sockets and time around the pure core.

pub mod clock;

pub mod backoff;

pub mod port;

pub mod log;

pub mod engine;

pub mod sink;

#[cfg(feature = "broker")]
pub mod broker;

#[cfg(test)]
mod testing;
