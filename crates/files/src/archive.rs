//! What is a large file packed in? Plain, gzip, tar, both, or in pieces: its content as a stream.

use crate::source::Source;
use clariq_core::{Error, Location, Problem, ProblemKind};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::vec;

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";
/// Where a tar header says that it is one, and where its checksum stands (POSIX.1-2001, pax).
const TAR_MAGIC: (usize, &[u8]) = (257, b"ustar");
const TAR_CHECKSUM: Range<usize> = 148..156;
const TAR_BLOCK: usize = 512;

/// What the content should be, for messages.
#[derive(Debug)]
pub struct Form {
    /// What a message about content of another form is filed under.
    pub kind: ProblemKind,
    /// What is expected, with its article.
    pub what: &'static str,
    /// How it is written.
    pub hint: &'static str,
}

/// The bytes of a file or of its pieces, which can be read more than once.
pub struct Archive {
    name: String,
    pieces: Vec<Piece>,
    form: &'static Form,
}

enum Piece {
    Path(PathBuf),
    Bytes(Cow<'static, [u8]>),
}

impl Archive {
    /// Opens the pieces of one file; `form` says what it should hold, for messages.
    pub fn new(sources: &[Source], form: &'static Form) -> Result<Self, Error> {
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        let pieces = sources.iter().map(|source| match source {
            Source::Path(path) => Ok(Piece::Path(path.clone())),
            Source::Embedded { bytes, .. } => Ok(Piece::Bytes(Cow::Borrowed(*bytes))),
            Source::Memory { bytes, .. } => Ok(Piece::Bytes(Cow::Owned(bytes.to_vec()))),
            Source::Stdin => source.read().map(|input| Piece::Bytes(input.bytes)),
        });
        Ok(Self { name: names.join(" + "), pieces: pieces.collect::<Result<_, _>>()?, form })
    }

    /// The names of all pieces, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All pieces behind each other, without gzip around them.
    pub fn open(&self) -> Result<Box<dyn Read + '_>, Error> {
        let opened: Vec<Box<dyn Read + '_>> =
            self.pieces.iter().map(Piece::open).collect::<Result<_, _>>()?;
        let mut pieces = opened.into_iter();
        let joined = Box::new(Joined { current: pieces.next(), pieces });
        let (head, reader) =
            peek(joined, GZIP_MAGIC.len() as u64).map_err(|error| self.broken(error))?;
        Ok(if head == GZIP_MAGIC { Box::new(MultiGzDecoder::new(reader)) } else { reader })
    }

    /// Gives the content of the archive to `read`, and reads on to its end, where damage would show.
    pub fn with_content<T>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.unpack(read, |rest| self.drain(rest))
    }

    /// The first bytes of the content, as many as there are.
    pub fn head(&self, count: u64) -> Result<Vec<u8>, Error> {
        let read = |content: &mut dyn Read| {
            let mut head = Vec::new();
            content.take(count).read_to_end(&mut head).map_err(|error| self.broken(error))?;
            Ok(head)
        };
        self.unpack(read, |_| Ok(()))
    }

    fn unpack<T>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> Result<T, Error>,
        end: impl FnOnce(Box<dyn Read + '_>) -> Result<(), Error>,
    ) -> Result<T, Error> {
        let (head, mut reader) =
            peek(self.open()?, TAR_BLOCK as u64).map_err(|error| self.broken(error))?;
        if head.is_empty() {
            return Err(Problem::new(
                Location::file(&self.name),
                ProblemKind::Empty,
                self.form.what,
                "nothing",
            )
            .hint("the file was probably cut short: fetch it again")
            .into());
        }
        if !is_tar(&head) {
            let value = read(&mut reader)?;
            end(reader)?;
            return Ok(value);
        }
        let mut archive = tar::Archive::new(reader);
        let value = self.member(&mut archive, read)?;
        end(archive.into_inner())?;
        Ok(value)
    }

    /// Gives the first file in a tar archive to `read`.
    fn member<T>(
        &self,
        archive: &mut tar::Archive<Box<dyn Read + '_>>,
        read: impl FnOnce(&mut dyn Read) -> Result<T, Error>,
    ) -> Result<T, Error> {
        for entry in archive.entries().map_err(|error| self.broken(error))? {
            let mut entry = entry.map_err(|error| self.broken(error))?;
            if entry.header().entry_type().is_file() && !is_apple_double(&entry.path_bytes()) {
                return read(&mut entry);
            }
        }
        Err(self.problem(
            &format!("a tar archive with {} in it", self.form.what),
            "no file in it".to_owned(),
        ))
    }

    /// Reads what follows the pickle, so that a damaged end shows in the checksum.
    fn drain(&self, mut rest: impl Read) -> Result<(), Error> {
        io::copy(&mut rest, &mut io::sink()).map(drop).map_err(|error| self.broken(error))
    }

    /// An error of the bytes: damage, unless the operating system refused.
    pub fn broken(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::Other => Problem::new(
                Location::file(&self.name),
                ProblemKind::Archive,
                "a whole archive",
                error.to_string(),
            )
            .hint("the file is cut short or damaged, or a piece of it is missing: fetch it again")
            .into(),
            _ => Error::Io { action: "read", path: PathBuf::from(&self.name), source: error },
        }
    }

    /// A problem of the whole file.
    pub fn problem(&self, expected: &str, found: String) -> Error {
        Problem::new(Location::file(&self.name), self.form.kind, expected, found)
            .hint(self.form.hint)
            .into()
    }

    /// What the content should be.
    pub fn form(&self) -> &'static Form {
        self.form
    }
}

