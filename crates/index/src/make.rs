//! Folders of files that a kill at any moment leaves no half of: they are made in a temporary folder
//! beside their place, and take it in one step.

use crate::folder::{SUMS, check_replaceable, is_vacant, seal};
use clariq_core::Error;
use clariq_files::temporary;
use std::path::Path;
use std::{fs, io};

/// How the names of temporary folders begin.
const PREFIX: &str = ".clariq-index-";

/// Makes `folder` of the files that `write` writes into another, which it is given with this one's
/// full name. `folder` must not exist or hold an index to be replaced.
pub(crate) fn make_folder(
    folder: &Path,
    write: impl FnOnce(&Path, &Path) -> Result<(), Error>,
) -> Result<(), Error> {
    // A link to a folder elsewhere stays one: what it points to is replaced, from beside it.
    let folder = &fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let parent =
        folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(Error::io("use", folder))?;
    let (replace, before) = (!is_vacant(folder)?, list(folder));
    let temporary =
        temporary::folder_in(parent, PREFIX.as_ref()).map_err(Error::io("use", folder))?;
    // One level down, because the temporary folder itself is private to the user.
    let new = temporary.path().join("index");
    fs::create_dir(&new).map_err(Error::io("use", folder))?;
    write(&new, folder)?;
    seal(&new)?;
    if let Some(list) = list(folder)
        && Some(list) != before
    {
        // Another process has built here meanwhile; the caller checks and opens what it wrote.
        return Ok(());
    }
    // Again, because building takes time: nothing that came meanwhile may be lost.
    if replace {
        check_replaceable(folder)?;
    }
    let old = temporary.path().join("old");
    swap(&new, folder, replace.then_some(&*old)).map_err(Error::io("use", folder))
}

/// The list of files of the index in `folder`, which no two builds have in common: segments have
/// random names.
fn list(folder: &Path) -> Option<Vec<u8>> {
    fs::read(folder.join(SUMS)).ok()
}

/// Puts `new` in place of `folder`, which is moved to `old`, or is vacant where there is no `old`.
/// Between the two renames there is no index at all, which the next command sees as one to be
/// built.
fn swap(new: &Path, folder: &Path, old: Option<&Path>) -> io::Result<()> {
    match old.map(|old| fs::rename(folder, old)) {
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Some(_) => (),
        // An empty folder; removing any other is refused, as is the renaming below.
        None => drop(fs::remove_dir(folder)),
    }
    let Err(error) = fs::rename(new, folder) else { return Ok(()) };
    // Another process that built here at the same time was first; the caller checks and opens what
    // it wrote.
    if fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some()) {
        return Ok(());
    }
    match old {
        Some(old) => fs::rename(old, folder).and(Err(error)),
        None => Err(error),
    }
}
