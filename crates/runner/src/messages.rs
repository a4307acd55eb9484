//! Messages on standard error.

use crate::output::terminal;
use clariq_core::printable;
use parking_lot::Mutex;
use std::borrow::Cow;
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

/// The commands that read a collection.
const OF_COLLECTIONS: [&str; 14] = [
    "ask",
    "compare",
    "eval",
    "explain",
    "index",
    "need",
    "oracle",
    "rank",
    "report",
    "reproduce",
    "run",
    "train",
    "tune",
    "validate",
];

/// The commands that take several data folders.
const OF_SEVERAL: [&str; 4] = ["run", "eval", "compare", "report"];

/// The commands below `clariq data` that read a collection.
const OF_DATA: [&str; 3] = ["check", "export", "stats"];

/// Has commands in messages name the data folders, unless the user's shell does.
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

/// A message whose commands, which stand between backticks, are for the data folders that the user named.
pub(crate) fn with_data(text: &str) -> Cow<'_, str> {
    match DATA.get() {
        Some(folders) if !folders.is_empty() => Cow::Owned(on_data(text, folders)),
        _ => Cow::Borrowed(text),
    }
}

fn on_data(text: &str, folders: &[String]) -> String {
    const PROGRAM: &str = "`clariq ";
    let mut pieces = text.split(PROGRAM);
    let mut all = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        all.push_str(PROGRAM);
        match piece.split_once('`') {
            Some((command, rest)) if reads_collection(command) => {
                all.push_str(command);
                let first = command.split(' ').next().unwrap_or_default();
                if folders.len() == 1 || OF_SEVERAL.contains(&first) {
                    for folder in folders {
                        all.extend([" --data ", folder]);
                    }
                } else {
                    // The message does not say which of them it is about.
                    all.push_str(" --data DIR");
                }
                all.extend(["`", rest]);
            }
            _ => all.push_str(piece),
        }
    }
    all
}

/// True for a command that can be typed as it is, and would read another collection. The name of a command
/// alone is none.
fn reads_collection(command: &str) -> bool {
    let words: Vec<&str> = command.split(' ').collect();
    let has = |word: &str| words.contains(&word);
    let [first, second, ..] = words[..] else { return false };
    // Without options, files are fetched into another folder.
    let fetches = second == "fetch" && words.len() > 2;
    let is_below = first == "data" && (OF_DATA.contains(&second) || fetches);
    (OF_COLLECTIONS.contains(&first) || is_below) && !has("--data") && !has("--help")
}

/// Prints a note, unless the program that this one continues has printed it.
pub(crate) fn note(text: &str) {
    let text = &*with_data(text);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_messages_are_for_the_data_that_the_user_named() {
        for (text, told) in [
            ("run it: `clariq run x.toml`", "run it: `clariq run x.toml --data mine`"),
            ("`clariq data check` lists `a`", "`clariq data check --data mine` lists `a`"),
            ("`clariq eval` scores a run", "`clariq eval` scores a run"),
            ("`clariq systems show bm25` prints", "`clariq systems show bm25` prints"),
            ("`clariq run --help`", "`clariq run --help`"),
            ("`clariq data fetch --all` gets", "`clariq data fetch --all --data mine` gets"),
            (
                "`clariq run a --data b`, `clariq data fetch`",
                "`clariq run a --data b`, `clariq data fetch`",
            ),
        ] {
            assert_eq!(on_data(text, &["mine".to_owned()]), told);
        }
    }

    #[test]
    fn commands_that_take_several_folders_name_all() {
        let folders = ["a".to_owned(), "\"b c\"".to_owned()];
        for (text, told) in [
            (
                "`clariq run x --split dev` runs",
                "`clariq run x --split dev --data a --data \"b c\"` runs",
            ),
            ("`clariq data check` lists", "`clariq data check --data DIR` lists"),
            ("`clariq systems`", "`clariq systems`"),
        ] {
            assert_eq!(on_data(text, &folders), told);
        }
    }
}
