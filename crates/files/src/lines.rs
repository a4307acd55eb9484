//! Bounded lines of streams.

use crate::sink::not_utf8;
use crate::source::broken;
use crate::text::{BYTE_ORDER_MARK, not_text, without_byte_order_marks};
use clariq_core::{Location, Problem, Result, problem};
use std::io::{self, BufRead};
use std::str;

/// True for white space around a line, but for tabs, which separate fields.
pub fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\t'
}

/// Maximum length of a line with a request or a reply, in bytes.
pub const MOST_OF_A_LINE: u64 = 1 << 20;

/// Reads the lines of a stream, up to a maximum length. They end with LF, CRLF or CR.
pub struct BoundedLines<'a> {
    name: String,
    stream: Box<dyn BufRead + 'a>,
    most: u64,
    number: u64,
    bytes: u64,
    /// The bytes of the line that was read last, with one LF if it has an end.
    line: Vec<u8>,
    /// True after a CR: a LF that follows belongs to the same end.
    after_return: bool,
}

impl<'a> BoundedLines<'a> {
    /// Reads lines of at most `most` bytes. Messages show `name`.
    pub fn new(name: impl Into<String>, stream: impl BufRead + 'a, most: u64) -> Self {
        Self {
            name: name.into(),
            stream: Box::new(stream),
            most,
            number: 0,
            bytes: 0,
            line: Vec::new(),
            after_return: false,
        }
    }

    /// The number of the line that was read last.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The location of the line that was read last.
    pub fn location(&self) -> Location {
        Location::line(&self.name, self.number)
    }

    /// The number of bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the next line with its number, without its end and a byte order mark; `None` at the
    /// end of the stream. A line that is too long or not text is an error.
    pub fn next_bytes(&mut self) -> Result<Option<(u64, &[u8])>> {
        match self.advance()? {
            None => Ok(None),
            Some(Err(problem)) => Err(problem.into()),
            Some(Ok(())) => {
                let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
                Ok(Some((self.number, line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line))))
            }
        }
    }

    /// Returns the next line without white space and byte order marks around it; `None` at the end
    /// of the stream. A line that is too long or not UTF-8 is skipped and returned as a problem.
    pub fn read_next(&mut self) -> Result<Option<Result<String, Problem>>> {
        Ok(self.read_row()?.map(|line| line.map(|line| line.trim().to_owned())))
    }

    /// Like [`read_next`](Self::read_next), with the tabs around the line: they separate fields.
    pub fn read_row(&mut self) -> Result<Option<Result<String, Problem>>> {
        Ok(match self.advance()? {
            None => None,
            Some(Err(problem)) => Some(Err(problem)),
            Some(Ok(())) => Some(match str::from_utf8(&self.line) {
                Ok(line) => Ok(without_byte_order_marks(line).trim_matches(is_blank).to_owned()),
                Err(_) => Err(not_utf8(self.location(), "line", self.line.trim_ascii())),
            }),
        })
    }

    /// Reads the next line, its end included; `None` at the end of the stream.
    fn advance(&mut self) -> Result<Option<Result<(), Problem>>> {
        let (count, ended) = self.read_piece()?;
        if count == 0 {
            return Ok(None);
        }
        self.number += 1;
        if ended || count <= self.most {
            return Ok(Some(match not_text(self.location(), &self.line) {
                Some(problem) => Err(problem),
                None => Ok(()),
            }));
        }
        // Skip the rest of the line.
        while !matches!(self.read_piece()?, (0, _) | (_, true)) {}
        let most = self.most;
        let problem = problem!(self.location(), "a line of at most {most} bytes", "a longer one");
        Ok(Some(Err(problem.hint("is this the right file?"))))
    }

    /// Reads to the end of the line, or one byte more than the limit. Returns the number of bytes,
    /// and true if the line ends there.
    fn read_piece(&mut self) -> Result<(u64, bool)> {
        self.line.clear();
        let most = usize::try_from(self.most).unwrap_or(usize::MAX).saturating_add(1);
        let mut ended = false;
        while !ended && self.line.len() < most {
            let buffer = match self.stream.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer.map_err(|error| broken(&self.name, error))?,
            };
            let Some(&first) = buffer.first() else { break };
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                self.stream.consume(1);
                self.bytes += 1;
                continue;
            }
            let piece = &buffer[..buffer.len().min(most - self.line.len())];
            let end = memchr::memchr2(b'\n', b'\r', piece);
            self.line.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
            let mut taken = piece.len();
            if let Some(end) = end {
                ended = true;
                self.after_return = piece[end] == b'\r';
                self.line.push(b'\n');
                taken = end + 1;
            }
            self.stream.consume(taken);
            self.bytes += taken as u64;
        }
        Ok((self.line.len() as u64, ended))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &[u8], most: u64) -> Vec<Result<String, String>> {
        let mut lines = BoundedLines::new("x", text, most);
        let mut all = Vec::new();
        while let Some(line) = lines.read_next().unwrap() {
            all.push(line.map_err(|problem| problem.to_string()));
        }
        all
    }

    #[test]
    fn reading_continues_after_a_bad_line() {
        let long = "y".repeat(50);
        let text = [b"\xef\xbb\xbfa \r\n\n", long.as_bytes(), b"\n\xff\nb"].concat();
        let all = read_all(&text, 10);
        assert_eq!(all.len(), 5);
        assert_eq!((&all[0], &all[1]), (&Ok("a".to_owned()), &Ok(String::new())));
        let too_long = all[2].as_ref().unwrap_err();
        assert!(too_long.starts_with("x:3: expected a line of at most 10 bytes"), "{too_long}");
        assert!(all[3].as_ref().unwrap_err().contains("x:4"), "{:?}", all[3]);
        assert_eq!(all[4], Ok("b".to_owned()));
    }

    #[test]
    fn lines_up_to_the_limit_are_read() {
        for (text, fine) in [("abc\n", true), ("abcd", true), ("abcde", false), ("abcd\n", true)] {
            assert_eq!(read_all(text.as_bytes(), 4)[0].is_ok(), fine, "{text:?}");
            let mut lines = BoundedLines::new("x", text.as_bytes(), 4);
            assert_eq!(lines.next_bytes().is_ok(), fine, "{text:?}");
        }
    }

    #[test]
    fn lines_of_bytes_keep_spaces() {
        let mut lines = BoundedLines::new("x", &b"\xef\xbb\xbf a\xff\r\n\nb"[..], 10);
        assert_eq!(lines.next_bytes().unwrap(), Some((1, &b" a\xff"[..])));
        assert_eq!(lines.next_bytes().unwrap(), Some((2, &b""[..])));
        assert_eq!(lines.next_bytes().unwrap(), Some((3, &b"b"[..])));
        assert_eq!(lines.next_bytes().unwrap(), None);
        assert_eq!(lines.bytes(), 10);
    }
}
