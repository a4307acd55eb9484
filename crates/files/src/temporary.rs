//! Temporary files and folders of this process, removed when they are dropped or the process is
//! interrupted.

use crate::inputs::refuse_replacing;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The temporary files and folders of this process.
static LISTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn listed() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LISTED.lock()
}

/// A temporary file or folder; dropping this removes it unless it was [kept](Self::keep_as).
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// A temporary file at a path. It need not exist yet.
    pub fn at(path: &Path) -> Self {
        listed().insert(path.to_owned());
        Self { path: path.to_owned() }
    }

    /// Calls `create` and lists its path, without an interrupt between the two.
    fn create<T>(create: impl FnOnce() -> io::Result<(T, PathBuf)>) -> io::Result<(T, Self)> {
        let mut listed = listed();
        let (made, path) = create()?;
        listed.insert(path.clone());
        Ok((made, Self { path }))
    }

    /// The path of the file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its final name, in one step.
    pub fn keep_as(self, target: &Path) -> io::Result<()> {
        // With the lock held, an interrupt comes before the renaming or after it.
        let _listed = listed();
        fs::rename(&self.path, target)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        listed().remove(&self.path);
        remove(&self.path);
    }
}

/// Removes all temporary files and folders of this process, which is about to end. No other is made
/// until the result is dropped.
pub fn remove_temporaries() -> impl Sized {
    let listed = listed();
    listed.iter().for_each(|path| remove(path));
    listed
}

/// Removes a file or folder. Best effort.
fn remove(path: &Path) {
    // Links are not followed.
    let is_folder = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// Makes an empty temporary file `<prefix>??????.tmp` in a folder.
pub fn file_in(folder: &Path, prefix: &OsStr) -> io::Result<(fs::File, Temporary)> {
    remove_stale(folder, prefix);
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(".tmp").disable_cleanup(true);
    // Temporary files are private by default; an output has those of the user's umask.
    builder.permissions(fs::Permissions::from_mode(0o666));
    Temporary::create(|| {
        let (file, path) = builder.tempfile_in(folder)?.into_parts();
        Ok((file, path.to_path_buf()))
    })
}

/// Makes an empty temporary folder `<prefix>??????.tmp` in a folder. It is private to the user.
pub(crate) fn folder_in(folder: &Path, prefix: &OsStr) -> io::Result<Temporary> {
    remove_stale(folder, prefix);
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(".tmp").disable_cleanup(true);
    let made = Temporary::create(|| builder.tempdir_in(folder).map(|made| ((), made.keep())));
    made.map(|((), listed)| listed)
}

/// The age from which a temporary file is taken for one of a killed command.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// The number of random letters in the names of temporary files.
const RANDOM: usize = 6;

/// Removes temporary files and folders `<prefix>??????.tmp` of commands that were killed a day ago
/// or earlier.
fn remove_stale(folder: &Path, prefix: &OsStr) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if is_temporary(&entry.file_name(), prefix)
            && is_stale(&entry)
            && refuse_replacing(&path).is_ok()
        {
            remove(&path);
        }
    }
}

fn is_temporary(name: &OsStr, prefix: &OsStr) -> bool {
    let rest = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
    let random = rest.and_then(|rest| rest.strip_suffix(b".tmp"));
    random.is_some_and(|random| random.len() == RANDOM)
}

fn is_stale(entry: &fs::DirEntry) -> bool {
    let changed = entry.metadata().and_then(|found| found.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > STALE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_of_a_killed_command_are_removed_after_a_day() {
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
        drop(file_in(folder.path(), ".a.run".as_ref()).unwrap());
        let left: Vec<bool> = names.iter().map(|name| path(name).exists()).collect();
        let young = "a young one may be in use, the others are not of this file";
        assert_eq!(left, [false, true, true, true], "{young}");
    }

    #[test]
    fn temporary_files_and_folders_are_removed_when_they_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let (_, file) = file_in(folder.path(), ".a".as_ref()).unwrap();
        let inner = folder_in(folder.path(), ".b".as_ref()).unwrap();
        fs::write(inner.path().join("c"), "").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        drop((file, inner));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
