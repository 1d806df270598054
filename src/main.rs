//! The `boardcast` command.

fn main() {}
