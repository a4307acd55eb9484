//! Archives: the content of a file that is plain, gzip, Zstandard, zip, tar, packed tar, or in pieces, as
//! a stream.

use crate::source::{MAGIC, PackingFormat, Source, broken};
use crate::text::BYTE_ORDER_MARK;
use clariq_core::{Error, Problem, ProblemKind, Result, problem};
use std::io::{self, Read};
use std::ops::Range;

/// Positions of the magic and of the checksum in a tar header (POSIX.1-2001, pax).
const TAR_MAGIC: (usize, &[u8]) = (257, b"ustar");
const TAR_CHECKSUM: Range<usize> = 148..156;
const TAR_BLOCK: usize = 512;

/// The expected content, for messages.
#[derive(Debug)]
pub struct ExpectedContent {
    /// Its name with an article.
    pub what: &'static str,
    /// A hint on how it is written.
    pub hint: &'static str,
}

/// The bytes of a file or of its pieces, which can be read more than once.
pub struct Archive {
    name: String,
    pieces: Vec<Source>,
    form: &'static ExpectedContent,
    /// The most bytes of the content.
    most: u64,
}

impl Archive {
    /// Opens the pieces of one file with the expected content `form`. Its reader bounds what it keeps.
    pub fn new(sources: &[Source], form: &'static ExpectedContent) -> Result<Self> {
        Self::of_at_most(u64::MAX, sources, form)
    }

    /// Opens the pieces of one file whose content is kept: more than `most` bytes, unpacked, are an error.
    pub fn of_at_most(
        most: u64,
        sources: &[Source],
        form: &'static ExpectedContent,
    ) -> Result<Self> {
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        let pieces = sources.iter().map(Source::repeatable);
        Ok(Self { name: names.join(" + "), pieces: pieces.collect::<Result<_, _>>()?, form, most })
    }

    /// The file, or its pieces in order.
    pub fn pieces(&self) -> &[Source] {
        &self.pieces
    }

    /// The names of all pieces, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The concatenated pieces, without gzip, Zstandard or zip around them.
    pub fn open(&self) -> Result<Box<dyn Read + '_>> {
        let opened = self.pieces.iter().map(|piece| piece.open().map(|(_, reader)| reader));
        let pieces: Vec<Box<dyn Read>> = opened.collect::<Result<_, _>>()?;
        let joined = pieces.into_iter().rfold(Box::new(io::empty()) as Box<dyn Read>, join);
        let (head, reader) = peek(joined, MAGIC).map_err(|error| self.broken(error))?;
        match PackingFormat::of(&head) {
            Some(packing) => {
                if packing == PackingFormat::Zip && self.pieces.len() > 1 {
                    let found = "one in pieces".to_owned();
                    return Err(self.problem("a zip archive in one file", found));
                }
                let content = packing.reader(&self.pieces[0], reader)?;
                Ok(Box::new(BoundedReader { content, left: self.most }))
            }
            None => Ok(reader),
        }
    }

    /// Passes the content of the archive to `read`, and then reads to its end, to detect damage.
    pub fn with_content<T>(&self, read: impl FnOnce(&mut dyn Read) -> Result<T>) -> Result<T> {
        self.unpack(true, read)
    }

    /// The first bytes of the content, at most `count`.
    pub fn head(&self, count: u64) -> Result<Vec<u8>> {
        self.unpack(false, |content| {
            let mut head = Vec::new();
            content.take(count).read_to_end(&mut head).map_err(|error| self.broken(error))?;
            Ok(head)
        })
    }

    fn unpack<T>(
        &self,
        to_the_end: bool,
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
        let (head, reader) = peek(self.open()?, TAR_BLOCK).map_err(|error| self.broken(error))?;
        if head.is_empty() {
            let hint = "the file was probably cut short: fetch it again";
            let problem = problem!(&self.name, (self.form.what), "nothing", hint);
            return Err(problem.kind(ProblemKind::Empty).into());
        }
        if is_tar(&head) {
            return self.unpack_member(tar::Archive::new(reader), to_the_end, read);
        }
        let mut content = self.without_byte_order_mark(reader)?;
        let value = read(&mut content)?;
        if to_the_end {
            self.drain(content)?;
        }
        Ok(value)
    }

    /// Passes the only file in a tar archive to `read`. A second file is an error, because it would be
    /// ignored.
    fn unpack_member<'a, T>(
        &'a self,
        mut archive: tar::Archive<Box<dyn Read + 'a>>,
        to_the_end: bool,
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
        let mut read = Some(read);
        let mut value = None;
        for entry in archive.entries().map_err(|error| self.broken(error))? {
            let entry = entry.map_err(|error| self.broken(error))?;
            let path = entry.path_bytes().into_owned();
            if !entry.header().entry_type().is_file() || is_apple_double(&path) {
                continue;
            }
            let Some(read) = read.take() else {
                let expected =
                    format!("a tar archive with {} in it and nothing else", self.form.what);
                let found = format!("a second file, `{}`", String::from_utf8_lossy(&path));
                return Err(self.problem(&expected, found));
            };
            value = Some(read(&mut self.without_byte_order_mark(Box::new(entry))?)?);
            if !to_the_end {
                break;
            }
        }
        if to_the_end {
            self.drain(archive.into_inner())?;
        }
        value.ok_or_else(|| {
            let expected = format!("a tar archive with {} in it", self.form.what);
            self.problem(&expected, "no file in it".to_owned())
        })
    }

    fn without_byte_order_mark<'a>(
        &self,
        content: Box<dyn Read + 'a>,
    ) -> Result<Box<dyn Read + 'a>> {
        let (head, mut content) =
            peek(content, BYTE_ORDER_MARK.len()).map_err(|error| self.broken(error))?;
        if head == BYTE_ORDER_MARK {
            self.drain(content.by_ref().take(head.len() as u64))?;
        }
        Ok(content)
    }

    /// Reads the rest, so that a damaged end is detected by the checksum.
    fn drain(&self, mut rest: impl Read) -> Result<()> {
        io::copy(&mut rest, &mut io::sink()).map(drop).map_err(|error| self.broken(error))
    }

    /// The error of content that cannot be unpacked or read.
    pub fn broken(&self, error: io::Error) -> Error {
        if error.kind() == io::ErrorKind::FileTooLarge {
            let expected = format!("at most {} MiB, unpacked", self.most >> 20);
            return self.problem(&expected, "more".to_owned());
        }
        broken(&self.name, error)
    }

    /// A problem of the whole file.
    pub fn problem(&self, expected: &str, found: String) -> Error {
        let problem = Problem::at(&self.name, expected, found);
        problem.hint(self.form.hint).into()
    }

    pub fn form(&self) -> &'static ExpectedContent {
        self.form
    }
}

