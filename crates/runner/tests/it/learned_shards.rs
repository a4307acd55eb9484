//! Runs over shards by learned systems, in one process: put together, they are the single run.

use crate::common::here::Work;
use crate::common::{Bench, root};
use clariq_experiment::run::{FileInput, FileKind, RunOptions, run};
use clariq_experiment::shards::{Planned, cut};
use clariq_experiment::{Contexts, Loaded, Session};
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

/// What `strict` and `dense-conversation` do, over a tiny encoder.
const SYSTEMS: [(&str, &str, &str, usize); 2] = [
    ("strict", "configs/strict.toml", "r.jsonl", 64),
    ("dense-conversation", "configs/dense-conversation.toml", "c.jsonl", 160),
];

/// A built-in system over the tiny encoder alone, so that nothing has to be trained for minutes.
fn over_tiny(bench: &Bench, name: &str, config: &str) -> Loaded {
    let text = fs::read_to_string(root().join(config)).expect("a system");
    let tiny = root().join("crates/bert/tests/data/tiny").display().to_string();
    let lines = text.lines().map(|line| {
        if line.starts_with("models = ") {
            format!("models = {{ {tiny:?} = 1.0 }}")
        } else {
            line.to_owned()
        }
    });
    bench.write(&format!("{name}.toml"), lines.collect::<Vec<_>>().join("\n"));
    let path = bench.path(&format!("{name}.toml")).display().to_string();
    Loaded::open(&path, &[]).expect("a system")
}

/// Files of so many requests and conversations.
fn write_inputs(bench: &Bench) {
    bench.succeed("-q data synthesize --data data --split dev --contexts-only -o all.jsonl");
    let all = bench.text("all.jsonl");
    bench.write("c.jsonl", all.split_inclusive('\n').take(160).collect::<String>());
    assert_eq!(bench.text("c.jsonl").lines().count(), 160);
    let bank = bench.text("data/question_bank.tsv");
    let words = bank.lines().filter_map(|line| line.split_whitespace().next_back());
    let line = |(id, word): (usize, &str)| {
        format!("{}\n", serde_json::json!({ "id": id, "text": format!("tell me about {word}") }))
    };
    bench.write("r.jsonl", words.skip(2).take(64).enumerate().map(line).collect::<String>());
    assert_eq!(bench.text("r.jsonl").lines().count(), 64);
}

/// Cuts a file, makes every part, the last first, and puts them together.
fn through_shards(
    (systems, loaded): (&Contexts, &Loaded),
    file: &Path,
    (contexts, shards): (usize, usize),
    folder: &Path,
) -> Vec<u8> {
    let size = NonZeroUsize::new(contexts.div_ceil(shards)).expect("some");
    let plan = cut(systems, file, false, size, folder, Some(loaded)).expect("cut");
    assert_eq!(plan.shards.len(), shards);
    let planned = Planned::read(&folder.join("plan.json")).expect("a plan");
    for index in (0..shards).rev() {
        planned.run_shard(systems, loaded, index, None).expect("a part");
    }
    planned.merge(None, &folder.join("merged.run")).expect("all parts");
    fs::read(folder.join("merged.run")).expect("a run")
}

#[test]
fn learned_systems_through_shards_write_the_single_run() {
    let bench = Bench::with_sample();
    write_inputs(&bench);
    Work::on(&bench, "data", "dev")
        .with_session(|session| shards_write_the_single_run(&bench, session));
}

fn shards_write_the_single_run(bench: &Bench, session: &Session) {
    let systems = Contexts::new(session);
    for (name, config, file, contexts) in SYSTEMS {
        let loaded = over_tiny(bench, name, config);
        let file = bench.path(file);
        let is_strict = name == "strict";
        let kind = if is_strict { FileKind::Requests } else { FileKind::Conversations };
        let input = FileInput::open(session, &file, Some(kind), false).expect("an input");
        let whole = bench.path("whole.run");
        run(&systems, &loaded, &input, &RunOptions::default(), &whole).expect("a run");
        let whole = bench.read("whole.run");
        assert!(whole.len() > 10_000, "{name}: {} bytes", whole.len());
        for shards in [1, 2, 7, 16] {
            let folder = bench.path(&format!("{name}-{shards}"));
            let all = (&systems, &loaded);
            let merged = through_shards(all, &file, (contexts, shards), &folder);
            assert!(merged == whole, "{name}, {shards} shards");
        }
    }
}
