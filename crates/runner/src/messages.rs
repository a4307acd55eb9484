//! Messages on standard error.

use crate::output::terminal;
use clariq_core::{Hint, printable};
use parking_lot::Mutex;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};

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

/// The data folders that the user named on the command line, as a shell reads them.
static DATA: OnceLock<Vec<String>> = OnceLock::new();

/// Has commands in hints name the data folders, unless the user's shell does.
pub(crate) fn name_data(folders: &[PathBuf]) {
    let usual = env::var_os("CLARIQ_DATA");
    if let [only] = folders
        && usual.is_some_and(|usual| usual == *only)
    {
        return;
    }
    let shown = |folder: &PathBuf| {
        let shown = folder.display().to_string();
        if shown.contains(char::is_whitespace) { format!("\"{shown}\"") } else { shown }
    };
    let _ = DATA.set(folders.iter().map(shown).collect());
}

/// A hint with the data folders that the user named behind the commands that read them.
pub(crate) fn render(hint: &Hint) -> String {
    hint.render(DATA.get().map_or(&[], Vec::as_slice))
}

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
    for line in text.lines().take(MOST_LINES) {
        say_labelled("", &printable(line, LONGEST));
    }
}

/// Prints a line behind a label. A terminal gets whole words: further lines begin below the first.
pub(crate) fn say_labelled(label: &str, text: &str) {
    if !io::stderr().is_terminal() {
        return say_line(&format!("{label}{text}"));
    }
    let indent = console::measure_text_width(label);
    for (number, line) in
        terminal::wrap_words(text, terminal::error_width(), indent).iter().enumerate()
    {
        let before = if number == 0 { label.to_owned() } else { " ".repeat(indent) };
        say_line(&format!("{before}{line}"));
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
