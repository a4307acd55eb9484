//! The files of an index for tantivy: small ones in memory, large ones mapped.

use clariq_core::{Checksum, Error, IoAction, Result, read_regular};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};
use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, FileHandle, MmapDirectory, RamDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// Files of at least this size are mapped into memory instead of read.
const LARGE: u64 = 64 << 20;

/// tantivy's list of segments, with the payload of the last commit. It is never mapped.
pub(crate) const META: &str = "meta.json";

/// The checked files of a folder. Files in memory do not change when the folder does. Mapped files
/// must not change while they are searched; an index is only replaced as a whole, and a mapped file
/// stays readable when its folder is gone. Nothing is written to the folder, not even tantivy's
/// locks.
#[derive(Clone)]
pub(crate) struct CheckedFiles {
    memory: RamDirectory,
    path: PathBuf,
    folder: MmapDirectory,
    mapped: Arc<HashSet<PathBuf>>,
}

impl CheckedFiles {
    /// Prepares a folder; files are added one by one.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let folder = MmapDirectory::open(path).map_err(io::Error::other)?;
        let path = path.to_owned();
        Ok(Self { memory: RamDirectory::create(), path, folder, mapped: Arc::default() })
    }

    /// Adds a file and returns its SHA-256.
    pub(crate) fn add(&mut self, name: &str) -> Result<Checksum> {
        match self.take(name)? {
            Some(bytes) => Ok(Checksum::of(&bytes)),
            None => Checksum::of_file(&self.path.join(name)),
        }
    }

    /// Adds a file without checking it, and returns its bytes if it is kept in memory.
    pub(crate) fn take(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.path.join(name);
        if name != META && fs::metadata(&path).is_ok_and(|found| found.len() >= LARGE) {
            Arc::make_mut(&mut self.mapped).insert(name.into());
            return Ok(None);
        }
        let bytes = read_regular(&path, LARGE).map_err(Error::io(IoAction::Use, &self.path))?;
        self.atomic_write(Path::new(name), &bytes).map_err(Error::io(IoAction::Use, &self.path))?;
        Ok(Some(bytes))
    }
}

impl fmt::Debug for CheckedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checked").field("mapped", &self.mapped).finish_non_exhaustive()
    }
}

impl Directory for CheckedFiles {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        if self.mapped.contains(path) {
            self.folder.get_file_handle(path)
        } else {
            self.memory.get_file_handle(path)
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.memory.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.mapped.contains(path) || self.memory.exists(path)?)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.memory.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.memory.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.memory.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.memory.watch(callback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tantivy::HasLen as _;

    #[test]
    fn files_in_memory_and_mapped_files_are_read_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["held", "neither"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        // A sparse file.
        let large = fs::File::create(folder.path().join("mapped")).unwrap();
        large.set_len(LARGE).unwrap();
        let mut checked = CheckedFiles::new(folder.path()).unwrap();
        for (name, length) in [("held", 4), ("mapped", LARGE)] {
            let sum = checked.add(name).unwrap();
            assert_eq!(sum, Checksum::of_file(&folder.path().join(name)).unwrap());
            assert!(checked.exists(Path::new(name)).unwrap());
            assert_eq!(checked.open_read(Path::new(name)).unwrap().len() as u64, length);
        }
        assert_eq!(*checked.mapped, HashSet::from([PathBuf::from("mapped")]));
        assert!(!checked.exists(Path::new("neither")).unwrap());
        assert!(checked.open_read(Path::new("neither")).is_err());
        checked.atomic_write(Path::new("lock"), b"").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        // A mapped file stays readable after the index is replaced.
        let slice = checked.open_read(Path::new("mapped")).unwrap();
        fs::remove_file(folder.path().join("mapped")).unwrap();
        assert_eq!(slice.slice(0..4).read_bytes().unwrap().as_slice(), [0; 4]);
    }
}
