//! An index does not depend on how it was built, and is reused exactly if it fits.

use crate::common::{
    ANALYZER, bank, build, is_foreign, open_or_build, rankings, tokens, zipf_texts,
};
use clariq_collections::documents::Bank;
use clariq_core::Documents;
use clariq_index::{Analyzer, BuildOptions, DocumentIndex, OpenedIndex};
use std::fs;
use std::path::Path;
use std::sync::Arc;

const MB: usize = 1_000_000;

fn large_bank() -> Bank {
    bank(zipf_texts(7, 3_000, 20, 400))
}

fn other_bank() -> Bank {
    bank(["", "river"])
}

fn build_with(folder: &Path, bank: &Bank, threads: usize, memory: usize) -> Arc<DocumentIndex> {
    let options = BuildOptions { threads, memory };
    let (index, opened) =
        DocumentIndex::open_or_build(folder, bank, ANALYZER, &options).expect("an index");
    assert_eq!(opened, OpenedIndex::Built);
    index.into()
}

fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = files
        .map(|file| file.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn threads_and_memory_change_nothing() {
    let bank = large_bank();
    let parent = tempfile::tempdir().expect("a temporary folder");
    let expected = rankings(&build(&bank).index);
    // Twelve threads leave more segments than tantivy waits for before it merges some by itself.
    for (threads, memory) in
        [(1, 0), (1, 15 * MB), (2, 64 * MB), (4, 16 * MB), (4, 60 * MB), (12, 180 * MB), (0, 1)]
    {
        let folder = parent.path().join(format!("{threads}-{memory}"));
        let index = build_with(&folder, &bank, threads, memory);
        assert_eq!(rankings(&index), expected, "{threads} threads, {memory} bytes");
        let (reopened, opened) = open_or_build(&folder, &bank).expect("the index");
        assert_eq!(opened, OpenedIndex::Reused, "its metadata must outlive the merge");
        assert_eq!(rankings(&reopened), expected, "{threads} threads, {memory} bytes, reopened");
        assert_eq!(reopened.stats().expect("figures"), index.stats().expect("figures"));
    }
}

#[test]
fn more_memory_than_tantivy_allows_is_no_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    build_with(folder.path(), &bank(["", "river"]), 1, usize::MAX);
}

#[test]
fn figures_are_those_of_the_bank() {
    let bank = bank(["", "river stone river", "lamp", "the of and"]);
    let stats = build(&bank).index.stats().expect("figures");
    assert_eq!((stats.documents, stats.tokens, stats.vocabulary, stats.longest), (4, 4, 3, 3));
    assert_eq!(stats.analyzer, ANALYZER);
}

#[test]
fn a_bank_with_only_the_empty_question_is_indexed() {
    let built = build(&bank([""]));
    let stats = built.index.stats().expect("figures");
    assert_eq!((stats.documents, stats.tokens, stats.vocabulary, stats.longest), (1, 0, 0, 0));
    assert_eq!(rankings(&built.index).iter().map(Vec::len).collect::<Vec<_>>(), [1; 10]);
}

#[test]
fn a_bank_without_questions_is_refused_before_anything_is_written() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let result = open_or_build(&parent.path().join("index"), &bank([""; 0]));
    let error = result.err().expect("an error").to_problem();
    assert!(error.expected.starts_with("at least one document"), "{error}");
    assert!(names(parent.path()).is_empty());
}

#[test]
fn an_index_of_another_bank_or_analyser_is_rebuilt_for_a_stated_reason() {
    let (old, new) = (bank(["", "river stone"]), bank(["", "river stone", "lamp"]));
    let built = build(&old);
    let folder = built.folder.path();
    let open = |bank, analyzer| {
        let (index, opened) =
            DocumentIndex::open_or_build(folder, bank, analyzer, &BuildOptions::default())
                .expect("an index");
        assert_eq!((index.documents(), index.analyzer()), (bank.len(), analyzer));
        opened
    };
    let because = format!("it is of other documents ({})", old.checksum().short());
    assert_eq!(open(&new, ANALYZER), OpenedIndex::Rebuilt { because });
    assert_eq!(open(&new, ANALYZER), OpenedIndex::Reused);
    let because = "it was made with the analyser `english`".to_owned();
    assert_eq!(open(&new, Analyzer::Nltk), OpenedIndex::Rebuilt { because });
    assert_eq!(open(&new, Analyzer::Nltk), OpenedIndex::Reused);
}

