//! How does a file come from a folder on this machine?

use super::manifest::Entry;
use super::part::{Origin, Part};
use super::{Progress, io_error};
use clariq_core::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Copies into the part; `None` where the folder has no such file. Returns the bytes copied.
pub(super) fn copy(
    entry: &Entry,
    from: &Path,
    part: &Part,
    progress: &mut dyn Progress,
) -> Result<Option<u64>, Error> {
    let source = match File::open(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(io_error("read", from))?,
    };
    let total = source.metadata().map_err(io_error("read", from))?.len();
    let origin = Origin { url: from.display().to_string(), etag: None, total: Some(total) };
    let mut out = part.begin(&origin)?;
    progress.start(entry.name, 0, Some(total));
    pour(source, &mut out, progress, |error| match error {
        Broken::Reading(error, _) => io_error("read", from)(error),
        Broken::Writing(error) => io_error("write", &part.path)(error),
    })
    .map(Some)
}

/// Which side of a transfer failed.
pub(super) enum Broken {
    /// The source, after that many bytes.
    Reading(io::Error, u64),
    /// The file on this machine.
    Writing(io::Error),
}

/// Moves all bytes from one to the other, told to `progress` as they come. Returns how many.
pub(super) fn pour(
    mut from: impl Read,
    to: &mut File,
    progress: &mut dyn Progress,
    tell: impl Fn(Broken) -> Error,
) -> Result<u64, Error> {
    let mut buffer = vec![0; 1 << 16];
    let mut done = 0;
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(done),
            Ok(count) => {
                to.write_all(&buffer[..count]).map_err(|error| tell(Broken::Writing(error)))?;
                done += count as u64;
                progress.advance(count as u64);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(tell(Broken::Reading(error, done))),
        }
    }
}