/// True if a file begins with a tar header. The magic alone is not enough: a binary file may
/// contain any text anywhere.
fn is_tar(head: &[u8]) -> bool {
    let Some(header) = head.first_chunk::<TAR_BLOCK>() else { return false };
    let (position, magic) = TAR_MAGIC;
    // In the sum, the checksum itself counts as blanks.
    let others = header[..TAR_CHECKSUM.start].iter().chain(&header[TAR_CHECKSUM.end..]);
    let sum: u32 = others
        .chain(&[b' '; TAR_CHECKSUM.end - TAR_CHECKSUM.start])
        .map(|&byte| u32::from(byte))
        .sum();
    header[position..].starts_with(magic)
        && tar::Header::from_byte_slice(header).cksum().is_ok_and(|stated| stated == sum)
}

/// True for the file of attributes that macOS adds before each file.
fn is_apple_double(path: &[u8]) -> bool {
    path.rsplit(|&byte| byte == b'/').next().is_some_and(|name| name.starts_with(b"._"))
}

/// The content of a packed file, up to a number of bytes.
struct BoundedReader<'a> {
    content: Box<dyn Read + 'a>,
    left: u64,
}

impl Read for BoundedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer)?;
        let Some(left) = self.left.checked_sub(count as u64) else {
            return Err(io::ErrorKind::FileTooLarge.into());
        };
        self.left = left;
        Ok(count)
    }
}

/// A reader of a piece and the following ones.
fn join<'a>(rest: Box<dyn Read + 'a>, piece: Box<dyn Read + 'a>) -> Box<dyn Read + 'a> {
    Box::new(piece.chain(rest))
}

/// The first bytes of a reader, and a reader of all of it.
fn peek<'a>(
    mut reader: Box<dyn Read + 'a>,
    count: usize,
) -> io::Result<(Vec<u8>, Box<dyn Read + 'a>)> {
    let mut head = Vec::new();
    reader.by_ref().take(count as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(io::Cursor::new(head).chain(reader))))
}
