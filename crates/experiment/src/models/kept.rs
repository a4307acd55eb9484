//! Files of the cache that are computed from a model and documents, such as indexes of weights. They
//! are mapped into memory.

use crate::cache::CacheEntry;
use clariq_core::{
    Checksum, Error, IoAction, Kept, MakeKept, Observer, Progress, Result, SharedBytes,
};
use clariq_index::map_file;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

const FILE: &str = "kept.bin";

/// The file that `make` writes, from the entry in `folder` that is named after its key.
pub(super) fn kept(
    folder: &Path,
    kept: &Kept,
    make: MakeKept,
    observer: &dyn Observer,
    progress: Progress,
) -> Result<SharedBytes> {
    let name = Checksum::of_pieces([kept.key.as_bytes()]);
    let entry = CacheEntry { entry: folder.join(name.short()), file: FILE, what: kept.what };
    if let Some(found) = entry.read_or_note(observer, |path| map_file(path).ok()) {
        progress(kept.documents as u64);
        return Ok(found);
    }
    let written = entry.write(|path| {
        let refused = Error::io(IoAction::Write, path);
        let mut out = BufWriter::new(File::create(path).map_err(&refused)?);
        make(&mut out, progress)?;
        out.flush().map_err(refused)
    });
    match written {
        Ok(()) => {
            if let Ok(Some(found)) = entry.read(|path| map_file(path).ok()) {
                return Ok(found);
            }
        }
        // The cache is a convenience: a full disk must not stop a run that needs no file.
        Err(Error::Io { .. }) => {}
        Err(error) => return Err(error),
    }
    in_memory(make, progress)
}

/// The bytes that `make` writes, without a file.
pub(super) fn in_memory(make: MakeKept, progress: Progress) -> Result<SharedBytes> {
    let mut bytes = Vec::new();
    make(&mut bytes, progress)?;
    Ok(Arc::new(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::{ModelKind, ModelName, Silent, problem};
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn kept_at(folder: &Path, key: &str, make: MakeKept) -> Result<SharedBytes> {
        let model = ModelName::new("m", ModelKind::Encoder);
        let about = Kept { model: &model, folder: "impacts", what: "weights", key, documents: 3 };
        kept(folder, &about, make, &Silent, &|_| {})
    }

    #[test]
    fn a_file_is_made_once_and_again_when_it_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let calls = AtomicUsize::new(0);
        let get = |folder: &Path, key: &str| {
            let make: MakeKept = &|out, _| {
                calls.fetch_add(1, Ordering::Relaxed);
                out.write_all(b"weights").map_err(Error::io(IoAction::Write, "memory"))
            };
            let found = kept_at(folder, key, make).unwrap();
            assert_eq!((*found).as_ref(), b"weights");
            calls.load(Ordering::Relaxed)
        };
        assert_eq!([get(folder.path(), "a"), get(folder.path(), "a")], [1, 1]);
        assert_eq!(get(folder.path(), "b"), 2, "another key");
        for entry in fs::read_dir(folder.path()).unwrap() {
            fs::write(entry.unwrap().path().join(FILE), "damaged").unwrap();
        }
        assert_eq!([get(folder.path(), "a"), get(folder.path(), "a")], [3, 3]);
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(get(&file, "a"), 4, "a cache that cannot be written");
    }

    #[test]
    fn what_cannot_be_made_leaves_no_entry() {
        let folder = tempfile::tempdir().unwrap();
        let make: MakeKept = &|out, _| {
            out.write_all(b"half").map_err(Error::io(IoAction::Write, "memory"))?;
            Err(problem!("model", "weights", "NaN").into())
        };
        let made = kept_at(folder.path(), "a", make);
        assert_eq!(made.err().unwrap().to_string(), "model: expected weights, found NaN");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
