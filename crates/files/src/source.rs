//! Sources of bytes: a path, standard input, or memory.

use crate::text::into_text;
use crate::zipped::{ZIP_MAGIC, ZippedFile};
use clariq_core::{
    Checksum, Error, IoAction, Problem, ProblemKind, Result, bail, open_regular, problem,
};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The two bytes that every gzip file begins with (RFC 1952).
pub(crate) const GZIP_MAGIC: &[u8] = b"\x1f\x8b";
/// The first bytes of a frame of Zstandard (RFC 8878).
const ZSTD_MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";
/// Number of bytes that show how a file is packed.
pub(crate) const MAGIC: usize = ZSTD_MAGIC.len();

/// The maximum size of a configuration, unpacked: a thousand times the usual size.
pub const MOST_OF_A_CONFIGURATION: u64 = 1 << 20;
/// The maximum size of a table, a need file or judgements, unpacked. The largest released file has 2.4
/// million bytes.
pub const MOST_OF_A_TABLE: u64 = 64 << 20;
/// The maximum size of a run, unpacked: a thousand documents for each of seven thousand topics.
pub const MOST_OF_A_RUN: u64 = 384 << 20;

/// The maximum size of standard input that is read into memory.
const MOST_OF_STDIN: u64 = 1 << 30;

/// A source of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file; gzip, Zstandard and zip are recognised by its content, not its name.
    Path(PathBuf),
    /// Standard input, written `-` on the command line.
    Stdin,
    /// Bytes in memory.
    Memory {
        /// The name shown in messages.
        name: String,
        /// The content, plain or packed.
        bytes: Arc<[u8]>,
    },
}

/// The whole content of a file of text, unpacked.
#[derive(Debug, Clone)]
pub struct FileContent {
    /// The source's name, for messages.
    pub name: String,
    /// Its bytes, without a byte order mark. Lines end with LF, whatever they end with in the file.
    pub bytes: Cow<'static, [u8]>,
}

impl FileContent {
    /// A text that was read elsewhere, by the rules of [`Source::read_at_most`].
    pub fn of_text(name: &str, bytes: Vec<u8>) -> Result<Self> {
        Ok(Self { name: name.to_owned(), bytes: into_text(name, bytes)?.into() })
    }

    /// The lines that are not blank, without ASCII white space around them, and their numbers.
    pub fn filled_lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let lines = self.bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        (1..).zip(lines).filter(|(_, line)| !line.is_empty())
    }
}

impl Source {
    /// `-` is standard input, everything else a path.
    pub fn new(path: impl AsRef<Path>) -> Self {
        if path.as_ref().as_os_str() == "-" {
            Self::Stdin
        } else {
            Self::Path(path.as_ref().to_owned())
        }
    }

    /// Bytes in memory with a name for messages.
    pub fn memory(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self::Memory { name: name.into(), bytes: bytes.into() }
    }

