//! Files that this process reads, which none of its outputs may replace.
//!
//! Files are compared by identity (device and inode), not by name, so that links and other
//! spellings of a path are recognised. A program that carries out one command calls
//! [`protect_inputs`] first; in a library that reads a run and later writes it again, nothing is
//! refused.

use crate::identity::{FileIdentity, folder_of};
use clariq_core::{Result, bail};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The inputs so far; `None` if they are not protected.
static INPUTS: Mutex<Option<Inputs>> = Mutex::new(None);

#[derive(Default)]
struct Inputs {
    files: HashSet<FileIdentity>,
    /// Folders with data, and what tells the names of data in them.
    folders: Vec<(PathBuf, IsData)>,
}

/// True for the path of a file that may hold data, by its name.
type IsData = fn(&Path) -> bool;

fn identify(path: &Path) -> Option<FileIdentity> {
    // A device or a pipe is not replaced by writing to it.
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(FileIdentity::from)
}

fn inputs() -> MutexGuard<'static, Option<Inputs>> {
    INPUTS.lock()
}

/// From now on, no output of this process replaces a file that it reads.
pub fn protect_inputs() {
    inputs().get_or_insert_default();
}

/// Counts a file among the inputs, if it exists. Every [`Source`](crate::Source) does so when it is
/// opened.
pub fn protect(path: &Path) {
    if let Some(inputs) = &mut *inputs() {
        inputs.files.extend(identify(path));
    }
}

/// From now on, no command writes an output into a folder under a name for which `is_data` is true: it
/// would be read there from then on.
pub fn protect_folder(folder: &Path, is_data: IsData) {
    if let (Some(inputs), Ok(folder)) = (&mut *inputs(), fs::canonicalize(folder)) {
        inputs.folders.push((folder, is_data));
    }
}

/// Removes a file from the inputs: an output that was only read to be checked.
pub(crate) fn unprotect(path: &Path) {
    if let (Some(inputs), Some(file)) = (&mut *inputs(), identify(path)) {
        inputs.files.remove(&file);
    }
}

/// Refuses an output of a command that is one of the inputs so far, or that a collection would read as
/// its data. A command checks before it begins.
pub fn refuse_input(output: &Path) -> Result<()> {
    refuse_replacing(output)?;
    let inputs = inputs();
    let folder = fs::canonicalize(folder_of(output));
    let (Some(inputs), Ok(folder)) = (inputs.as_ref(), folder) else { return Ok(()) };
    if inputs.folders.iter().any(|(data, is_data)| *data == folder && is_data(output)) {
        let expected = "an output under a name that is no data, such as `….run`, in a data folder";
        let hint = "write to another folder: here the file would be taken for data";
        bail!(output, expected, "another name", hint);
    }
    Ok(())
}

/// Refuses an output that is one of the inputs so far. Every writer of this crate checks when it begins.
pub(crate) fn refuse_replacing(output: &Path) -> Result<()> {
    let inputs = inputs();
    let Some(inputs) = inputs.as_ref() else { return Ok(()) };
    if identify(output).is_none_or(|output| !inputs.files.contains(&output)) {
        return Ok(());
    }
    bail!(
        output,
        "an output apart from the files that are read and those of the data folder",
        "one of them",
        "write to another file: this one would be lost"
    );
}
