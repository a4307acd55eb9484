//! Where do bytes come from: a path, standard input, memory, or a file inside the program?

use clariq_core::{Error, Location, Problem, ProblemKind};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The two bytes that every gzip file begins with (RFC 1952).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Something that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file; gzip is recognised by its content, not its name.
    Path(PathBuf),
    /// Standard input, written `-` on the command line.
    Stdin,
    /// A file that is part of the program.
    Embedded {
        /// The name shown in messages.
        name: &'static str,
        /// Its content.
        bytes: &'static [u8],
    },
    /// Bytes that the program has already: made by it, or received from somewhere else than a file.
    Memory {
        /// The name shown in messages.
        name: String,
        /// The content; packed is as good as plain.
        bytes: Arc<[u8]>,
    },
}

/// The whole content of a source, unpacked.
#[derive(Debug, Clone)]
pub struct Input {
    /// The source's name, for messages.
    pub name: String,
    /// Its bytes, without a byte order mark.
    pub bytes: Cow<'static, [u8]>,
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

    /// Bytes in memory, under the name that messages are to show.
    ///
    /// ```
    /// use clariq_files::{Source, read_run};
    ///
    /// let run = read_run(&Source::memory("answer", *b"101 0 Q00697 1 12.5 mine\n"))?;
    /// assert_eq!(run.lines[0].score, 12.5);
    /// assert!(read_run(&Source::memory("answer", *b"101 0\n")).unwrap_err().to_string().starts_with("answer:1: "));
    /// # Ok::<(), clariq_core::Error>(())
    /// ```
    pub fn memory(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self::Memory { name: name.into(), bytes: bytes.into() }
    }

    /// The name shown in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stdin => "<stdin>".to_owned(),
            Self::Embedded { name, .. } => (*name).to_owned(),
            Self::Memory { name, .. } => name.clone(),
        }
    }

    /// Reads everything, unpacking gzip and dropping a byte order mark.
    pub fn read(&self) -> Result<Input, Error> {
        let name = self.name();
        let raw = match self {
            Self::Embedded { bytes, .. } => Cow::Borrowed(*bytes),
            Self::Memory { bytes, .. } => Cow::Owned(bytes.to_vec()),
            Self::Path(path) => Cow::Owned(read_file(path)?),
            Self::Stdin => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes).map_err(|source| Error::Io {
                    action: "read",
                    path: PathBuf::from(&name),
                    source,
                })?;
                Cow::Owned(bytes)
            }
        };
        let bytes =
            if raw.starts_with(&GZIP_MAGIC) { Cow::Owned(gunzip(&name, &raw)?) } else { raw };
        Ok(Input { name, bytes: without_byte_order_mark(bytes) })
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    crate::protect(path);
    let at = || Location::file(path.display().to_string());
    fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => {
            Problem::new(at(), ProblemKind::MissingFile, "a file", "nothing at that path")
                .hint("check the path; `clariq doctor` lists the data that can be found")
                .into()
        }
        io::ErrorKind::IsADirectory => {
            Problem::new(at(), ProblemKind::Directory, "a file", "a directory")
                .hint("name the file inside it")
                .into()
        }
        _ => Error::Io { action: "read", path: path.to_owned(), source },
    })
}

fn gunzip(name: &str, packed: &[u8]) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(packed.len().saturating_mul(4));
    MultiGzDecoder::new(packed).read_to_end(&mut bytes).map_err(|error| {
        Problem::new(
            Location::file(name),
            ProblemKind::Archive,
            "a whole gzip file",
            error.to_string(),
        )
        .hint("the file is cut short or damaged: fetch or compress it again")
    })?;
    Ok(bytes)
}

fn without_byte_order_mark(bytes: Cow<'static, [u8]>) -> Cow<'static, [u8]> {
    if !bytes.starts_with(BYTE_ORDER_MARK) {
        return bytes;
    }
    match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[BYTE_ORDER_MARK.len()..]),
        Cow::Owned(mut bytes) => {
            bytes.drain(..BYTE_ORDER_MARK.len());
            Cow::Owned(bytes)
        }
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

    #[test]
    fn gzip_and_byte_order_mark_are_seen_through() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packed.tsv");
        fs::write(&path, gzip(b"\xef\xbb\xbfa\tb\n")).unwrap();
        assert_eq!(&*Source::new(&path).read().unwrap().bytes, b"a\tb\n");
    }

    #[test]
    fn a_cut_gzip_file_is_a_problem_and_not_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.gz");
        let whole = gzip(&vec![b'x'; 10_000]);
        fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let error = Source::new(&path).read().unwrap_err();
        assert!(
            matches!(&error, Error::Problem(problem) if problem.kind == ProblemKind::Archive),
            "{error}"
        );
    }
}