    /// The name shown in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stdin => "<stdin>".to_owned(),
            Self::Memory { name, .. } => name.clone(),
        }
    }

    /// A source that can be read more than once: standard input is read into memory.
    pub fn repeatable(&self) -> Result<Self> {
        if *self != Self::Stdin {
            return Ok(self.clone());
        }
        let name = self.name();
        let bytes = into_memory(&name, stdin()?)?;
        Ok(Self::memory(name, bytes))
    }

    /// The SHA-256 of the bytes, without unpacking them.
    pub fn checksum(&self) -> Result<Checksum> {
        Checksum::of_stream(self.open()?.1).map_err(Error::io(IoAction::Read, self.name()))
    }

    /// Reads a file of text of at most [`MOST_OF_A_RUN`], as [`read_at_most`](Self::read_at_most).
    pub fn read(&self) -> Result<FileContent> {
        self.read_at_most(MOST_OF_A_RUN)
    }

    /// Reads a file of text: unpacks it, drops a byte order mark, and turns every end of a line into
    /// LF. UTF-16 and NUL are errors. A source that holds more than `most` bytes is an error before
    /// it fills the memory, however small it is packed.
    pub fn read_at_most(&self, most: u64) -> Result<FileContent> {
        let name = self.name();
        let bytes = into_text(&name, self.unpack(&name, most)?)?.into();
        Ok(FileContent { name, bytes })
    }

    /// Reads all bytes, unpacked and otherwise as they are; at most `most`.
    pub fn read_bytes(&self, most: u64) -> Result<Vec<u8>> {
        self.unpack(&self.name(), most)
    }

    fn unpack(&self, name: &str, most: u64) -> Result<Vec<u8>> {
        let refused = Error::io(IoAction::Read, name);
        let (size, mut raw) = self.open()?;
        // One byte more than the size, so that the end is read without growing.
        let mut bytes = Vec::with_capacity(size.min(most) as usize + 1);
        raw.by_ref().take(MAGIC as u64).read_to_end(&mut bytes).map_err(&refused)?;
        if let Some(packing) = PackingFormat::of(&bytes) {
            let packed = Box::new(Cursor::new(std::mem::take(&mut bytes)).chain(raw));
            let unpacked = packing.reader(self, packed)?;
            unpacked.take(most + 1).read_to_end(&mut bytes).map_err(|error| broken(name, error))?;
        } else {
            raw.take(most + 1 - bytes.len() as u64).read_to_end(&mut bytes).map_err(refused)?;
        }
        if bytes.len() as u64 > most {
            let hint = "is this the right file? files of this kind are much smaller";
            bail!(name, (format!("at most {} MiB, unpacked", most >> 20)), "more", hint);
        }
        Ok(bytes)
    }

    /// The content as a stream, without gzip, Zstandard or zip around it, for files that do not fit into
    /// memory. A byte order mark is not removed.
    pub fn stream(&self) -> Result<Box<dyn BufRead + '_>> {
        let (_, raw) = self.open()?;
        let mut raw = BufReader::with_capacity(1 << 16, raw);
        let refused = Error::io(IoAction::Read, self.name());
        Ok(match PackingFormat::of(raw.fill_buf().map_err(&refused)?) {
            Some(packing) => Box::new(BufReader::new(packing.reader(self, Box::new(raw))?)),
            None => Box::new(raw),
        })
    }

    /// The bytes of the file, and their number if it is known (otherwise 0).
    pub(crate) fn open(&self) -> Result<(u64, Box<dyn Read + '_>)> {
        Ok(match self {
            Self::Path(path) => {
                let file = open_file(path)?;
                let size = file.metadata().map_or(0, |metadata| metadata.len());
                (size, Box::new(file))
            }
            Self::Stdin => (0, Box::new(stdin()?)),
            Self::Memory { bytes, .. } => (bytes.len() as u64, Box::new(&**bytes)),
        })
    }
}

/// Standard input. It can be read once: a second reader would find nothing, or what is left.
pub fn stdin() -> Result<io::StdinLock<'static>> {
    static IS_READ: AtomicBool = AtomicBool::new(false);
    if IS_READ.swap(true, Ordering::Relaxed) {
        let hint = "write one of the inputs to a file, and name it in place of `-`";
        bail!("-", "standard input for one of the inputs", "for two of them", hint);
    }
    Ok(io::stdin().lock())
}

/// A format of packed files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PackingFormat {
    Gzip,
    Zstandard,
    Zip,
}

impl PackingFormat {
    /// The format of a file with these first bytes; `None` for a plain one.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            _ if head.starts_with(GZIP_MAGIC) => Some(Self::Gzip),
            _ if head.starts_with(ZSTD_MAGIC) => Some(Self::Zstandard),
            _ if ZIP_MAGIC.iter().any(|magic| head.starts_with(magic)) => Some(Self::Zip),
            _ => None,
        }
    }

    /// The content of a source with these bytes, of any number of members or frames, or of the only
    /// file in a zip archive.
    pub(crate) fn reader<'a>(
        self,
        source: &'a Source,
        bytes: Box<dyn Read + 'a>,
    ) -> Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(bytes)),
            Self::Zstandard => {
                let decoder = zstd::Decoder::new(bytes);
                Box::new(decoder.map_err(|error| broken(&source.name(), error))?)
            }
            Self::Zip => zipped(source, bytes)?.unpack(),
        })
    }
}

/// The only file in a zip archive. `rest` are the bytes of standard input, which cannot be read again.
fn zipped(source: &Source, rest: impl Read) -> Result<ZippedFile<'_>> {
    let name = source.name();
    match source {
        Source::Path(path) => ZippedFile::find(&name, open_file(path)?),
        Source::Memory { bytes, .. } => ZippedFile::find(&name, Cursor::new(&**bytes)),
        Source::Stdin => ZippedFile::find(&name, Cursor::new(into_memory(&name, rest)?)),
    }
}

