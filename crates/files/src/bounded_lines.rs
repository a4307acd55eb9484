//! Lines of a stream, one at a time as they come, none of them longer than a limit.

use clariq_core::{Error, Location, Problem, ProblemKind};
use std::io::{BufRead, Read};
use std::path::PathBuf;

/// Bytes that a line of a request or a reply may have: a longer one would only fill the memory.
pub const MOST_OF_A_LINE: u64 = 1 << 20;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a stream line by line. A line that is too long or no UTF-8 is a problem of that line
/// alone.
pub struct BoundedLines<'a> {
    name: String,
    stream: Box<dyn BufRead + 'a>,
    number: u64,
    most: u64,
}

impl<'a> BoundedLines<'a> {
    /// Lines of at most `most` bytes; `name` is the stream's, for messages.
    pub fn new(name: impl Into<String>, stream: Box<dyn BufRead + 'a>, most: u64) -> Self {
        Self { name: name.into(), stream, number: 0, most }
    }

    /// Where the last line stands.
    pub fn location(&self) -> Location {
        Location::line(&self.name, self.number)
    }

    /// The next line without its end and without blanks around it, or what is wrong with it; `None`
    /// at the end of the stream.
    pub fn read_next(&mut self) -> Result<Option<Result<String, Problem>>, Error> {
        let mut bytes = Vec::new();
        let (count, ended) = self.read_piece(&mut bytes)?;
        if count == 0 {
            return Ok(None);
        }
        self.number += 1;
        if !ended && count > self.most {
            self.pass_over()?;
            let expected = format!("a line of at most {} bytes", self.most);
            let problem =
                Problem::new(self.location(), ProblemKind::TooLarge, expected, "a longer one");
            return Ok(Some(Err(problem)));
        }
        let line = String::from_utf8(bytes).map_err(|error| {
            let wrong = error.as_bytes()[error.utf8_error().valid_up_to()];
            let found = format!("the byte 0x{wrong:02x}");
            Problem::new(self.location(), ProblemKind::NotUtf8, "a line in UTF-8", found)
        });
        Ok(Some(line.map(|line| line.trim_start_matches(BYTE_ORDER_MARK).trim().to_owned())))
    }

    /// Reads to the end of the line, but no further than one byte behind the limit: how many bytes,
    /// and whether the line ends there.
    fn read_piece(&mut self, bytes: &mut Vec<u8>) -> Result<(u64, bool), Error> {
        let mut piece = self.stream.by_ref().take(self.most + 1);
        let count = piece.read_until(b'\n', bytes).map_err(|source| Error::Io {
            action: "read",
            path: PathBuf::from(&self.name),
            source,
        })?;
        Ok((count as u64, bytes.ends_with(b"\n")))
    }

    /// Passes over the rest of a line that is too long.
    fn pass_over(&mut self) -> Result<(), Error> {
        loop {
            let (count, ended) = self.read_piece(&mut Vec::new())?;
            if count == 0 || ended {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &[u8], most: u64) -> Vec<Result<String, String>> {
        let mut lines = BoundedLines::new("x", Box::new(text), most);
        let mut all = Vec::new();
        while let Some(line) = lines.read_next().unwrap() {
            all.push(line.map_err(|problem| problem.to_string()));
        }
        all
    }

    #[test]
    fn a_bad_line_is_a_problem_of_its_own_and_the_next_one_is_read() {
        let long = "y".repeat(50);
        let text = [b"\xef\xbb\xbfa \r\n\n", long.as_bytes(), b"\n\xff\nb"].concat();
        let all = read_all(&text, 10);
        assert_eq!(all.len(), 5);
        assert_eq!((&all[0], &all[1]), (&Ok("a".to_owned()), &Ok(String::new())));
        let too_long = all[2].as_ref().unwrap_err();
        assert!(too_long.starts_with("x:3: file too large: expected a line of at most 10 bytes"));
        assert!(all[3].as_ref().unwrap_err().contains("x:4"), "{:?}", all[3]);
        assert_eq!(all[4], Ok("b".to_owned()));
    }

    #[test]
    fn lines_up_to_the_limit_are_read() {
        for (text, fine) in [("abc\n", true), ("abcd", true), ("abcde", false), ("abcd\n", true)] {
            assert_eq!(read_all(text.as_bytes(), 4)[0].is_ok(), fine, "{text:?}");
        }
    }
}
