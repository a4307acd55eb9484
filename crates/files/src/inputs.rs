//! Files that this process reads, which none of its outputs may replace.
//!
//! Files are compared by identity (device and inode), not by name, so that links and other
//! spellings of a path are recognised. A program that carries out one command calls
//! [`protect_inputs`] first; in a library that reads a run and later writes it again, nothing is
//! refused.

use crate::identity::FileIdentity;
use clariq_core::{Result, bail};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// The inputs so far; `None` if they are not protected.
static INPUTS: Mutex<Option<HashSet<FileIdentity>>> = Mutex::new(None);

fn identify(path: &Path) -> Option<FileIdentity> {
    // A device or a pipe is not replaced by writing to it.
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(FileIdentity::from)
}

fn inputs() -> MutexGuard<'static, Option<HashSet<FileIdentity>>> {
    INPUTS.lock()
}

/// From now on, no output of this process replaces a file that it reads.
pub fn protect_inputs() {
    inputs().get_or_insert_with(HashSet::new);
}

/// Counts a file among the inputs, if it exists. Every [`Source`](crate::Source) does so when it is
/// opened.
pub fn protect(path: &Path) {
    if let Some(inputs) = &mut *inputs() {
        inputs.extend(identify(path));
    }
}

/// Removes a file from the inputs: an output that was only read to be checked.
pub(crate) fn unprotect(path: &Path) {
    if let (Some(inputs), Some(file)) = (&mut *inputs(), identify(path)) {
        inputs.remove(&file);
    }
}

/// Refuses an output that is one of the inputs so far. Every writer of this crate checks again when
/// it begins; a command that takes long before it writes checks first.
pub fn refuse_input(output: &Path) -> Result<()> {
    let inputs = inputs();
    let Some(inputs) = inputs.as_ref() else { return Ok(()) };
    if identify(output).is_none_or(|output| !inputs.contains(&output)) {
        return Ok(());
    }
    bail!(
        output,
        "an output apart from the files that are read and those of the data folder",
        "one of them",
        "write to another file: this one would be lost"
    );
}