/// Reads standard input.
fn into_memory(name: &str, input: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = input.take(MOST_OF_STDIN + 1).read_to_end(&mut bytes);
    read.map_err(Error::io(IoAction::Read, name))?;
    if bytes.len() as u64 > MOST_OF_STDIN {
        let expected = format!("at most {} MiB", MOST_OF_STDIN >> 20);
        bail!(name, expected, "more", "write them to a file, and name it in place of `-`");
    }
    Ok(bytes)
}

/// Opens a file for reading, and counts it among the inputs.
fn open_file(path: &Path) -> Result<File> {
    let file = open_regular(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => missing_file(path).into(),
        io::ErrorKind::InvalidInput if path.is_dir() => {
            let hint = crate::nearby::inside(path);
            problem!(path, "a file", "a directory", hint).into()
        }
        io::ErrorKind::InvalidInput => {
            let hint =
                "name a file; what another command writes is read from standard input, as `-`";
            problem!(path, "a regular file", "a pipe, a device or a socket", hint).into()
        }
        _ => Error::io(IoAction::Read, path)(source),
    })?;
    crate::protect(path);
    Ok(file)
}

fn missing_file(path: &Path) -> Problem {
    let dangling = fs::symlink_metadata(path).is_ok();
    let found = if dangling { "a link to nothing" } else { "nothing at that path" };
    let hint = crate::nearby::hint(path);
    problem!(path, "a file", found, hint).kind(ProblemKind::MissingFile)
}

/// The error of a stream that cannot be read: a damaged archive, unless the operating system
/// refused.
pub(crate) fn broken(name: &str, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::InvalidData
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::UnexpectedEof
        | io::ErrorKind::Other => problem!(
            name,
            "a whole archive",
            "{error}",
            "the file is cut short or damaged, or a piece of it is missing: fetch it again"
        )
        .into(),
        _ => Error::io(IoAction::Read, name)(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn expected(result: Result<FileContent>) -> String {
        result.unwrap_err().to_problem().expected
    }

    #[test]
    fn gzip_is_unpacked_and_a_byte_order_mark_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packed.tsv");
        fs::write(&path, gzip(b"\xef\xbb\xbfa\tb\n")).unwrap();
        assert_eq!(&*Source::new(&path).read().unwrap().bytes, b"a\tb\n");
    }

    #[test]
    fn zstandard_is_unpacked_frame_by_frame_and_a_cut_one_is_a_problem() {
        let frame = |text: &[u8]| zstd::encode_all(text, 1).unwrap();
        let bytes = [frame(b"a\n"), frame(b"b\n")].concat();
        let source = Source::memory("x", bytes.clone());
        assert_eq!(&*source.read().unwrap().bytes, b"a\nb\n");
        let mut streamed = String::new();
        source.stream().unwrap().read_to_string(&mut streamed).unwrap();
        assert_eq!(streamed, "a\nb\n");
        let cut = Source::memory("x", &bytes[..bytes.len() - 3]);
        assert_eq!(expected(cut.read()), "a whole archive");
        let bomb = Source::memory("x", frame(&vec![0; 4 << 20]));
        assert_eq!(expected(bomb.read_at_most(1 << 20)), "at most 1 MiB, unpacked");
    }

    #[test]
    fn a_truncated_gzip_file_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.gz");
        let whole = gzip(&vec![b'x'; 10_000]);
        fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        assert_eq!(expected(Source::new(&path).read()), "a whole archive");
    }

    #[test]
    fn sizes_are_bounded_packed_or_not() {
        for bytes in [vec![b'x'; 1000], gzip(&vec![b'x'; 1000])] {
            let source = Source::memory("x", bytes);
            assert_eq!(source.read_at_most(1000).unwrap().bytes.len(), 1000);
            assert_eq!(expected(source.read_at_most(999)), "at most 0 MiB, unpacked");
        }
    }

    #[test]
    fn short_and_empty_sources_are_read() {
        for bytes in [&b""[..], b"x", b"\x1f"] {
            assert_eq!(&*Source::memory("x", bytes).read().unwrap().bytes, bytes);
        }
    }

    #[test]
    fn a_fifo_is_refused_without_waiting_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        assert_eq!(expected(Source::new(&path).read()), "a regular file");
        assert_eq!(expected(Source::new("/dev/zero").read()), "a regular file");
    }

    #[test]
    fn a_dangling_link_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        let error = Source::new(&path).read().unwrap_err().to_string();
        assert!(error.contains("a link to nothing"), "{error}");
    }
}
