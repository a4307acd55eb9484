//! Locks that keep two processes from writing to one folder at the same time.

use clariq_core::Error;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// A lock that is held until it is dropped, or its process ends in whatever way.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock that the file at `path` stands for, calling `wait` once if another process
    /// holds it. The file is made where it does not exist, and stays. A file system without locks
    /// gives them to everybody.
    pub fn acquire(path: &Path, wait: impl FnOnce()) -> Result<Self, Error> {
        let take = || {
            let file = File::options().create(true).truncate(false).write(true).open(path)?;
            let taken = match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    wait();
                    file.lock()
                }
                Err(TryLockError::Error(error)) => Err(error),
                Ok(()) => Ok(()),
            };
            match taken {
                Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
                _ => Ok(Self { _file: file }),
            }
        };
        take().map_err(|source| Error::Io { action: "lock", path: path.to_owned(), source })
    }
}
