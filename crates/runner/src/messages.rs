//! Messages on standard error.

use clariq_core::printable;
use std::io::{self, Write};

/// The maximum number of characters of a line on standard error; a value may be a whole file.
pub(crate) const LONGEST: usize = 600;

/// The maximum number of lines of a message.
const MOST_LINES: usize = 20;

/// Prints a message to standard error, which may quote a file and have lines of its own.
pub(crate) fn say(text: &str) {
    text.lines().take(MOST_LINES).for_each(|line| say_line(&printable(line, LONGEST)));
}

/// Prints a line to standard error as it is.
pub(crate) fn say_line(line: &str) {
    say_all(&format!("{line}\n"));
}

/// Writes to standard error. What cannot be shown is dropped, because the result of a command does not
/// depend on it.
pub(crate) fn say_all(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
