//! The files of documents in a folder, by their names.

use clariq_core::{Checksum, Error, IoAction, bail, problem};
use clariq_files::Source;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The endings of files of records, before those of packing.
const FORMS: [&str; 5] = ["jsonl", "ndjson", "json", "tsv", "trecweb"];
const CSV: &str = "csv";

/// The endings of files that are a document each.
const TEXTS: [&str; 2] = ["md", "txt"];

/// The endings of packing; empty for plain files.
pub const PACKED: [&str; 4] = ["", ".gz", ".zst", ".zip"];

/// Packings that are not read.
const NOT_READ: [&str; 4] = ["bz2", "xz", "lz4", "7z"];

/// The kind of a file, according to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentFileKind {
    /// JSON, a table or `TrecWeb`, plain or packed.
    Documents,
    /// CSV with a header, plain or packed.
    Csv,
    /// A text that is a document.
    Text,
    /// Documents in a packing that is not read.
    NotRead,
    /// Anything else.
    Other,
}

impl DocumentFileKind {
    pub fn of(path: &Path) -> Self {
        let name = lower_name(path);
        // The record of a run, not a file of documents.
        if name.starts_with('.') || name.ends_with(".run.json") {
            return Self::Other;
        }
        let (plain, ending) = cut_ending(&name);
        if PACKED[1..].iter().any(|packed| packed.strip_prefix('.') == Some(ending)) {
            return Self::of_plain(plain);
        }
        if NOT_READ.contains(&ending) && Self::of_plain(plain) == Self::Documents {
            return Self::NotRead;
        }
        Self::of_plain(&name)
    }

    /// The kind of a file that is not packed.
    fn of_plain(name: &str) -> Self {
        let (rest, ending) = cut_ending(name);
        if FORMS.contains(&ending) {
            return Self::Documents;
        }
        if ending == CSV {
            return Self::Csv;
        }
        // Some programs add an ending to the name of a file of records.
        let is_text =
            TEXTS.contains(&ending) && !matches!(Self::of_plain(rest), Self::Documents | Self::Csv);
        if is_text { Self::Text } else { Self::Other }
    }
}

/// The name of a file in lower case.
pub(crate) fn lower_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// A name without the ending of a packing.
pub(crate) fn without_packing(name: &str) -> &str {
    PACKED[1..].iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(name)
}

/// A name without what follows its last point, and this.
fn cut_ending(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or((name, ""))
}

/// True for a file, plain or packed, whose name has one of the endings.
pub(crate) fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let name = lower_name(path);
    endings.iter().any(|ending| without_packing(&name).ends_with(ending))
}

/// The files of a folder of documents, and of the folders below it, in the order of their paths.
#[derive(Debug, Default)]
pub struct DocumentFolder {
    pub documents: Vec<PathBuf>,
    /// Texts that may be a document each.
    pub(crate) texts: Vec<PathBuf>,
    /// Other files, which are not read.
    pub unread: Vec<PathBuf>,
}

impl DocumentFolder {
    /// Lists a folder. A file of documents in a packing that is not read is an error.
    pub fn list(folder: &Path) -> Result<Self, Error> {
        Self::of(&Listings::default(), folder)
    }

    /// The folder in listings.
    pub(crate) fn of(listings: &Listings, folder: &Path) -> Result<Self, Error> {
        let mut listed = Self::default();
        listed.add(listings, folder, true)?;
        listed.documents = each_once(folder, listed.documents)?;
        Ok(listed)
    }

    /// The folder in listings; files in a packing that is not read count as not read.
    pub(crate) fn of_any(listings: &Listings, folder: &Path) -> Result<Self, Error> {
        let mut listed = Self::default();
        listed.add(listings, folder, false)?;
        Ok(listed)
    }

    /// Counts tables and texts among the files that are not read.
    #[must_use]
    pub fn without_tables(mut self) -> Self {
        self.unread.append(&mut self.texts);
        for path in std::mem::take(&mut self.documents) {
            let is_table = has_ending(&path, &[".tsv", ".csv"]);
            let files = if is_table { &mut self.unread } else { &mut self.documents };
            files.push(path);
        }
        self.unread.sort();
        self
    }

    /// Adds the files of a folder. As its entries are sorted, so are they.
    fn add(&mut self, listings: &Listings, folder: &Path, refuses: bool) -> Result<(), Error> {
        for (path, is_folder) in listings.entries(folder)?.iter() {
            if *is_folder {
                refuse_loop(folder, path)?;
                self.add(listings, path, refuses)?;
                continue;
            }
            let files = match DocumentFileKind::of(path) {
                DocumentFileKind::Documents | DocumentFileKind::Csv => &mut self.documents,
                DocumentFileKind::Text if !is_description(path) => &mut self.texts,
                DocumentFileKind::NotRead if refuses => return Err(packing_not_read(path)),
                DocumentFileKind::NotRead | DocumentFileKind::Text | DocumentFileKind::Other => {
                    &mut self.unread
                }
            };
            files.push(path.clone());
        }
        Ok(())
    }
}

/// Refuses a link to a folder above it: its files would be read again and again.
fn refuse_loop(folder: &Path, path: &Path) -> Result<(), Error> {
    if path.is_symlink()
        && let (Ok(folder), Ok(target)) = (folder.canonicalize(), path.canonicalize())
        && folder.starts_with(target)
    {
        bail!(path, "folders below this one", "a link to a folder above it", "remove the link");
    }
    Ok(())
}