/// Whether a file begins with a tar header. The magic alone will not do: a pickle may hold any text anywhere.
fn is_tar(head: &[u8]) -> bool {
    let Some(header) = head.first_chunk::<TAR_BLOCK>() else { return false };
    let (place, magic) = TAR_MAGIC;
    // The checksum counts itself as blanks.
    let others = header[..TAR_CHECKSUM.start].iter().chain(&header[TAR_CHECKSUM.end..]);
    let sum: u32 = others
        .chain(&[b' '; TAR_CHECKSUM.end - TAR_CHECKSUM.start])
        .map(|&byte| u32::from(byte))
        .sum();
    header[place..].starts_with(magic)
        && tar::Header::from_byte_slice(header).cksum().is_ok_and(|stated| stated == sum)
}

/// macOS puts a file of attributes in front of each real one.
fn is_apple_double(path: &[u8]) -> bool {
    path.rsplit(|&byte| byte == b'/').next().is_some_and(|name| name.starts_with(b"._"))
}

impl Piece {
    fn open(&self) -> Result<Box<dyn Read + '_>, Error> {
        match self {
            Self::Bytes(bytes) => Ok(Box::new(&**bytes)),
            Self::Path(path) => open_file(path).map(|file| Box::new(file) as Box<dyn Read>),
        }
    }
}

fn open_file(path: &Path) -> Result<File, Error> {
    crate::protect(path);
    let at = || Location::file(path.display().to_string());
    if path.is_dir() {
        return Err(Problem::new(at(), ProblemKind::Directory, "a file", "a directory")
            .hint("name the file inside it")
            .into());
    }
    File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => {
            Problem::new(at(), ProblemKind::MissingFile, "a file", "nothing at that path")
                .hint("check the path; `clariq doctor` lists the data that can be found")
                .into()
        }
        _ => Error::Io { action: "read", path: path.to_owned(), source },
    })
}

/// The first bytes of a reader, and a reader of all of it.
fn peek<'a>(
    mut reader: Box<dyn Read + 'a>,
    count: u64,
) -> io::Result<(Vec<u8>, Box<dyn Read + 'a>)> {
    let mut head = Vec::new();
    reader.by_ref().take(count).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(io::Cursor::new(head).chain(reader))))
}

/// Readers behind each other.
struct Joined<'a> {
    current: Option<Box<dyn Read + 'a>>,
    pieces: vec::IntoIter<Box<dyn Read + 'a>>,
}

impl Read for Joined<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(current) = &mut self.current {
            match current.read(buffer)? {
                0 if !buffer.is_empty() => self.current = self.pieces.next(),
                count => return Ok(count),
            }
        }
        Ok(0)
    }
}
