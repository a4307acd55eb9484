//! The terminal that results are shown on.

use console::Term;
use std::io::{self, IsTerminal};
use textwrap::{Options, WordSeparator, WordSplitter};

/// The width where it is not known.
const USUAL_WIDTH: usize = 80;

/// The least width of a text beside other columns.
pub(crate) const LEAST_ROOM: usize = 20;

/// True if a person sees the results as they are printed.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Its columns: those of the variable `COLUMNS`, or of the terminal.
pub(crate) fn width() -> usize {
    width_of(&Term::stdout())
}

/// The columns for messages, which are shown where results may go to a file.
pub(crate) fn error_width() -> usize {
    width_of(&Term::stderr())
}

fn width_of(terminal: &Term) -> usize {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let shown = || terminal.size_checked().map(|(_, columns)| usize::from(columns));
    named.filter(|&columns| columns > 0).or_else(shown).unwrap_or(USUAL_WIDTH)
}

/// The lines of a text, each of at most `width` columns. Words are cut only where they are longer.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width.max(1))
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(String::from).collect()
}

/// The lines of a message behind a label of `indent` columns. A word that is longer than a line, such as a
/// path, stays whole, so that it can be copied.
pub(crate) fn wrap_words(text: &str, width: usize, indent: usize) -> Vec<String> {
    let options = Options::new(width.saturating_sub(indent).max(LEAST_ROOM))
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_its_words() {
        let text = "did you mean `runs/a/long-path-of-a-run.dev.run`? see there";
        assert_eq!(
            wrap_words(text, 30, 6),
            ["did you mean", "`runs/a/long-path-of-a-run.dev.run`?", "see there"]
        );
        assert_eq!(wrap_words("", 30, 6), [""]);
    }
}
