//! The one place that writes to the terminal.

use std::io::{self, Write};

/// Standard output, buffered. Whoever reads may close it at any time (`| head`).
pub(super) fn lines() -> io::BufWriter<io::StdoutLock<'static>> {
    io::BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// Writes one line to standard output at once.
///
/// # Errors
///
/// If nobody reads it.
pub(super) fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Writes one line for the person at the terminal, beside the output proper.
pub(super) fn tell(text: &str) {
    // A terminal that is gone has no reader to be told.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes what went wrong.
pub(super) fn complain(text: &str) {
    tell(&format!("boardcast: {text}"));
}

/// Whether the error only says that the reader of our output has gone.
pub(super) fn is_closed_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}
