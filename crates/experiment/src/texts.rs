//! Documents that are too many for memory, kept in the cache.

use crate::cache;
use clariq_core::{AddText, Checksum, Documents, Error, TextKeeper};
use clariq_index::{BuildOptions, TextStore};
use std::path::PathBuf;

/// Files with fewer bytes, packed or not, are read into memory.
const MOST_IN_MEMORY: u64 = 512 << 20;

/// Stores of texts in a cache folder.
#[derive(Debug, Clone)]
pub struct KeptTexts {
    /// The cache.
    pub cache: PathBuf,
    /// Files of so many bytes and more are too many for memory.
    pub from: u64,
}

impl Default for KeptTexts {
    /// In the user's cache, from 512 MiB on.
    fn default() -> Self {
        Self { cache: cache::folder(), from: MOST_IN_MEMORY }
    }
}

impl TextKeeper for KeptTexts {
    fn takes(&self, bytes: u64) -> bool {
        bytes >= self.from
    }

    fn keep(
        &self,
        source: &Checksum,
        fill: &mut dyn FnMut(AddText) -> Result<(), Error>,
    ) -> Result<Box<dyn Documents>, Error> {
        let folder = self.cache.join("texts").join(source.short());
        let memory = BuildOptions::default().memory;
        let store = TextStore::open_or_build(&folder, source, memory, &mut |writer| {
            fill(&mut |id, text| writer.add(id, text))
        });
        Ok(Box::new(store?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::Collection as _;
    use clariq_collections::ikat::{Folder, Ikat, PASSAGES};
    use clariq_core::Doc;
    use clariq_files::Source;
    use std::fmt::Write as _;
    use std::fs;
    use std::path::Path;

    /// The sample as a folder, with its passages in no order and some of them twice.
    fn write_sample(folder: &Path) -> Ikat {
        let sample = Ikat::open(Folder::Sample).unwrap();
        let passages = sample.ranked_in(PASSAGES);
        let mut lines: Vec<String> = Doc::all(passages.len())
            .map(|doc| {
                let (id, text) = (passages.id(doc), passages.text(doc).unwrap());
                serde_json::json!({ "id": id, "contents": text }).to_string()
            })
            .collect();
        lines.extend_from_within(3..9);
        lines.sort_by_key(|line| clariq_core::sha256([line.as_bytes()]));
        fs::write(folder.join("passages.jsonl"), lines.join("\n")).unwrap();
        sample
    }

    fn keeper(folder: &Path, from: u64) -> KeptTexts {
        KeptTexts { cache: folder.join("cache"), from }
    }

    #[test]
    fn passages_on_the_disk_are_those_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut sample = write_sample(folder.path());
        let expected = sample.ranked_in(PASSAGES).checksum().clone();
        let file = Source::new(folder.path().join("passages.jsonl"));
        // A second time, the store is there.
        for from in [u64::MAX, 0, 0] {
            let keeper = keeper(folder.path(), from);
            sample.take_documents(PASSAGES, &file, None, &keeper).unwrap();
            let passages = sample.ranked_in(PASSAGES);
            assert_eq!(*passages.checksum(), expected);
            assert_eq!(folder.path().join("cache/texts").exists(), from == 0);
            for doc in Doc::all(passages.len()) {
                assert_eq!(passages.find(&passages.id(doc)), Some(doc));
            }
        }
    }

    #[test]
    fn a_passage_with_two_texts_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::new();
        for words in ["one", "two"] {
            let _ = writeln!(text, "{{\"id\": \"a:1\", \"contents\": \"{words}\"}}");
        }
        let path = folder.path().join("passages.jsonl");
        fs::write(&path, text).unwrap();
        let mut sample = Ikat::open(Folder::Sample).unwrap();
        for from in [u64::MAX, 0] {
            let keeper = keeper(folder.path(), from);
            let taken = sample.take_documents(PASSAGES, &Source::new(&path), None, &keeper);
            let error = taken.unwrap_err().to_string();
            assert!(error.contains("passages.jsonl:2: "), "{error}");
            assert!(error.contains("`a:1` with another text"), "{error}");
        }
        let kept = fs::read_dir(folder.path().join("cache/texts")).unwrap();
        assert_eq!(kept.count(), 0, "nothing is left of it");
    }
}
