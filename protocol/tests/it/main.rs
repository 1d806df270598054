//! Byte tables and properties of the public interface.

mod golden;
mod property;
