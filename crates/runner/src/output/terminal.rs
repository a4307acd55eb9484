//! The terminal that results are shown on.

use console::Term;
use std::io::{self, IsTerminal};

/// The width where it is not known.
const USUAL_WIDTH: usize = 80;

/// True if a person sees the results as they are printed.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Its columns: those of the variable `COLUMNS`, or of the terminal.
pub(crate) fn width() -> usize {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let shown = || Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    named.filter(|&columns| columns > 0).or_else(shown).unwrap_or(USUAL_WIDTH)
}
