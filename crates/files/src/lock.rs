//! Locks that keep two processes from writing to one folder or file at the same time.

use crate::identity::is_at;
use crate::inputs::refuse_replacing;
use crate::temporary::Temporary;
use clariq_core::{Error, IoAction, Result};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

/// A lock that is held until it is dropped or its process ends.
#[derive(Debug)]
pub struct Lock {
    // Dropped in this order: the file is removed before another process can lock it.
    _listed: Temporary,
    _file: File,
}

impl Lock {
    /// Takes the lock of the file at `path`, which exists while it is locked. Calls `wait` once if
    /// another process holds the lock. On a file system without locks, every request succeeds.
    pub fn acquire(path: &Path, wait: impl FnOnce()) -> Result<Self> {
        let mut wait = Some(wait);
        refuse_replacing(path)?;
        let file = open_alone(path, || wait.take().map_or((), |wait| wait()));
        let file = file.map_err(Error::io(IoAction::Use, path))?;
        Ok(Self { _listed: Temporary::at(path), _file: file })
    }
}

/// Opens or creates a file exclusively for this process, until it is closed. The owner may remove it
/// before closing it. `wait` is called while another process has it open.
/// Anything but a regular file is refused, and a link is not followed.
fn open_alone(path: &Path, mut wait: impl FnMut()) -> io::Result<File> {
    loop {
        let exists = match fs::symlink_metadata(path) {
            Ok(found) if !found.is_file() => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
            }
            found => found.is_ok(),
        };
        let file = match File::options().read(true).write(true).create_new(!exists).open(path) {
            // Another process has created or removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) if exists && error.kind() == io::ErrorKind::NotFound => continue,
            file => file?,
        };
        take(&file, &mut wait)?;
        // The previous owner may have removed the file: then no other process would see this lock.
        if is_at(&file, path) {
            return Ok(file);
        }
    }
}

fn take(file: &File, wait: impl FnOnce()) -> io::Result<()> {
    let result = match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            wait();
            file.lock()
        }
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(()),
    };
    match result {
        Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
        _ => Ok(()),
    }
}
