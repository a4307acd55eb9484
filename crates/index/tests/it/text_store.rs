//! A store of texts equals a bank in memory of the same texts, and is rebuilt exactly if it does
//! not fit.

use crate::common::{ANALYZER, bank, is_foreign, rankings, zipf_texts};
use clariq_collections::documents::{Bank, BankRow};
use clariq_core::{Checksum, Doc, Documents, Error};
use clariq_index::{BuildOptions, DocumentIndex, TextStore};
use rayon::prelude::*;
use std::cell::Cell;
use std::collections::HashSet;
use std::fs;
use std::path::Path;

fn source(name: &str) -> Checksum {
    Checksum::of_pieces([name.as_bytes()])
}

/// Opens or builds a store of rows in that order; true if it was built.
fn store(folder: &Path, name: &str, rows: &[BankRow]) -> Result<(TextStore, bool), Error> {
    let built = Cell::new(false);
    let store = TextStore::open_or_build(folder, &source(name), 0, &|add| {
        built.set(true);
        rows.par_iter().try_for_each(|row| add(row.id.as_str(), &row.text))
    })?;
    Ok((store, built.get()))
}

fn row(id: &str, text: &str) -> BankRow {
    BankRow { id: id.into(), text: text.to_owned() }
}

/// Rows in no order, some of them twice.
fn shuffled(bank: &Bank) -> Vec<BankRow> {
    let mut rows = bank.rows().to_vec();
    rows.extend_from_within(rows.len() / 2..);
    rows.sort_by_cached_key(|row| source(row.id.as_str()));
    rows
}

fn check_same(store: &TextStore, bank: &Bank) {
    assert_eq!(store.len(), bank.len());
    let mut order = store.reading_order();
    order.sort_unstable();
    assert!(order.into_iter().eq(Doc::all(bank.len())));
    for doc in Doc::all(bank.len()) {
        assert_eq!(store.id(doc), bank.id(doc).as_str());
        assert_eq!(store.text(doc).expect("a text"), bank.text(doc));
        assert_eq!(store.find(bank.id(doc).as_str()), Some(doc));
    }
    for id in ["", "Q", "Q0000", "zzz", "Q000000"] {
        assert_eq!(store.find(id), bank.find(id), "{id}");
    }
}

#[test]
fn a_text_store_equals_the_bank_of_the_same_texts() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let texts = ["", "one\ttab and\nlines", "naïve ☕"].map(str::to_owned);
    // The writer keeps ids in memory: these exceed it, so that several segments are written.
    let long = |number| row(&format!("{number:010000}"), &format!("text {number}"));
    let long = Bank::new((0..2_000).map(long).collect(), "");
    for (name, bank) in
        [("few", bank(texts)), ("many", bank(zipf_texts(3, 3_000, 30, 200))), ("long", long)]
    {
        let folder = parent.path().join(name);
        let (first, built) = store(&folder, name, &shuffled(&bank)).expect("a store");
        assert!(built);
        check_same(&first, &bank);
        let (sorted, _) = store(&folder.with_extension("s"), name, bank.rows()).expect("a store");
        assert_eq!(Documents::checksum(&sorted), Documents::checksum(&first));
        drop(first);
        let (again, built) = store(&folder, name, &[]).expect("the store");
        assert!(!built);
        check_same(&again, &bank);
    }
}

#[test]
fn the_checksum_of_a_text_store_covers_every_id_and_text() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let different = [
        vec![row("a", "one"), row("b", "two")],
        vec![row("a", "two"), row("b", "one")],
        vec![row("a", "one"), row("b", "two"), row("c", "")],
        vec![row("a", "one"), row("c", "two")],
        vec![row("a", "one")],
    ];
    let sums = different.iter().enumerate().map(|(number, rows)| {
        let folder = parent.path().join(number.to_string());
        Documents::checksum(&store(&folder, "x", rows).expect("a store").0).clone()
    });
    assert_eq!(sums.collect::<HashSet<_>>().len(), different.len());
}

#[test]
fn an_index_over_a_text_store_equals_that_over_the_bank() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let bank = bank(zipf_texts(5, 500, 20, 80));
    let (store, _) = store(&parent.path().join("texts"), "a", &shuffled(&bank)).expect("a store");
    let options = BuildOptions::default();
    let build = |name: &str, documents: &dyn Documents| {
        let folder = parent.path().join(name);
        let opened = DocumentIndex::open_or_build(&folder, documents, ANALYZER, &options);
        opened.expect("an index").0.into()
    };
    assert_eq!(rankings(&build("store", &store)), rankings(&build("bank", &bank)));
}

#[test]
fn a_text_store_of_another_source_or_with_damage_is_rebuilt() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rows = [row("b", "two"), row("a", "one")];
    assert!(store(folder.path(), "x", &rows).expect("a store").1);
    assert!(!store(folder.path(), "x", &rows).expect("a store").1);
    assert!(store(folder.path(), "y", &rows).expect("a store").1, "another source");
    for file in fs::read_dir(folder.path()).expect("a folder") {
        let path = file.expect("an entry").path();
        let Ok(mut bytes) = fs::read(&path) else { continue };
        if path.extension().is_none_or(|kind| kind != "store") {
            continue;
        }
        bytes[3] ^= 1;
        fs::write(&path, bytes).expect("written");
        let (whole, built) = store(folder.path(), "y", &rows).expect("a store");
        assert!(built, "{}", path.display());
        assert_eq!(whole.text(Doc(0)).expect("a text"), "one");
    }
}

#[test]
fn a_folder_that_is_no_text_store_is_refused_and_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let two = [row("a", "one"), row("b", "two"), row("a", "other")];
    let error = store(folder.path(), "x", &two).err().expect("an error").to_string();
    assert!(error.contains("every id with one text"), "{error}");
    assert!(error.ends_with("found a"), "{error}");
    assert!(store(folder.path(), "x", &[]).is_err(), "no texts");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is left");
    fs::write(folder.path().join("notes.txt"), "mine").expect("written");
    let error = store(folder.path(), "x", &two[..2]).err().expect("an error");
    assert!(is_foreign(&error), "{error}");
    assert_eq!(fs::read(folder.path().join("notes.txt")).expect("it is there"), b"mine");
}
