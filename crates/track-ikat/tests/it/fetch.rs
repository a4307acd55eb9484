//! Fetching from a clone of one of the repositories that the release comes from.

use clariq_collections::fetch::{FetchOutcome, FetchRequest, fetch};
use clariq_core::Silent;
use clariq_net::download::Origin;
use clariq_track_ikat::KIND;
use std::fs;

#[test]
fn a_clone_of_the_tracks_repository_has_its_files_without_owner_and_commit() {
    let clone = tempfile::tempdir().unwrap();
    let target = tempfile::tempdir().unwrap();
    let below = clone.path().join("2025/data/2025_baselines");
    fs::create_dir_all(&below).unwrap();
    fs::write(clone.path().join("2025/data/2025_test_topics.json"), "[]").unwrap();
    fs::write(clone.path().join("2025/data/generation-only-base.jsonl"), "{}").unwrap();
    fs::write(below.join("gpt41mini-bm25-minilm-llama70b-gpt41mini.jsonl"), "{}").unwrap();
    let mut request = FetchRequest::of(&KIND.released.unwrap(), target.path());
    request.origin = Origin::Folder(clone.path().to_owned());
    let fetched = fetch(&request, &Silent).unwrap();
    let fetched = fetched.iter().filter(|(_, outcome)| matches!(outcome, FetchOutcome::Fetched(_)));
    let names: Vec<&str> = fetched.map(|(file, _)| file.name).collect();
    assert_eq!(
        names,
        [
            "2025_test_topics.json",
            "generation-only-base.jsonl",
            "2025_baselines/gpt41mini-bm25-minilm-llama70b-gpt41mini.jsonl",
        ]
    );
    assert!(target.path().join(names[2]).is_file());
}
