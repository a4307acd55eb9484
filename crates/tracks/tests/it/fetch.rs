//! Fetching into a data folder: released files stay, different ones are only replaced with force, and
//! one process waits for another.

use crate::released::released;
use clariq_collections::fetch::{FetchOutcome, FetchRequest, fetch};
use clariq_collections::{DataDir, ReleasedFile};
use clariq_core::{Checksum, Observer, ProblemKind, Silent};
use clariq_files::{Lock, Source};
use clariq_net::download::Origin;
use clariq_tracks::TRACKS;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// A released file; digests are leaked, as the real ones are part of the program.
fn file(name: &'static str, released: Option<&[u8]>, required: bool) -> ReleasedFile {
    let sha256 = released.map(|bytes| &*Checksum::of(bytes).to_string().leak());
    ReleasedFile { name, path: name, sha256, most_bytes: 100, required, archive: false }
}

fn known(name: &'static str, bytes: &[u8]) -> ReleasedFile {
    file(name, Some(bytes), true)
}

/// An origin with files of these contents, and an empty data folder.
fn arrange(files: &[(&str, &str)], wanted: &[ReleasedFile]) -> (TempDir, FetchRequest) {
    let outer = tempfile::tempdir().unwrap();
    let origin = outer.path().join("origin");
    fs::create_dir_all(&origin).unwrap();
    for (name, content) in files {
        fs::write(origin.join(name), content).unwrap();
    }
    let release = TRACKS.kinds()[0].released.unwrap();
    let mut request = FetchRequest::of(&release, outer.path().join("data"));
    request.origin = Origin::Folder(origin);
    request.files = wanted.to_vec();
    (outer, request)
}

fn outcomes(request: &FetchRequest) -> Vec<FetchOutcome> {
    fetch(request, &Silent).unwrap().into_iter().map(|(_, outcome)| outcome).collect()
}

#[test]
fn a_file_that_is_already_present_is_not_fetched_again() {
    let wanted =
        [known("train.tsv", b"T"), file("train.qrel", None, false), file("no", None, false)];
    let (_outer, request) = arrange(&[("train.tsv", "T"), ("train.qrel", "Q")], &wanted);
    let fetched = FetchOutcome::Fetched(1);
    assert_eq!(outcomes(&request), [fetched, fetched, FetchOutcome::NotThere]);
    assert_eq!(fs::read(request.folder.join("train.tsv")).unwrap(), b"T");
    assert_eq!(
        outcomes(&request),
        [FetchOutcome::Present, FetchOutcome::Present, FetchOutcome::NotThere]
    );
}

#[test]
fn a_different_local_file_is_only_replaced_with_force() {
    let wanted =
        [known("question_bank.tsv", b"B"), known("train.tsv", b"T"), known("dev.tsv", b"D")];
    let released = [("question_bank.tsv", "B"), ("train.tsv", "T"), ("dev.tsv", "D")];
    let (_outer, mut request) = arrange(&released, &wanted);
    fs::create_dir(&request.folder).unwrap();
    let path = |name: &str| request.folder.join(name);
    fs::write(path("train.tsv"), "mine").unwrap();
    fs::write(path("dev.tsv"), "mine too").unwrap();
    let error = fetch(&request, &Silent).unwrap_err();
    let report = error.to_problem();
    assert!(report.title().contains("train.tsv") && report.found.contains("dev.tsv"), "{report:?}");
    assert!(report.found.contains(Checksum::of(b"mine").as_str()), "{report:?}");
    assert!(report.hint.contains("--force"), "{report:?}");
    assert_eq!(fs::read(path("train.tsv")).unwrap(), b"mine");
    assert!(!path("question_bank.tsv").exists(), "nothing is fetched before that is settled");

    request.force = true;
    assert_eq!(outcomes(&request), [FetchOutcome::Fetched(1); 3]);
    assert_eq!(fs::read(request.folder.join("dev.tsv")).unwrap(), b"D");
}

