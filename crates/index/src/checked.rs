//! The files of an index that was checked, as tantivy reads them: small ones in memory, large ones
//! where they lie.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, FileHandle, MmapDirectory, RamDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// Files of at least so many bytes are mapped into memory instead of read: the system holds the
/// pages of them that are in use, and takes them back where it needs the memory.
pub(crate) const LARGE: u64 = 64 << 20;

/// The files of a folder. What is in memory is what was checked, whatever happens to the folder
/// later. A large file must stay as it is while it is searched, which holds for an index: it is
/// only ever replaced as a whole, and a mapped file stays readable when its folder is gone. Nothing
/// is written to the folder, tantivy's locks included, so that it need not be writable.
#[derive(Clone)]
pub(crate) struct Checked {
    memory: RamDirectory,
    folder: MmapDirectory,
    mapped: Arc<HashSet<PathBuf>>,
}

impl Checked {
    /// No file of the folder yet.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        let folder = MmapDirectory::open(folder).map_err(io::Error::other)?;
        Ok(Self { memory: RamDirectory::create(), folder, mapped: Arc::default() })
    }

    /// Holds a file in memory.
    pub(crate) fn hold(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.memory.atomic_write(Path::new(name), bytes)
    }

    /// Reads a file where it lies.
    pub(crate) fn map(&mut self, name: &str) {
        Arc::make_mut(&mut self.mapped).insert(name.into());
    }
}

impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checked").field("mapped", &self.mapped).finish_non_exhaustive()
    }
}

impl Directory for Checked {
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

    #[test]
    fn held_and_mapped_files_read_alike_and_nothing_is_written_to_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["held", "mapped", "neither"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let mut checked = Checked::new(folder.path()).unwrap();
        checked.hold("held", b"held").unwrap();
        checked.map("mapped");
        for name in ["held", "mapped"] {
            assert!(checked.exists(Path::new(name)).unwrap());
            let bytes = checked.open_read(Path::new(name)).unwrap().read_bytes().unwrap();
            assert_eq!(bytes.as_slice(), name.as_bytes());
        }
        assert!(!checked.exists(Path::new("neither")).unwrap());
        assert!(checked.open_read(Path::new("neither")).is_err());
        checked.atomic_write(Path::new("lock"), b"").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
        // Who has it open reads on when the index is replaced.
        let slice = checked.open_read(Path::new("mapped")).unwrap();
        std::fs::remove_file(folder.path().join("mapped")).unwrap();
        assert_eq!(slice.read_bytes().unwrap().as_slice(), b"mapped");
    }
}
