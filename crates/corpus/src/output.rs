//! How is a file written so that nobody ever sees half of it?
//!
//! Everything goes to a temporary file beside the target, is flushed to the disk, and then takes the target's
//! name in one step. A full disk, an error or a kill leaves whatever stood there before.

use crate::problem::Error;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where something is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A file; a name that ends in `.gz` is compressed.
    Path(PathBuf),
    /// Standard output, written `-` on the command line.
    Stdout,
}

impl Target {
    /// `-` is standard output, everything else a path.
    pub fn new(path: impl AsRef<Path>) -> Self {
        if path.as_ref().as_os_str() == "-" { Self::Stdout } else { Self::Path(path.as_ref().to_owned()) }
    }

    /// Writes through `fill`, atomically where the target is a file.
    pub fn write(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        match self {
            Self::Path(path) => write_atomically(path, fill),
            Self::Stdout => {
                let mut out = BufWriter::new(io::stdout().lock());
                fill(&mut out).and_then(|()| out.flush()).map_err(|source| Error::Io {
                    action: "write",
                    path: PathBuf::from("<stdout>"),
                    source,
                })
            }
        }
    }
}

/// Replaces `path` by what `fill` writes, or leaves it untouched. A name that ends in `.gz` is compressed.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    replace(path, fill).map_err(|source| Error::Io { action: "write", path: path.to_owned(), source })
}

fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "a directory has that name"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let file = temporary_beside(folder, path)?;
    let mut out = BufWriter::new(file);
    if path.extension() == Some(OsStr::new("gz")) {
        // The header carries no time stamp: the same content gives the same bytes.
        let mut packed = GzEncoder::new(&mut out, Compression::default());
        fill(&mut packed)?;
        packed.finish()?;
    } else {
        fill(&mut out)?;
    }
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn temporary_beside(folder: &Path, path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Temporary files are private by default; a run file is as readable as the user's umask says.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.run");
        fs::write(&path, "old").unwrap();
        let error = write_atomically(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        })
        .unwrap_err();
        assert!(error.to_string().contains("cannot write"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn gz_names_are_compressed_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/a.run.gz");
        write_atomically(&path, |out| out.write_all(b"text\n")).unwrap();
        assert!(fs::read(&path).unwrap().starts_with(&[0x1f, 0x8b]));
        assert_eq!(&*Source::new(&path).read().unwrap().bytes, b"text\n");
    }
}
