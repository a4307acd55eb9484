//! Messages on standard error.

use crate::output::terminal;
use clariq_core::printable;
use parking_lot::Mutex;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;

/// The maximum number of characters of a line on standard error; a value may be a whole file.
pub(crate) const LONGEST: usize = 600;

/// The maximum number of lines of a message.
const MOST_LINES: usize = 20;

/// The environment variable with the notes of a program that this one continues.
pub(crate) const NOTES: &str = "CLARIQ_NOTES";

/// The sign between the notes in the variable.
const BETWEEN_NOTES: char = '\u{1e}';

/// The notes of this process.
struct Notes {
    /// Notes that the program before has printed, and that this one has not come to yet.
    printed_before: Vec<String>,
    all: Vec<String>,
}

static NOTED: LazyLock<Mutex<Notes>> = LazyLock::new(|| {
    let before = env::var(NOTES).unwrap_or_default();
    let printed_before = before.split(BETWEEN_NOTES).map(str::to_owned).collect();
    Mutex::new(Notes { printed_before, all: Vec::new() })
});

/// Prints a note, unless the program that this one continues has printed it.
pub(crate) fn note(text: &str) {
    let mut noted = NOTED.lock();
    // A variable holds no NUL and no whole file.
    if text.len() <= LONGEST && !text.contains('\0') {
        noted.all.push(text.to_owned());
    }
    match noted.printed_before.iter().position(|before| before == text) {
        Some(place) => drop(noted.printed_before.swap_remove(place)),
        None => say(text),
    }
}

/// The value of the variable for the program that continues this one.
pub(crate) fn notes() -> String {
    NOTED.lock().all.join(&BETWEEN_NOTES.to_string())
}

/// Prints a message to standard error, which may quote a file and have lines of its own.
pub(crate) fn say(text: &str) {
    let width = io::stderr().is_terminal().then(terminal::width);
    for line in text.lines().take(MOST_LINES) {
        let line = printable(line, LONGEST);
        match width {
            Some(width) => terminal::wrap(&line, width).iter().for_each(|line| say_line(line)),
            None => say_line(&line),
        }
    }
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