#[test]
fn an_index_of_another_format_is_rebuilt_whatever_its_fields() {
    let bank = bank(["", "river stone"]);
    let built = build(&bank);
    let meta = built.folder.path().join("meta.json");
    let text = fs::read_to_string(&meta).expect("tantivy's metadata");
    let other =
        text.replace(r#"\"clariq_index_format\":5"#, r#"\"clariq_index_format\":99,\"new\":true"#);
    assert_ne!(other, text);
    fs::write(&meta, other).expect("written");
    let (_, opened) = open_or_build(built.folder.path(), &bank).expect("an index");
    assert_eq!(
        opened,
        OpenedIndex::Rebuilt { because: "its format is 99, this version writes 5".to_owned() }
    );
}

#[test]
fn a_replaced_index_leaves_nothing_behind() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let folder = parent.path().join("deep/index");
    for texts in [["", "river"], ["", "stone"]] {
        open_or_build(&folder, &bank(texts)).expect("an index");
        assert_eq!(names(&parent.path().join("deep")), ["index"]);
    }
}

#[test]
fn an_open_index_outlives_its_replacement() {
    let bank = large_bank();
    let built = build(&bank);
    let before = rankings(&built.index);
    open_or_build(built.folder.path(), &other_bank()).expect("another index");
    assert_eq!(rankings(&built.index), before);
}

#[test]
fn the_files_of_a_killed_build_are_not_used() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let folder = parent.path().join("index");
    let bank = bank(["", "river stone"]);
    // Temporary folders of processes that died: a complete index of another bank that was not moved
    // to its place yet, and one with half of its files.
    let whole = parent.path().join(".clariq-aaaaaa.tmp/new");
    open_or_build(&whole, &crate::common::bank(["", "river", "lamp"])).expect("an index");
    let half = parent.path().join(".clariq-bbbbbb.tmp/new");
    fs::create_dir_all(&half).expect("created");
    fs::write(half.join(".managed.json"), "[\"meta.json\"").expect("written");
    for expected in [OpenedIndex::Built, OpenedIndex::Reused] {
        let (index, opened) = open_or_build(&folder, &bank).expect("an index");
        assert_eq!((opened, index.documents()), (expected, 2));
    }
    assert!(!whole.exists() && !half.exists(), "what processes left that died is removed");
}

#[test]
fn processes_that_build_at_once_all_get_the_index() {
    let bank = large_bank();
    let parent = tempfile::tempdir().expect("a temporary folder");
    let folder = parent.path().join("index");
    let expected = rankings(&build(&bank).index);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let (index, _) = open_or_build(&folder, &bank).expect("an index");
                assert_eq!(rankings(&index), expected);
            });
        }
    });
    assert_eq!(names(parent.path()), ["index"]);
}

#[test]
fn processes_that_replace_an_index_at_once_leave_a_right_one() {
    let bank = large_bank();
    let parent = tempfile::tempdir().expect("a temporary folder");
    let folder = parent.path().join("index");
    let expected = rankings(&build(&bank).index);
    open_or_build(&folder, &other_bank()).expect("an index of another bank");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // An error is possible here: for a moment there is no index. A wrong one is not.
                if let Ok((index, _)) = open_or_build(&folder, &bank) {
                    assert_eq!(rankings(&index), expected);
                }
            });
        }
    });
    let (index, _) = open_or_build(&folder, &bank).expect("an index");
    assert_eq!(rankings(&index), expected);
    assert_eq!(names(parent.path()), ["index"]);
}

#[test]
fn a_link_to_a_folder_stays_a_link() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let link = parent.path().join("link");
    let real = parent.path().join("disk/real");
    fs::create_dir_all(&real).expect("created");
    std::os::unix::fs::symlink(&real, &link).expect("linked");
    for texts in [["", "river"], ["", "stone"]] {
        let (index, _) = open_or_build(&link, &bank(texts)).expect("an index");
        assert_eq!(index.documents(), 2);
        assert!(link.is_symlink() && real.join("meta.json").is_file());
    }
    assert_eq!(names(&parent.path().join("disk")), ["real"]);
}

#[test]
fn opening_a_folder_without_an_index_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for place in [folder.path().to_owned(), folder.path().join("nowhere")] {
        let error = DocumentIndex::open(&place).err().expect("an error");
        assert!(error.to_string().ends_with("no index has been built here"), "{error}");
    }
    let file = folder.path().join("file");
    fs::write(&file, "").expect("written");
    let error = DocumentIndex::open(&file).err().expect("an error");
    assert!(is_foreign(&error), "{error}");
}

#[test]
fn pre_analysed_tokens_reach_the_index_unchanged() {
    // Neither of tantivy's own tokenisers would keep "'m" or "?" as the analyser gives them.
    let text = "I'm looking for U.S. houses?";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let built = DocumentIndex::open_or_build(
        folder.path(),
        &bank(["", text]),
        Analyzer::Nltk,
        &BuildOptions::default(),
    );
    let (index, _) = built.expect("an index");
    let different: std::collections::BTreeSet<_> =
        Analyzer::Nltk.tokens(text).into_iter().collect();
    assert_eq!(index.stats().expect("figures").vocabulary, different.len());
    assert_ne!(Analyzer::Nltk.tokens(text), tokens(text));
}