#[test]
fn an_origin_without_a_required_file_is_an_error() {
    let (_outer, request) = arrange(&[], &[known("train.tsv", b"T")]);
    let error = fetch(&request, &Silent).unwrap_err();
    assert_eq!(error.kind(), Some(ProblemKind::MissingFile), "{error}");
}

#[test]
fn twenty_fetches_into_one_folder_all_succeed() {
    let body = "x".repeat(100);
    let wanted = [known("train.tsv", body.as_bytes()), file("train.qrel", None, false)];
    let (_outer, request) = arrange(&[("train.tsv", &body), ("train.qrel", &body)], &wanted);
    let finished: Vec<Vec<FetchOutcome>> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..20).map(|_| scope.spawn(|| outcomes(&request))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let is_fetched = |outcome: &FetchOutcome| matches!(outcome, FetchOutcome::Fetched(_));
    assert_eq!(finished.iter().flatten().filter(|outcome| is_fetched(outcome)).count(), 2);
    assert_eq!(fs::read_to_string(request.folder.join("train.tsv")).unwrap(), body);
}

struct Waits<'a>(&'a AtomicBool);

impl Observer for Waits<'_> {
    fn note(&self, _text: &str) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_fetch_that_waits_for_another_one_prints_a_note() {
    let (_outer, request) = arrange(&[("train.tsv", "T")], &[known("train.tsv", b"T")]);
    fs::create_dir(&request.folder).unwrap();
    let lock = Lock::acquire(&request.folder.join(".fetch.lock"), || {}).unwrap();
    let waits = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| fetch(&request, &Waits(&waits)).unwrap());
        while !waits.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        assert!(!other.is_finished());
        drop(lock);
        assert_eq!(other.join().unwrap().len(), 1);
    });
}

/// The files of iKAT are fetched by their paths at the origin, and are the released ones.
#[test]
fn released_files_have_their_names_and_digests() {
    let Some(shared) = released("ikat") else { return };
    let kind = TRACKS.kinds().iter().find(|kind| kind.name == "iKAT").unwrap();
    let release = kind.released.unwrap();
    let outer = tempfile::tempdir().unwrap();
    let origin = outer.path().join("origin");
    let pinned: Vec<ReleasedFile> =
        release.files().into_iter().filter(|file| file.sha256.is_some()).collect();
    for file in &pinned {
        let below = ["", "topics", "passages", "qrels", "published"];
        let found = below.into_iter().find_map(|below| {
            let path = shared.join(below).join(file.name);
            let packed = shared.join(below).join(format!("{}.gz", file.name));
            [path, packed].into_iter().find(|path| path.exists())
        });
        let bytes = Source::new(found.unwrap()).read().unwrap().bytes;
        assert_eq!(bytes.len() as u64, file.most_bytes, "{}", file.name);
        let target = origin.join(file.path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, bytes).unwrap();
    }
    let mut request = FetchRequest::of(&release, outer.path().join("data"));
    request.origin = Origin::Folder(origin);
    let all = outcomes(&request);
    assert_eq!(pinned.len(), 8);
    let fetched = all.iter().filter(|one| matches!(one, FetchOutcome::Fetched(_))).count();
    assert_eq!(fetched, pinned.len(), "{all:?}");
    let fetched = DataDir::Folder(request.folder.clone());
    assert_eq!(TRACKS.kind_of(&fetched).unwrap().name, kind.name);
}

#[test]
fn an_origin_without_any_of_the_files_is_an_error_that_names_them() {
    let files = [known("a.trec", b"a"), known("b.trec", b"b")];
    let files = files.map(|file| ReleasedFile { required: false, ..file });
    let (_outer, request) = arrange(&[("other", "x")], &files);
    let error = fetch(&request, &Silent).unwrap_err().to_string();
    assert!(error.contains("a.trec, b.trec") && error.contains("none of them"), "{error}");
}
