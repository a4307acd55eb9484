//! The data folders of a command: those that `--data` names, or the usual one.

use clariq_collections::{Collection, DataDir, Kind, Tracks};
use clariq_core::{Result, TextKeeper};
use clariq_tracks::TRACKS;
use std::path::{Path, PathBuf};

/// The default data folder.
pub(crate) const USUAL_DATA: &str = TRACKS.kinds()[0].usual;

#[derive(Clone)]
pub(crate) struct DataFolders {
    /// The data folder, or the first of several.
    pub(crate) first: DataDir,
    /// The kind of the collection in it, if it has one.
    kind: Option<&'static Kind>,
    /// All folders that were named.
    named: Vec<PathBuf>,
}

/// The collections right below a folder, by name. Hidden folders, such as copies that notebooks keep,
/// are none.
fn collections_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let shown = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    let mut folders: Vec<PathBuf> = shown.map(|entry| entry.path()).collect();
    folders.retain(|path| {
        path.is_dir() && TRACKS.recognised(&DataDir::Folder(path.clone())).is_some()
    });
    folders.sort();
    folders
}

/// The folder, or the only collection in it if it is none itself, with the kind of the collection.
fn collection_at(folder: &Path) -> (DataDir, Option<&'static Kind>) {
    let data = DataDir::Folder(folder.to_owned());
    let kind = TRACKS.kind_of(&data).ok();
    if kind.is_none()
        && let [only] = &collections_in(folder)[..]
    {
        let data = DataDir::Folder(only.clone());
        let kind = TRACKS.kind_of(&data).ok();
        return (data, kind);
    }
    (data, kind)
}

impl DataFolders {
    /// The folders that were named; an empty name, as of an unset variable of a shell, is none.
    pub(crate) fn new(mut named: Vec<PathBuf>) -> Self {
        named.retain(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = named.first() {
            let (first, kind) = collection_at(folder);
            return Self { first, kind, named };
        }
        let first = TRACKS.usual_data();
        let kind = TRACKS.kind_of(&first).ok();
        Self { first, kind, named }
    }

    /// Opens the collection in the data folder, with `keeper` for documents that are too many for memory.
    pub(crate) fn open(&self, keeper: &dyn TextKeeper) -> Result<Box<dyn Collection>> {
        match self.kind {
            Some(kind) => (kind.open)(&self.first, Some(keeper)),
            None => TRACKS.open_keeping(&self.first, keeper),
        }
    }

    /// True if the collection in the data folder is of this kind.
    pub(crate) fn is(&self, kind: &Kind) -> bool {
        self.kind.is_some_and(|it| it.name == kind.name)
    }

    /// Protects the files of the data folder from outputs.
    pub(crate) fn protect(&self) {
        Tracks::protect(&self.first, self.kind);
    }

    pub(crate) fn all_named(&self) -> &[PathBuf] {
        &self.named
    }

    pub(crate) fn were_named(&self) -> bool {
        !self.named.is_empty()
    }

    /// The data folder, if the user named it.
    pub(crate) fn named(&self) -> Option<&DataDir> {
        Some(&self.first).filter(|_| self.were_named())
    }

    /// Each data folder, if several are named, or one with a collection in each of its folders; none for
    /// a single collection.
    pub(crate) fn of_each(&self) -> Vec<Self> {
        let mut folders = self.named.clone();
        if let [folder] = &self.named[..] {
            if self.kind.is_some() {
                return Vec::new();
            }
            folders = collections_in(folder);
        }
        let is_only = folders.len() == 1;
        let each = folders.into_iter().map(|folder| {
            let named = if is_only { self.named.clone() } else { vec![folder.clone()] };
            let first = DataDir::Folder(folder);
            let kind = TRACKS.kind_of(&first).ok();
            Self { first, kind, named }
        });
        each.collect()
    }

    /// A note that names a folder which the user did not name.
    pub(crate) fn note(&self) -> Option<String> {
        match (&self.first, &self.named[..]) {
            (DataDir::Sample(_), _) => {
                Some("note: using the built-in sample (--data DIR: your own)".to_owned())
            }
            (folder, []) => Some(format!("note: using {folder}")),
            (DataDir::Folder(folder), [named]) if named != folder => {
                let (only, named) = (folder.display(), named.display());
                Some(format!("note: using {only}, the only collection in {named}"))
            }
            _ => None,
        }
    }

    /// The location of a collection of this kind, with a note if the user did not name it: the data folder
    /// that was named, or else the usual folder, or the built-in sample.
    pub(crate) fn of_kind(&self, kind: &Kind) -> (DataDir, Option<String>) {
        if self.were_named() || kind.usual == USUAL_DATA {
            return (self.first.clone(), self.note());
        }
        match kind.sample.clone().filter(|_| !Path::new(kind.usual).is_dir()) {
            None => {
                (DataDir::Folder(kind.usual.into()), Some(format!("note: using {}", kind.usual)))
            }
            Some(sample) => {
                let name = kind.name;
                let note = format!("note: using the built-in {name} sample (--data DIR: your own)");
                (sample, Some(note))
            }
        }
    }
}
