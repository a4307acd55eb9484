//! Runs over shards: put together, they are the run over the whole file, byte for byte.

use clariq_collections::DataDir;
use clariq_collections::clariq::conversation::{Shape, synthesize};
use clariq_experiment::run::{FileInput, FileKind, RunOptions, run};
use clariq_experiment::shards::{Planned, cut};
use clariq_experiment::{Contexts, Loaded, Options, Session};
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

/// Whether shards of so many requests, made in any order, are the run over the whole file.
fn check_same(session: &Session, name: &str, (kind, file): (FileKind, &Path), sizes: &[usize]) {
    let (contexts, loaded) = (Contexts::new(session), Loaded::open(name, &[]).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let [whole, merged] = ["whole.run", "merged.run"].map(|name| folder.path().join(name));
    let input = FileInput::open(session, file, Some(kind), false).unwrap();
    run(&contexts, &loaded, &input, &RunOptions::default(), &whole).unwrap();
    let text = fs::read(&whole).unwrap();
    assert!(text.len() > 3_000, "{name}: {} bytes", text.len());
    // The record names the file of the run.
    let record = |run: &Path| {
        let record = fs::read_to_string(run.with_extension("run.json")).unwrap();
        record.replace("merged.run", "whole.run")
    };
    for &size in sizes {
        let at = folder.path().join(size.to_string());
        let size = NonZeroUsize::new(size).unwrap();
        let shards = cut(&contexts, file, false, size, &at, None).unwrap().shards.len();
        let planned = Planned::read(&at.join("plan.json")).unwrap();
        for index in (0..shards).rev() {
            planned.run_shard(&contexts, &loaded, index, None).unwrap();
        }
        planned.merge(None, &merged).unwrap();
        assert!(fs::read(&merged).unwrap() == text, "{name}, {size} each");
        assert_eq!(record(&merged), record(&whole), "{name}, {size} each");
    }
}

/// Requests in both forms, with blank lines between them.
fn requests() -> String {
    let line = |id: usize| match id % 3 {
        0 => format!("{{\"id\": {id}, \"text\": \"what about number {id} of a dog\"}}\n\n"),
        1 => format!(
            "{{\"id\": \"t{id}\", \"said\": [{{\"user\": \"saturn\"}}, {{\"system\": \"the car\"}}, \
             {{\"user\": \"no, {id}\"}}]}}\n"
        ),
        _ => format!(
            "{{\"id\": {id}, \"text\": \"a car\", \"candidates\": [\"Q00003\", \"Q00002\"]}}\n"
        ),
    };
    (0..130).map(line).collect()
}

#[test]
fn shards_make_the_run_over_the_whole_file() {
    let collection = clariq_collections::open(&DataDir::Sample).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = Options { cache: folder.path().join("cache"), ..Options::default() };
    let session = Session::new(&*collection, options).unwrap();
    let made = folder.path().join("c.jsonl");
    synthesize(&*collection, "dev", Shape::default(), std::slice::from_ref(&made)).unwrap();
    let made = (FileKind::Conversations, &*made);
    check_same(&session, "bm25-multi-turn", made, &[5000, 750, 215]);
    check_same(&session, "bm25-conversation", made, &[400]);
    // Its questions are of no bank, which nobody checks again in a shard.
    let human = "../collections/sample/multi_turn_human_generated_data.tsv";
    let human = Path::new(env!("CARGO_MANIFEST_DIR")).join(human);
    check_same(&session, "bm25-multi-turn", (FileKind::Conversations, &human), &[7]);
    let file = folder.path().join("requests.jsonl");
    fs::write(&file, requests()).unwrap();
    check_same(&session, "bm25", (FileKind::Requests, &file), &[130, 65, 19]);
}
