//! Texts and numbers as messages and tables show them.

use std::borrow::Cow;
use std::io::{self, Write};

/// True for the characters of Python's `str.isspace`.
pub fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

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
    let shown = shorten(text, most);
    if !shown.contains(is_invisible) {
        return shown;
    }
    let mut out = String::with_capacity(shown.len() + 8);
    for c in shown.chars() {
        if is_invisible(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The first `most` characters of a text, and `…` in place of the others.
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// At most `width` characters of a text, the last of them `…` if some are left out.
///
/// ```
/// use clariq_core::fit;
///
/// assert_eq!([fit("ünïcödé", 7), fit("ünïcödé name", 7)], ["ünïcödé", "ünïcöd…"]);
/// ```
pub fn fit(text: &str, width: usize) -> Cow<'_, str> {
    match text.char_indices().nth(width) {
        Some(_) => shorten(text, width.saturating_sub(1)),
        None => Cow::Borrowed(text),
    }
}

/// A number of things.
///
/// ```
/// use clariq_core::count_of;
///
/// assert_eq!([count_of(1_u64, "topic"), count_of(3_usize, "topic")], ["1 topic", "3 topics"]);
/// ```
pub fn count_of(count: impl TryInto<u64>, what: &str) -> String {
    let count = large(count);
    format!("{count} {}", plural(count, what))
}

/// The word for a number of things: `topic` for one, otherwise `topics`.
pub fn plural(count: impl TryInto<u64>, what: &str) -> String {
    one_or(count, what, &format!("{what}s")).to_owned()
}

/// The words for one thing, or those for several.
pub fn one_or<'w>(count: impl TryInto<u64>, one: &'w str, several: &'w str) -> &'w str {
    if large(count) == 1 { one } else { several }
}

/// Counts with their descriptions, which are those of one and of several, without zeros.
pub fn counted(counts: &[(usize, &str, &str)]) -> Vec<String> {
    let some = counts.iter().filter(|(count, ..)| *count > 0);
    some.map(|&(count, one, several)| format!("{count} {}", one_or(count, one, several))).collect()
}

fn large(count: impl TryInto<u64>) -> u64 {
    count.try_into().unwrap_or(u64::MAX)
}

/// Control characters, and those that turn the direction of a line (Unicode Standard Annex 9).
fn is_invisible(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A writer for terminals. Characters that [`printable`] escapes are written as JSON escapes, so that
/// JSON keeps its meaning; tabs and line ends stay. Complete lines are written at once, the rest on
/// flush.
///
/// ```
/// use std::io::Write;
///
/// let mut out = clariq_core::Escaped::new(Vec::new());
/// write!(out, "{{\"id\": \"\u{9b}2J\"}}\n")?;
/// assert_eq!(out.get_ref(), b"{\"id\": \"\\u009b2J\"}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Escaped<W> {
    out: W,
    rest: Vec<u8>,
}

impl<W: Write> Escaped<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out, rest: Vec::new() }
    }

    /// The underlying writer; it receives an incomplete last line only on flush.
    pub fn get_ref(&self) -> &W {
        &self.out
    }

    fn write_first(&mut self, end: usize) -> io::Result<()> {
        let text = String::from_utf8_lossy(&self.rest[..end]);
        let mut rest = &*text;
        while let Some((start, c)) =
            rest.char_indices().find(|(_, c)| is_invisible(*c) && !matches!(c, '\t' | '\n'))
        {
            write!(self.out, "{}\\u{:04x}", &rest[..start], u32::from(c))?;
            rest = &rest[start + c.len_utf8()..];
        }
        self.out.write_all(rest.as_bytes())?;
        self.rest.drain(..end);
        Ok(())
    }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        if let Some(end) = bytes.iter().rposition(|&byte| byte == b'\n') {
            self.write_first(self.rest.len() - bytes.len() + end + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_first(self.rest.len())?;
        self.out.flush()
    }
}

/// A number with `digits` digits after the point, and never a negative zero.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_printed_moves_the_cursor_in_whatever_pieces_it_comes() {
        let text = "a\u{1b}[2J\tb\u{9b}\r\u{202e}é\u{7f}\nlast\u{85}";
        for size in 1..text.len() {
            let mut out = Escaped::new(Vec::new());
            text.as_bytes().chunks(size).for_each(|piece| out.write_all(piece).unwrap());
            out.flush().unwrap();
            let expected = "a\\u001b[2J\tb\\u009b\\u000d\\u202eé\\u007f\nlast\\u0085";
            assert_eq!(String::from_utf8_lossy(out.get_ref()), expected);
        }
    }
}
