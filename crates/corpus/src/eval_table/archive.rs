//! Where is an evaluation table, and what is it packed in?

use super::EvalTable;
use super::fold::Tables;
use crate::collection::DataDir;
use crate::pickle::{PickleError, PickleErrorKind, Plan, fold};
use crate::problem::{Error, Location, Problem, ProblemKind};
use crate::source::Source;
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

/// What every message about an unreadable table is filed under.
pub(super) const UNREADABLE: ProblemKind = ProblemKind::EvalTable;

/// The file of the table `stem` in a data folder, or its pieces; `None` where it has neither.
pub fn locate(data: &DataDir, stem: &str) -> Option<Vec<Source>> {
    let packed = format!("{stem}.pkl.tar.gz");
    if let Some(source) = data.file(&format!("{stem}.pkl")).or_else(|| data.file(&packed)) {
        return Some(vec![source]);
    }
    // The names that the command `split` gives to pieces.
    let letters = || 'a'..='z';
    let suffixes = letters().flat_map(|first| letters().map(move |second| format!("{first}{second}")));
    let pieces: Vec<Source> = suffixes.map_while(|suffix| data.file(&format!("{packed}.{suffix}"))).collect();
    (!pieces.is_empty()).then_some(pieces)
}

pub(super) fn missing(data: &DataDir, stem: &str) -> Error {
    let expected = format!("`{stem}.pkl`, `.pkl.gz`, `.pkl.tar.gz`, or its pieces `.pkl.tar.gz.aa`, `.ab`, …");
    Problem::new(Location::file(data.to_string()), ProblemKind::MissingFile, expected, "none of them")
        .hint("`clariq data fetch` downloads the released tables; not every split has one")
        .into()
}

/// The bytes of a table, which can be read more than once.
pub(super) struct Archive {
    name: String,
    pieces: Vec<Piece>,
}

enum Piece {
    Path(PathBuf),
    Bytes(Cow<'static, [u8]>),
}

impl Archive {
    pub(super) fn new(sources: &[Source]) -> Result<Self, Error> {
        let names: Vec<String> = sources.iter().map(Source::name).collect();
        let pieces = sources.iter().map(|source| match source {
            Source::Path(path) => Ok(Piece::Path(path.clone())),
            Source::Embedded { bytes, .. } => Ok(Piece::Bytes(Cow::Borrowed(*bytes))),
            Source::Memory { bytes, .. } => Ok(Piece::Bytes(Cow::Owned(bytes.to_vec()))),
            Source::Stdin => source.read().map(|input| Piece::Bytes(input.bytes)),
        });
        Ok(Self { name: names.join(" + "), pieces: pieces.collect::<Result<_, _>>()? })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// All pieces behind each other, without gzip around them.
    pub(super) fn open(&self) -> Result<Box<dyn Read + '_>, Error> {
        let opened: Vec<Box<dyn Read + '_>> = self.pieces.iter().map(Piece::open).collect::<Result<_, _>>()?;
        let mut pieces = opened.into_iter();
        let joined = Box::new(Joined { current: pieces.next(), pieces });
        let (head, reader) = peek(joined, GZIP_MAGIC.len() as u64).map_err(|error| self.broken(error))?;
        Ok(if head == GZIP_MAGIC { Box::new(MultiGzDecoder::new(reader)) } else { reader })
    }

    /// Gives the pickle in the archive to `read`.
    fn with_pickle<T>(&self, read: impl FnOnce(&mut dyn Read) -> Result<T, Error>) -> Result<T, Error> {
        let (head, mut reader) = peek(self.open()?, TAR_BLOCK as u64).map_err(|error| self.broken(error))?;
        if head.is_empty() {
            return Err(Problem::new(Location::file(&self.name), ProblemKind::Empty, "an evaluation table", "nothing")
                .hint("the file was cut short: fetch it again")
                .into());
        }
        if !is_tar(&head) {
            let value = read(&mut reader)?;
            self.drain(reader)?;
            return Ok(value);
        }
        let mut archive = tar::Archive::new(reader);
        let value = self.member(&mut archive, read)?;
        self.drain(archive.into_inner())?;
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
        Err(self.problem("a tar archive with a pickle in it", "no file in it".to_owned()))
    }

