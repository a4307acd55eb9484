//! Atomic output: a file is replaced by a whole one or not at all, and never if it is an input.
//!
//! Everything goes to a temporary file beside the target, is flushed to the disk, and then takes
//! the target's name in one step. After a full disk, an error or a kill, the old file is still
//! there.

use crate::identity::folder_of;
use crate::inputs::{refuse_replacing, unprotect};
use crate::source::Source;
use crate::temporary::{self, Temporary};
use clariq_core::{Error, IoAction, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The target of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A file; a name that ends in `.gz` or `.zst` is compressed.
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

    /// True for standard output, a device or a pipe.
    pub fn is_stream(&self) -> bool {
        match self {
            Self::Path(path) => is_stream(path),
            Self::Stdout => true,
        }
    }

    /// Opens standard output, a device or a pipe for writing.
    pub fn open_stream(&self) -> Result<Box<dyn Write>> {
        match self {
            Self::Path(path) => {
                let file = fs::File::options().write(true).open(path);
                let file = file.map_err(Error::io(IoAction::Write, path))?;
                Ok(Box::new(BufWriter::new(file)))
            }
            Self::Stdout => Ok(Box::new(BufWriter::new(io::stdout()))),
        }
    }

    /// The name shown in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stdout => "<stdout>".to_owned(),
        }
    }

    /// Writes through `fill`, atomically if the target is a file.
    pub fn write(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        match self {
            Self::Path(path) => write_atomically(path, fill),
            Self::Stdout => {
                let mut out = BufWriter::new(io::stdout().lock());
                fill(&mut out)
                    .and_then(|()| out.flush())
                    .map_err(Error::io(IoAction::Write, "<stdout>"))
            }
        }
    }
}

/// Replaces `path` by what `fill` writes, or leaves it untouched. A name that ends in `.gz` or
/// `.zst` is compressed.
///
/// The target of a symbolic link is replaced, and the link stays. A device or a pipe is written to
/// directly.
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    if is_stream(path) {
        let refused = Error::io(IoAction::Write, path);
        let file = fs::File::options().write(true).open(path).map_err(&refused)?;
        let mut out = OutputEncoder::new(file, path).map_err(&refused)?;
        return fill(&mut out).and_then(|()| out.finish()).map(drop).map_err(refused);
    }
    StagedFile::new(path, fill)?.commit()
}

/// A file that is complete on the disk and does not have its name yet. Files that belong together
/// are all staged before the first of them is committed, so that a full disk replaces none of them.
/// Dropping it leaves no file.
#[derive(Debug)]
pub struct StagedFile {
    file: Temporary,
    path: PathBuf,
}

impl StagedFile {
    /// Writes the content of `path` to a temporary file beside it. A name that ends in `.gz` or
    /// `.zst` is compressed.
    pub fn new(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Self> {
        let mut out = StagedWriter::create(path)?;
        out.put(fill)?;
        out.finish()
    }

    /// Makes an empty temporary file beside `path`.
    fn create(path: &Path) -> io::Result<(fs::File, Self)> {
        if path.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "a directory has that name"));
        }
        if is_stream(path) {
            let found = "a device or a pipe has that name, and would be replaced";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, found));
        }
        let path = behind_link(path);
        let (file, listed) = temporary::file_in(folder_of(&path), &hidden_name(&path))?;
        Ok((file, Self { file: listed, path }))
    }

    /// Reads the complete content.
    pub fn source(&self) -> Source {
        Source::Path(self.file.path().to_owned())
    }

    /// Gives the file its name, in one step.
    pub fn commit(self) -> Result<()> {
        let Self { file, path } = self;
        unprotect(file.path());
        file.keep_as(&path).map_err(Error::io(IoAction::Write, &path))
    }
}

/// Writes a file, which is staged when it is complete. Dropping it leaves no file.
pub struct StagedWriter {
    out: OutputEncoder<fs::File>,
    staged: StagedFile,
}

impl StagedWriter {
    /// Makes an empty temporary file beside `path`. A name that ends in `.gz` or `.zst` is compressed.
    pub fn create(path: &Path) -> Result<Self> {
        refuse_replacing(path)?;
        let (file, staged) = StagedFile::create(path).map_err(Error::io(IoAction::Write, path))?;
        let out = OutputEncoder::new(file, &staged.path)
            .map_err(Error::io(IoAction::Write, &staged.path))?;
        Ok(Self { out, staged })
    }

    /// Writes through `fill`.
    pub fn put(&mut self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        fill(&mut self.out).map_err(Error::io(IoAction::Write, &self.staged.path))
    }

    /// Flushes everything to the disk.
    pub fn finish(self) -> Result<StagedFile> {
        let Self { out, staged } = self;
        let flushed = out.finish().and_then(|file| file.sync_all());
        flushed.map_err(Error::io(IoAction::Write, &staged.path))?;
        Ok(staged)
    }
}

