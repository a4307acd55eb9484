//! Folders that appear when they are complete.

use crate::identity::folder_of;
use crate::temporary::{self, Temporary};
use clariq_core::{Error, IoAction, Result};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The prefix of temporary folders.
const PREFIX: &str = ".clariq-";

/// A folder whose files are written beside its target, so that a kill at any moment leaves the old
/// folder or the new one. It is removed if it is dropped before [`StagedFolder::commit`].
#[derive(Debug)]
pub struct StagedFolder {
    target: PathBuf,
    new: PathBuf,
    /// Holds the new folder and, at the end, the old one. It is private to the user.
    temporary: Temporary,
}

impl StagedFolder {
    /// An empty folder for the files of `target`. A link stays a link: the folder that it leads to is
    /// replaced.
    pub fn create(target: &Path) -> Result<Self> {
        let refused = Error::io(IoAction::Use, target);
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let parent = folder_of(&target);
        fs::create_dir_all(parent).map_err(&refused)?;
        let temporary = temporary::folder_in(parent, PREFIX.as_ref()).map_err(&refused)?;
        let new = temporary.path().join("new");
        fs::create_dir(&new).map_err(refused)?;
        Ok(Self { target, new, temporary })
    }

    /// The folder to write files to.
    pub fn path(&self) -> &Path {
        &self.new
    }

    /// Gives the folder its name; a folder of that name is replaced if `replace` is true. If another
    /// process was first, its folder stays.
    pub fn commit(self, replace: bool) -> Result<()> {
        let old = self.temporary.path().join("old");
        let swapped = swap(&self.new, &self.target, replace.then_some(&*old));
        swapped.map_err(Error::io(IoAction::Write, &self.target))
    }
}

/// Removes a folder, if there is one. It is renamed first, so that an interrupted removal leaves no
/// incomplete folder.
pub fn remove_folder(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let refused = Error::io(IoAction::Write, folder);
    let aside = temporary::folder_in(folder_of(folder), PREFIX.as_ref()).map_err(&refused)?;
    fs::rename(folder, aside.path().join("old")).map_err(refused)
}

/// Puts `new` in the place of `target`, which is moved to `old`, or is vacant if there is no `old`.
/// Between the two renames there is no folder.
fn swap(new: &Path, target: &Path, old: Option<&Path>) -> io::Result<()> {
    match old.map(|old| fs::rename(target, old)) {
        Some(Err(error)) if error.kind() != ErrorKind::NotFound => return Err(error),
        Some(_) => (),
        // Only an empty folder can be removed.
        None => drop(fs::remove_dir(target)),
    }
    let Err(error) = fs::rename(new, target) else { return Ok(()) };
    if fs::read_dir(target).is_ok_and(|mut files| files.next().is_some()) {
        return Ok(());
    }
    match old {
        Some(old) => fs::rename(old, target).and(Err(error)),
        None => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(target: &Path, text: &str) -> StagedFolder {
        let staged = StagedFolder::create(target).unwrap();
        fs::write(staged.path().join("a.txt"), text).unwrap();
        staged
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_folder_appears_when_it_is_complete_and_replaces_the_one_before() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("inner/made");
        let staged = write(&target, "one");
        assert!(!target.exists());
        staged.commit(true).unwrap();
        assert_eq!(fs::read_to_string(target.join("a.txt")).unwrap(), "one");
        write(&target, "two").commit(true).unwrap();
        assert_eq!(fs::read_to_string(target.join("a.txt")).unwrap(), "two");
        drop(write(&target, "dropped"));
        assert_eq!(names(&parent.path().join("inner")), ["made"]);
    }

    #[test]
    fn the_folder_of_another_process_stays() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("made");
        let staged = write(&target, "mine");
        write(&target, "theirs").commit(false).unwrap();
        staged.commit(false).unwrap();
        assert_eq!(fs::read_to_string(target.join("a.txt")).unwrap(), "theirs");
    }

    #[test]
    fn a_removed_folder_leaves_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("made");
        write(&target, "one").commit(true).unwrap();
        remove_folder(&target).unwrap();
        remove_folder(&target).unwrap();
        assert_eq!(names(parent.path()), [] as [&str; 0]);
    }
}