    /// Reads what follows the pickle, so that a damaged end shows in the checksum.
    fn drain(&self, mut rest: impl Read) -> Result<(), Error> {
        io::copy(&mut rest, &mut io::sink()).map(drop).map_err(|error| self.broken(error))
    }

    /// An error of the bytes: damage, unless the operating system refused.
    pub(super) fn broken(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::Other => {
                Problem::new(Location::file(&self.name), ProblemKind::Archive, "a whole archive", error.to_string())
                    .hint("the file is cut short or damaged, or a piece of it is missing: fetch it again")
                    .into()
            }
            _ => Error::Io { action: "read", path: PathBuf::from(&self.name), source: error },
        }
    }

    fn problem(&self, expected: &str, found: String) -> Error {
        Problem::new(Location::file(&self.name), UNREADABLE, expected, found)
            .hint("a table is `{metric: {context: {question: {\"with_answer\": figure}}}}`, written by Python's pickle")
            .into()
    }

    fn unreadable(&self, error: PickleError) -> Error {
        let found = error.to_string();
        match error.kind {
            PickleErrorKind::Io(error) => self.broken(error),
            PickleErrorKind::Global { .. } => {
                Problem::new(Location::file(&self.name), UNREADABLE, "text, numbers and dictionaries only", found)
                    .hint("nothing in the file was run; if you trust it, save it again from Python with plain floats")
                    .into()
            }
            _ => self.problem("an evaluation table", found),
        }
    }
}

/// Whether a file begins with a tar header. The magic alone will not do: a pickle may hold any text anywhere.
fn is_tar(head: &[u8]) -> bool {
    let Some(header) = head.first_chunk::<TAR_BLOCK>() else { return false };
    let (place, magic) = TAR_MAGIC;
    // The checksum counts itself as blanks.
    let others = header[..TAR_CHECKSUM.start].iter().chain(&header[TAR_CHECKSUM.end..]);
    let sum: u32 = others.chain(&[b' '; TAR_CHECKSUM.end - TAR_CHECKSUM.start]).map(|&byte| u32::from(byte)).sum();
    header[place..].starts_with(magic) && tar::Header::from_byte_slice(header).cksum().is_ok_and(|stated| stated == sum)
}

/// macOS puts a file of attributes in front of each real one.
fn is_apple_double(path: &[u8]) -> bool {
    path.rsplit(|&byte| byte == b'/').next().is_some_and(|name| name.starts_with(b"._"))
}

/// Reads the table in an archive.
pub(super) fn read(archive: &Archive) -> Result<EvalTable, Error> {
    let plan = archive.with_pickle(|reader| Plan::scan(reader).map_err(|error| archive.unreadable(error)))?;
    let mut tables = Tables::default();
    let whole =
        archive.with_pickle(|reader| fold(reader, &plan, &mut tables).map_err(|error| archive.unreadable(error)))?;
    tables.finish(whole).map_err(|found| archive.problem("an evaluation table", found))
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
    let at = || Location::file(path.display().to_string());
    if path.is_dir() {
        return Err(Problem::new(at(), ProblemKind::Directory, "a file", "a directory")
            .hint("name the file inside it")
            .into());
    }
    File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Problem::new(at(), ProblemKind::MissingFile, "a file", "nothing at that path")
            .hint("check the path; `clariq doctor` lists the data that can be found")
            .into(),
        _ => Error::Io { action: "read", path: path.to_owned(), source },
    })
}

/// The first bytes of a reader, and a reader of all of it.
fn peek<'a>(mut reader: Box<dyn Read + 'a>, count: u64) -> io::Result<(Vec<u8>, Box<dyn Read + 'a>)> {
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
