//! Texts of passages that are stored on disk.

use clariq_collections::Collection as _;
use clariq_core::{Checksum, Doc};
use clariq_experiment::TextStores;
use clariq_files::{Source, write_atomically};
use clariq_track_ikat::{Ikat, PASSAGES};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Writes the sample as a folder, with its passages shuffled and some of them twice.
fn write_sample(folder: &Path) -> Ikat {
    let sample = Ikat::open(clariq_track_ikat::SAMPLE, None).unwrap();
    let passages = sample.ranked_in(PASSAGES);
    let mut lines: Vec<String> = Doc::all(passages.len())
        .map(|doc| {
            let (id, text) = (passages.id(doc), passages.text(doc).unwrap());
            serde_json::json!({ "id": id, "contents": text }).to_string()
        })
        .collect();
    lines.extend_from_within(3..9);
    lines.sort_by_key(|line| Checksum::of_pieces([line.as_bytes()]));
    fs::write(folder.join("passages.jsonl"), lines.join("\n")).unwrap();
    sample
}

fn keeper(folder: &Path, min_bytes: u64) -> TextStores {
    TextStores { cache: folder.join("cache"), min_bytes }
}

#[test]
fn passages_stored_on_disk_equal_those_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut sample = write_sample(folder.path());
    let texts = |collection: &Ikat| -> Vec<[String; 2]> {
        let passages = collection.ranked_in(PASSAGES);
        let text = |doc| [passages.id(doc), passages.text(doc).unwrap()].map(Into::into);
        assert!(Doc::all(passages.len()).all(|doc| passages.find(&passages.id(doc)) == Some(doc)));
        Doc::all(passages.len()).map(text).collect()
    };
    let expected = texts(&sample);
    let file = Source::new(folder.path().join("passages.jsonl"));
    // In the last round, the store exists already.
    for min_bytes in [u64::MAX, 0, 0] {
        let keeper = keeper(folder.path(), min_bytes);
        sample.take_passages(std::slice::from_ref(&file), None, &keeper).unwrap();
        assert_eq!(texts(&sample), expected);
        assert_eq!(folder.path().join("cache/texts").exists(), min_bytes == 0);
    }
}

#[test]
fn reading_files_in_parallel_keeps_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = keeper(folder.path(), 0);
    let write = |number: usize, line: &str| {
        let path = folder.path().join(format!("{number:02}.jsonl.gz"));
        write_atomically(&path, |out| {
            (0..50).try_for_each(|row| {
                let (id, text) = (50 * number + row, row * number);
                writeln!(out, "{{\"id\": \"a:{id:04}\", \"contents\": \"{text}\"}}")
            })?;
            out.write_all(line.as_bytes())
        })
        .unwrap();
        Source::new(path)
    };
    let mut sample = Ikat::open(clariq_track_ikat::SAMPLE, None).unwrap();
    let mut files: Vec<_> = (0..20).map(|number| write(number, "")).collect();
    sample.take_passages(&files, None, &keeper).unwrap();
    let passages = sample.ranked_in(PASSAGES);
    assert_eq!(passages.len(), 1000);
    for doc in Doc::all(1000) {
        assert_eq!(passages.id(doc), format!("a:{:04}", doc.0));
        assert_eq!(passages.text(doc).unwrap(), (doc.0 % 50 * (doc.0 / 50)).to_string());
    }
    // The first of two errors is reported, whichever is found first.
    for number in [3, 17] {
        files[number] = write(number, "no passage\n");
    }
    for _ in 0..10 {
        let taken = sample.take_passages(&files, None, &keeper);
        let error = taken.unwrap_err().to_string();
        assert!(error.contains("03.jsonl.gz:51: "), "{error}");
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
    let mut sample = Ikat::open(clariq_track_ikat::SAMPLE, None).unwrap();
    for min_bytes in [u64::MAX, 0] {
        let keeper = keeper(folder.path(), min_bytes);
        let taken = sample.take_passages(&[Source::new(&path)], None, &keeper);
        let error = taken.unwrap_err().to_string();
        assert!(error.contains("passages.jsonl:2: "), "{error}");
        assert!(error.contains("`a:1` with another text"), "{error}");
    }
    let stores = fs::read_dir(folder.path().join("cache/texts")).unwrap();
    assert_eq!(stores.count(), 0, "the incomplete store is removed");
}
