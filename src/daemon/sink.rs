//! Consumers of the log. Each pulls with its own cursor and knows neither the engine, nor the
//! ports, nor the other sinks.

pub mod mqtt;
