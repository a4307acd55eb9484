//! Temporary files and folders of this process, removed when they are dropped or the process is
//! interrupted.

use crate::identity::{folder_of, is_at};
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
    /// Locked as long as this process lives, so that others know that it is in use.
    _lock: Option<fs::File>,
}

impl Temporary {
    /// A temporary file at a path. It need not exist yet.
    pub fn at(path: &Path) -> Self {
        listed().insert(path.to_owned());
        Self { path: path.to_owned(), _lock: None }
    }

    /// Calls `create`, locks and lists its path, without an interrupt between these.
    #[expect(clippy::disallowed_methods, reason = "it is a file or a folder of this process")]
    fn create<T>(create: impl Fn() -> io::Result<(T, PathBuf)>) -> io::Result<(T, Self)> {
        let mut listed = listed();
        loop {
            let (made, path) = create()?;
            let lock = fs::File::open(&path).ok().filter(|file| file.try_lock().is_ok());
            // Another command may have taken it for one of a dead process just before it was locked.
            if lock.as_ref().is_some_and(|lock| !is_at(lock, &path)) || !path.exists() {
                continue;
            }
            listed.insert(path.clone());
            return Ok((made, Self { path, _lock: lock }));
        }
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
    let _ = if is_folder { remove_folder(path) } else { fs::remove_file(path) };
}

/// Removes a folder in which other threads may be making files: it is renamed first, so that they find no
/// folder. The new name is that of a temporary folder, too, in case that this process is killed now.
fn remove_folder(path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = name.get(..name.len().saturating_sub(RANDOM + ENDING.len())).unwrap_or_default();
    let parent = folder_of(path);
    let aside = tempfile::Builder::new().prefix(prefix).suffix(ENDING).tempdir_in(parent);
    match aside.map(tempfile::TempDir::keep) {
        Ok(aside) if fs::rename(path, &aside).is_ok() => fs::remove_dir_all(aside),
        Ok(aside) => fs::remove_dir(aside).and_then(|()| fs::remove_dir_all(path)),
        Err(_) => fs::remove_dir_all(path),
    }
}

/// Makes an empty temporary file `<prefix>??????.tmp` in a folder, which is made as well where it does not
/// exist.
pub fn file_in(folder: &Path, prefix: &OsStr) -> io::Result<(fs::File, Temporary)> {
    remove_stale(folder, prefix);
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(ENDING).disable_cleanup(true);
    // Temporary files are private by default; an output has those of the user's umask.
    builder.permissions(fs::Permissions::from_mode(0o666));
    Temporary::create(|| {
        // Not before: an interrupt would leave a folder that was removed.
        fs::create_dir_all(folder)?;
        let (file, path) = builder.tempfile_in(folder)?.into_parts();
        Ok((file, path.to_path_buf()))
    })
}

/// Makes an empty temporary folder `<prefix>??????.tmp` in a folder. It is private to the user.
pub(crate) fn folder_in(folder: &Path, prefix: &OsStr) -> io::Result<Temporary> {
    remove_stale(folder, prefix);
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(ENDING).disable_cleanup(true);
    let made = Temporary::create(|| builder.tempdir_in(folder).map(|made| ((), made.keep())));
    made.map(|((), listed)| listed)
}

/// The age from which a temporary file is taken for one of a killed command, on a file system without
/// locks.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// The number of random letters in the names of temporary files.
const RANDOM: usize = 6;
const ENDING: &str = ".tmp";

/// Removes temporary files and folders `<prefix>??????.tmp` of commands that were killed.
fn remove_stale(folder: &Path, prefix: &OsStr) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_found = is_temporary(&entry.file_name(), prefix) && refuse_replacing(&path).is_ok();
        // The lock is held until it is gone.
        if is_found && let Some(_lock) = Abandoned::take(&entry) {
            remove(&path);
        }
    }
}

/// A file or folder that no process uses.
enum Abandoned {
    Locked(#[expect(dead_code, reason = "it is held")] fs::File),
    Old,
}

impl Abandoned {
    #[expect(clippy::disallowed_methods, reason = "a file or a folder, which can be locked")]
    fn take(entry: &fs::DirEntry) -> Option<Self> {
        // A pipe is not waited for.
        let kind = entry.file_type().ok()?;
        if !kind.is_file() && !kind.is_dir() {
            return None;
        }
        let file = fs::File::open(entry.path()).ok()?;
        match file.try_lock() {
            Ok(()) => Some(Self::Locked(file)),
            Err(fs::TryLockError::WouldBlock) => None,
            Err(fs::TryLockError::Error(_)) => is_stale(entry).then_some(Self::Old),
        }
    }
}

fn is_temporary(name: &OsStr, prefix: &OsStr) -> bool {
    let rest = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
    let random = rest.and_then(|rest| rest.strip_suffix(ENDING.as_bytes()));
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
    fn temporary_files_and_folders_of_a_killed_command_are_removed_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let used = folder_in(folder.path(), ".a.run".as_ref()).unwrap();
        let names = [".a.runAb12Cd.tmp", ".a.run.gzAb12Cd.tmp", "a.runAb12Cd.tmp"];
        for name in names {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join("half"), "half").unwrap();
        }
        fs::write(path(".a.runEf34Gh.tmp"), "half").unwrap();
        drop(file_in(folder.path(), ".a.run".as_ref()).unwrap());
        let left: Vec<bool> = names.iter().map(|name| path(name).exists()).collect();
        assert_eq!(left, [false, true, true], "the others are not of this file");
        assert!(!path(".a.runEf34Gh.tmp").exists());
        assert!(used.path().exists(), "a process that lives holds its lock");
    }

    #[test]
    fn a_folder_is_removed_while_files_are_made_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder_in(folder.path(), ".a".as_ref()).unwrap();
        let path = made.path().to_owned();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let make = |number: usize| fs::write(path.join(number.to_string()), "");
                let mut number = 0;
                while make(number).is_ok() {
                    number += 1;
                }
            });
            while fs::read_dir(&path).is_ok_and(|entries| entries.count() < 20) {}
            remove(&path);
        });
        drop(made);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
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
