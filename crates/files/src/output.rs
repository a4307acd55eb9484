//! How is a file written so that nobody ever sees half of it?
//!
//! Everything goes to a temporary file beside the target, is flushed to the disk, and then takes the target's
//! name in one step. A full disk, an error or a kill leaves whatever stood there before.

use crate::source::Source;
use clariq_core::Error;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
        if path.as_ref().as_os_str() == "-" {
            Self::Stdout
        } else {
            Self::Path(path.as_ref().to_owned())
        }
    }

    /// Whether what is written goes by and stands nowhere afterwards: standard output, a device or a pipe.
    pub fn is_stream(&self) -> bool {
        match self {
            Self::Path(path) => is_stream(path),
            Self::Stdout => true,
        }
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
///
/// A symbolic link stays one, and what it points to is replaced. A device or a pipe is written to and stays what it is.
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    if is_stream(path) {
        return fs::File::options()
            .write(true)
            .open(path)
            .and_then(|file| fill_file(file, path, fill))
            .map(drop)
            .map_err(cannot_write(path));
    }
    Staged::new(path, fill)?.commit()
}

/// A file that is complete on the disk and does not have its name yet. Files that belong together are all staged before
/// the first of them is committed, so that a full disk replaces none of them. One that is dropped leaves no trace.
#[derive(Debug)]
pub struct Staged {
    file: tempfile::NamedTempFile,
    path: PathBuf,
}

impl Staged {
    /// Writes what is to stand at `path` to a temporary file beside it. A name that ends in `.gz` is compressed.
    pub fn new(
        path: &Path,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Self, Error> {
        Self::write(path, fill).map_err(cannot_write(path))
    }

    fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        if path.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "a directory has that name"));
        }
        let path = behind_link(path);
        let folder =
            path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let file = fill_file(temporary_beside(folder, &path)?, &path, fill)?;
        file.as_file().sync_all()?;
        Ok(Self { file, path })
    }

    /// Reads the complete content.
    pub fn source(&self) -> Source {
        Source::Path(self.file.path().to_owned())
    }

    /// Gives the file its name, in one step.
    pub fn commit(self) -> Result<(), Error> {
        let Self { file, path } = self;
        file.persist(&path).map(drop).map_err(|error| cannot_write(&path)(error.error))
    }
}

/// Whether something that is no file stands at `path`, such as `/dev/null` or a pipe of the shell.
fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Where a symbolic link leads, even if nothing is there yet.
fn behind_link(path: &Path) -> PathBuf {
    match (fs::canonicalize(path), fs::read_link(path)) {
        (Ok(real), Ok(_)) => real,
        (Err(_), Ok(link)) => path.parent().unwrap_or(Path::new("")).join(link),
        (_, Err(_)) => path.to_owned(),
    }
}

fn fill_file<W: Write>(
    file: W,
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<W> {
    let mut out = BufWriter::new(file);
    if path.extension() == Some(OsStr::new("gz")) {
        // The header carries no time stamp: the same content gives the same bytes.
        let mut packed = GzEncoder::new(&mut out, Compression::default());
        fill(&mut packed)?;
        packed.finish()?;
    } else {
        fill(&mut out)?;
    }
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

fn cannot_write(path: &Path) -> impl Fn(io::Error) -> Error {
    move |source| Error::Io { action: "write", path: path.to_owned(), source }
}

fn temporary_beside(folder: &Path, path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    remove_stale(folder, &prefix);
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

/// What a killed command left is nobody's after so long.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// How many letters `tempfile` puts between a prefix and a suffix.
const RANDOM: usize = 6;

/// Removes temporary files and folders `<prefix>??????.tmp` that commands left behind which were killed a day ago or
/// earlier. What cannot be removed stays, and harms nobody.
pub fn remove_stale(folder: &Path, prefix: &OsStr) {
    let of_prefix = |name: &OsStr| {
        let middle = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        middle
            .and_then(|rest| rest.strip_suffix(b".tmp"))
            .is_some_and(|random| random.len() == RANDOM)
    };
    let is_old = |entry: &fs::DirEntry| {
        let age =
            entry.metadata().and_then(|found| found.modified()).map(|changed| changed.elapsed());
        age.is_ok_and(|age| age.is_ok_and(|age| age > STALE))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if of_prefix(&entry.file_name()) && is_old(&entry) {
            let path = entry.path();
            // A link is removed as the link that it is.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_command_left_yesterday_goes_with_the_next_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let names =
            [".a.runAb12Cd.tmp", ".a.runEf34Gh.tmp", ".a.run.gzAb12Cd.tmp", "a.runAb12Cd.tmp"];
        for name in names {
            fs::write(path(name), "half").unwrap();
        }
        for name in names.iter().filter(|name| !name.contains("Ef34Gh")) {
            let file = fs::File::options().write(true).open(path(name)).unwrap();
            file.set_modified(std::time::SystemTime::now() - 2 * STALE).unwrap();
        }
        write_atomically(&path("a.run"), |out| out.write_all(b"new")).unwrap();
        let left: Vec<bool> = names.iter().map(|name| path(name).exists()).collect();
        assert_eq!(
            left,
            [false, true, true, true],
            "a young one may be in use, the others are not of this file"
        );
    }

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
    fn staged_files_stand_nowhere_until_they_are_committed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.run.gz");
        fs::write(&path, "old").unwrap();
        let staged = Staged::new(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(
            (&*staged.source().read().unwrap().bytes, &*fs::read(&path).unwrap()),
            (&b"new"[..], &b"old"[..])
        );
        staged.commit().unwrap();
        assert_eq!(&*Source::new(&path).read().unwrap().bytes, b"new");
        drop(Staged::new(&path, |out| out.write_all(b"never")).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_lead_to_what_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let (link, real) = (folder.path().join("link.run"), folder.path().join("real/a.run"));
        std::os::unix::fs::symlink("real/a.run", &link).unwrap();
        for text in ["first", "second"] {
            write_atomically(&link, |out| out.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&real).unwrap(), text);
            assert!(link.is_symlink());
        }
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
