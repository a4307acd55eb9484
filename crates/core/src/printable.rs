//! Texts and numbers as messages and tables show them.

use std::borrow::Cow;

/// A text for a terminal: control characters escaped, because a file could otherwise move the
/// cursor, and at most `most` characters of it.
///
/// ```
/// use clariq_core::printable;
///
/// assert_eq!(printable("\u{1b}[31mred\n", 80), r"\u{1b}[31mred\n");
/// assert_eq!(printable("a long text", 6), "a long…");
/// ```
pub fn printable(text: &str, most: usize) -> Cow<'_, str> {
    let cut = text.char_indices().nth(most).map(|(end, _)| &text[..end]);
    let shown = cut.unwrap_or(text);
    if cut.is_none() && !shown.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(shown.len() + 8);
    for c in shown.chars() {
        if is_invisible(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    if cut.is_some() {
        out.push('…');
    }
    Cow::Owned(out)
}

/// Control characters, and those that turn the direction of a line around (Unicode Standard Annex
/// 9).
fn is_invisible(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A number with so many digits after the point, and never a negative zero.
///
/// ```
/// assert_eq!(clariq_core::fixed(-0.5, 2), "-0.50");
/// assert_eq!(clariq_core::fixed(-1e-9, 6), "0.000000");
/// ```
pub fn fixed(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.bytes().all(|byte| matches!(byte, b'0' | b'.')) => zero.to_owned(),
        _ => text,
    }
}
