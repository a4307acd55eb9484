//! Web pages in the JSON lines of `ClueWeb22`, read block by block.

use clariq_core::{Error, Location, Problem, ProblemKind};
use clariq_files::Source;
use serde::Deserialize;
use std::io::{self, BufRead, Read};
use std::path::PathBuf;

/// The longest line that is read, so that a file of another kind does not fill the memory.
const LONGEST_LINE: u64 = 64 << 20;
/// The bytes after which a block is full.
const BLOCK: usize = 8 << 20;
const EXPECTED: &str = "a JSON object with the texts `ClueWeb22-ID`, `URL` and `Clean-Text`";

/// A page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Page {
    /// Its id, as `clueweb22-en0000-00-00000`.
    #[serde(rename = "ClueWeb22-ID")]
    pub id: String,
    /// Its address. The released files end it with a line end.
    #[serde(rename = "URL")]
    pub url: String,
    /// Its text, of which the first line is the title.
    #[serde(rename = "Clean-Text")]
    pub text: String,
}

impl Page {
    /// Reads a page from a line of `file`.
    pub fn parse(line: &[u8], file: &str, number: u64) -> Result<Self, Box<Problem>> {
        serde_json::from_slice(line).map_err(|error| {
            let at = Location::line(file, number);
            let problem = Problem::new(at, ProblemKind::Page, EXPECTED, error.to_string());
            let is_bzip2 = number == 1 && line.starts_with(b"BZh");
            Box::new(problem.hint(if is_bzip2 {
                "unpack it first: bzcat FILE | clariq data segment - -o DIR"
            } else {
                "pages are JSON lines as ClueWeb22 releases them; remove the line or fetch it again"
            }))
        })
    }
}

/// Lines of one source, in blocks.
pub(crate) struct Blocks<'a> {
    name: String,
    reader: Box<dyn BufRead + 'a>,
    lines: u64,
    bytes: u64,
}

/// Lines that follow one another.
pub(crate) struct Block {
    bytes: Vec<u8>,
    /// The number of the first line, and where each line ends.
    first: u64,
    ends: Vec<usize>,
}

impl<'a> Blocks<'a> {
    pub(crate) fn open(source: &'a Source) -> Result<Self, Error> {
        Ok(Self { name: source.name(), reader: source.stream()?, lines: 0, bytes: 0 })
    }

    /// The source, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The unpacked bytes that were read.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next lines; an empty block at the end.
    pub(crate) fn next_block(&mut self) -> Result<Block, Error> {
        let mut block = Block { bytes: Vec::new(), first: self.lines + 1, ends: Vec::new() };
        while block.bytes.len() < BLOCK {
            let limited = &mut self.reader.by_ref().take(LONGEST_LINE);
            let read = limited.read_until(b'\n', &mut block.bytes).map_err(|e| self.broken(e))?;
            if read == 0 {
                break;
            }
            self.lines += 1;
            self.bytes += read as u64;
            block.ends.push(block.bytes.len());
            if read as u64 == LONGEST_LINE {
                return Err(self.too_long().into());
            }
        }
        Ok(block)
    }

    fn broken(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidData
            | io::ErrorKind::UnexpectedEof => {
                let at = Location::line(&self.name, self.lines + 1);
                Problem::new(at, ProblemKind::Archive, "a whole gzip file", error.to_string())
                    .hint("the file is cut short or damaged: fetch or compress it again")
                    .into()
            }
            _ => Error::Io { action: "read", path: PathBuf::from(&self.name), source: error },
        }
    }

    fn too_long(&self) -> Problem {
        let at = Location::line(&self.name, self.lines);
        let found = format!("a line of {LONGEST_LINE} bytes or more");
        Problem::new(at, ProblemKind::TooLarge, EXPECTED, found)
            .hint("check what kind of file it is")
    }
}

impl Block {
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The lines that are not blank, each with its number.
    pub(crate) fn lines(&self) -> Vec<(u64, &[u8])> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let lines = starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end]);
        (self.first..)
            .zip(lines)
            .map(|(number, line)| (number, line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)))
            .filter(|(_, line)| !line.trim_ascii().is_empty())
            .collect()
    }
}