/// The files without archives of others among them. A file that is there plain and packed is an error
/// otherwise.
pub(crate) fn each_once(folder: &Path, files: Vec<PathBuf>) -> Result<Vec<PathBuf>, Error> {
    let mut kept: Vec<PathBuf> = Vec::with_capacity(files.len());
    let mut places: HashMap<PathBuf, usize> = HashMap::new();
    for path in files {
        let name = path.to_string_lossy();
        let place = *places.entry(without_packing(&name).into()).or_insert(kept.len());
        match kept.get(place) {
            None => kept.push(path),
            Some(file) if is_unpacked(file, &path)? => {}
            Some(other) => return Err(two_files(folder, "documents", other, &path)),
        }
    }
    Ok(kept)
}

/// The error for two files or folders of which only one can be used.
pub(crate) fn two_files(folder: &Path, what: &str, one: &Path, other: &Path) -> Error {
    let found = format!("`{}` and `{}`", one.display(), other.display());
    let hint = "leave one of them, or give each a data folder of its own";
    problem!(folder, "one file or folder of {what}", found, hint).into()
}

/// True if a file is what a zip archive contains.
pub(crate) fn is_unpacked(file: &Path, archive: &Path) -> Result<bool, Error> {
    if archive.extension().is_none_or(|ending| ending != "zip") {
        return Ok(false);
    }
    let checksum = |path: &Path| {
        let source = Source::new(path);
        let content = source.stream()?;
        Checksum::of_stream(content).map_err(Error::io(IoAction::Read, path))
    };
    Ok(checksum(file)? == checksum(archive)?)
}

/// The entries of a folder whose names do not begin with a dot, sorted.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    Ok(entries_with_kinds(folder)?.into_iter().map(|(path, _)| path).collect())
}

/// The entries of folders, each of which is listed at most once.
#[derive(Default)]
pub(crate) struct Listings(RefCell<HashMap<PathBuf, Listing>>);

/// The entries of a folder whose names do not begin with a dot, sorted; true for those that are folders or
/// links to folders.
pub(crate) type Listing = Rc<[(PathBuf, bool)]>;

impl Listings {
    /// The entries of a folder.
    pub(crate) fn entries(&self, folder: &Path) -> Result<Listing, Error> {
        if let Some(entries) = self.0.borrow().get(folder) {
            return Ok(Rc::clone(entries));
        }
        let entries: Listing = entries_with_kinds(folder)?.into();
        self.0.borrow_mut().insert(folder.to_owned(), Rc::clone(&entries));
        Ok(entries)
    }
}

/// Lists a folder. The listing has the kinds of its entries, so that a file is not asked for.
fn entries_with_kinds(folder: &Path) -> Result<Vec<(PathBuf, bool)>, Error> {
    let refused = Error::io(IoAction::Read, folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(&refused)? {
        let entry = entry.map_err(&refused)?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type().map_err(&refused)?;
        let is_folder = kind.is_dir() || kind.is_symlink() && entry.path().is_dir();
        found.push((name, is_folder));
    }
    // Names compare faster than paths, of which each part would be compared.
    found.sort_unstable();
    Ok(found.into_iter().map(|(name, is_folder)| (folder.join(name), is_folder)).collect())
}

/// The beginnings of names of files that describe others.
const DESCRIPTIONS: [&str; 6] =
    ["readme", "license", "copying", "changelog", "citation", "annotations"];

/// True for files that describe others, by their names.
pub(crate) fn is_description(path: &Path) -> bool {
    let name = lower_name(path);
    DESCRIPTIONS.iter().any(|start| name.starts_with(start))
}

/// The error for a file of documents in a packing that is not read.
pub fn packing_not_read(path: &Path) -> Error {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let hint = "unpack it, or pack it with gzip or zstd";
    problem!(path, "a file that is plain, .gz, .zst or .zip", "`{name}`", hint).into()
}

/// The files of documents at a path: the file itself, or those of the folder.
pub fn document_files(path: &Path) -> Result<Vec<Source>, Error> {
    if !path.is_dir() {
        return Ok(vec![Source::new(path)]);
    }
    let listed = DocumentFolder::list(path)?;
    if listed.documents.is_empty() {
        let hint = "their names end in .jsonl, .json, .tsv, .csv or .trecweb, followed by .gz, .zst or .zip if \
                    they are packed";
        bail!(path, "a folder with files of documents", "none", hint);
    }
    Ok(listed.documents.into_iter().map(Source::Path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_listed_with_their_subfolders() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("b/c")).unwrap();
        for name in ["b/c/1.JSONL", "a.tsv.GZ", "notes.txt", ".hidden.jsonl", "b/2.trecweb.zst"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let listed = DocumentFolder::list(folder.path()).unwrap();
        let names = |paths: &[PathBuf]| -> Vec<String> {
            let below = paths.iter().map(|path| path.strip_prefix(folder.path()).unwrap());
            below.map(|path| path.display().to_string()).collect()
        };
        assert_eq!(names(&listed.documents), ["a.tsv.GZ", "b/2.trecweb.zst", "b/c/1.JSONL"]);
        assert_eq!(names(&listed.texts), ["notes.txt"]);
        assert!(listed.unread.is_empty());
        fs::write(folder.path().join("b/3.jsonl.bz2"), "").unwrap();
        let refused = DocumentFolder::list(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("b/3.jsonl.bz2"), "{refused}");
        fs::remove_file(folder.path().join("b/3.jsonl.bz2")).unwrap();
        fs::write(folder.path().join("b/c/1.JSONL.zst"), "").unwrap();
        let refused = DocumentFolder::list(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("b/c/1.JSONL` and"), "{refused}");
    }
}