/// Makes a folder of what `write` puts into it, in one step: after a kill at any moment there is
/// nothing under its name, or everything. A folder that exists must be empty.
pub fn make_folder<T>(folder: &Path, write: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let refused = Error::io(IoAction::Write, folder);
    let target = behind_link(folder);
    let here = std::env::current_dir().and_then(fs::canonicalize);
    if let (Ok(here), Ok(target)) = (here, fs::canonicalize(&target))
        && here == target
    {
        let hint = "a folder that is written in one step takes the place of the old one";
        bail!(folder, "a folder other than the current one", "the current folder", hint);
    }
    let parent = folder_of(&target);
    fs::create_dir_all(parent).map_err(&refused)?;
    let temporary = temporary::folder_in(parent, &hidden_name(&target)).map_err(&refused)?;
    // The temporary folder itself is private to the user.
    let made = temporary.path().join("made");
    fs::create_dir(&made).map_err(&refused)?;
    let value = write(&made)?;
    // Renaming replaces an empty folder, and no other.
    fs::rename(&made, &target).map_err(refused)?;
    Ok(value)
}

/// A path with an ending appended to its name.
pub fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The name of a path after a dot, with which the name of a temporary file beside it begins.
fn hidden_name(path: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name
}

/// True for a device or a pipe, such as `/dev/null`.
fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// The path that a symbolic link leads to, even if nothing is there yet.
fn behind_link(path: &Path) -> PathBuf {
    match (fs::canonicalize(path), fs::read_link(path)) {
        (Ok(real), Ok(_)) => real,
        (Err(_), Ok(link)) => path.parent().unwrap_or(Path::new("")).join(link),
        (_, Err(_)) => path.to_owned(),
    }
}

/// Writes to a file, compressed if its name ends in `.gz` or `.zst`.
enum OutputEncoder<W: Write> {
    Plain(BufWriter<W>),
    Gzip(GzEncoder<BufWriter<W>>),
    Zstandard(zstd::Encoder<'static, BufWriter<W>>),
}

impl<W: Write> OutputEncoder<W> {
    fn new(file: W, path: &Path) -> io::Result<Self> {
        let out = BufWriter::new(file);
        Ok(match path.extension().and_then(OsStr::to_str) {
            // The header carries no time stamp: the same content gives the same bytes.
            Some("gz") => Self::Gzip(GzEncoder::new(out, Compression::default())),
            Some("zst") => Self::Zstandard(zstd::Encoder::new(out, 0)?),
            _ => Self::Plain(out),
        })
    }

    fn finish(self) -> io::Result<W> {
        let out = match self {
            Self::Plain(out) => out,
            Self::Gzip(out) => out.finish()?,
            Self::Zstandard(out) => out.finish()?,
        };
        out.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl<W: Write> Write for OutputEncoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
            Self::Zstandard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(out) => out.flush(),
            Self::Zstandard(out) => out.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn staged_files_do_not_have_their_name_until_they_are_committed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.run.gz");
        fs::write(&path, "old").unwrap();
        let staged = StagedFile::new(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(
            (&*staged.source().read().unwrap().bytes, &*fs::read(&path).unwrap()),
            (&b"new"[..], &b"old"[..])
        );
        staged.commit().unwrap();
        assert_eq!(&*Source::new(&path).read().unwrap().bytes, b"new");
        drop(StagedFile::new(&path, |out| out.write_all(b"never")).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_stay_links_and_lead_to_the_new_content() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link.run");
        let real = folder.path().join("real/a.run");
        std::os::unix::fs::symlink("real/a.run", &link).unwrap();
        for text in ["first", "second"] {
            write_atomically(&link, |out| out.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&real).unwrap(), text);
            assert!(link.is_symlink());
        }
    }

    #[test]
    fn a_pipe_or_a_device_is_never_replaced() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let link = folder.path().join("link.run.json");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [&pipe, &link] {
            let staged =
                StagedFile::new(path, |out| out.write_all(b"record")).and_then(StagedFile::commit);
            assert!(staged.unwrap_err().to_string().contains("a device or a pipe"));
            assert!(fs::metadata(path).unwrap().file_type().is_fifo());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn files_named_as_compressed_are_compressed_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        for (name, magic) in [("a.run.gz", &[0x1f, 0x8b][..]), ("b.jsonl.zst", b"\x28\xb5\x2f\xfd")]
        {
            let path = folder.path().join("new").join(name);
            write_atomically(&path, |out| out.write_all(b"text\n")).unwrap();
            assert!(fs::read(&path).unwrap().starts_with(magic));
            assert_eq!(&*Source::new(&path).read().unwrap().bytes, b"text\n");
        }
    }
}
