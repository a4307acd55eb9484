//! The instruction set that learned models compute with: part of what makes a run, and held to
//! where one is named.

use crate::common::here::{Work, printed};
use crate::common::{Bench, Finished, LEARNED};
use clariq_core::{Error, Isa};
use clariq_experiment::shards::{Planned, cut};
use clariq_experiment::{Contexts, Loaded};
use serde_json::Value;
use std::num::NonZeroUsize;
use std::process::Command;

/// A bench with the sample, a system over a tiny encoder, and a few conversations.
fn bench() -> Bench {
    let bench = Bench::with_sample();
    bench.write_tiny();
    bench.write("r.jsonl", "{\"id\": 1, \"text\": \"saturn\"}\n{\"id\": 2, \"text\": \"a car\"}\n");
    bench
}

fn record(bench: &Bench, run: &str) -> Value {
    serde_json::from_slice(&bench.read(&format!("{run}.json"))).expect("a record")
}

fn refused(bench: &Bench, line: &str) -> Finished {
    let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(finished.status, Some(2), "{line}: {}", finished.stderr);
    finished
}

const RUN: &str = "-q run tiny.toml --data data -o";

#[test]
fn the_instruction_set_is_part_of_what_makes_a_run() {
    let bench = bench();
    let entries = || std::fs::read_dir(bench.path("cache/embeddings")).expect("vectors").count();
    let mut seen = Vec::new();
    for (count, isa) in ["sse41", "auto"].iter().enumerate() {
        bench.succeed(&format!("{RUN} {isa}.run --isa {isa}"));
        let record = record(&bench, &format!("{isa}.run"));
        assert_eq!(record["arithmetic"]["precision"], "f32");
        // The vectors of one are not those of the other.
        assert_eq!(entries(), count + 1);
        seen.push((record["arithmetic"]["isa"].clone(), record["models"].clone()));
    }
    assert_eq!(seen[0].0, "sse41");
    let auto = seen[1].0.as_str().expect("a name");
    assert!(Isa::best().is_some_and(|best| auto.starts_with(&format!("{best}-"))), "{auto}");
    assert_ne!(seen[0].1, seen[1].1, "what a model computes depends on it");
    // The other program holds to it by itself.
    let mut command = Command::new(LEARNED.expect("it was built"));
    let line = format!("{RUN} direct.run --isa sse41");
    command
        .args(line.split(' '))
        .current_dir(bench.path(""))
        .env("CLARIQ_CACHE", bench.path("cache"));
    assert!(command.status().expect("it starts").success());
    assert_eq!(
        record(&bench, "direct.run")["arithmetic"],
        record(&bench, "sse41.run")["arithmetic"]
    );
    assert!(bench.read("direct.run") == bench.read("sse41.run"));
    assert_eq!(entries(), 2);
    let shown = bench.succeed("doctor --data data --isa sse41 --format tsv").stdout;
    assert!(shown.contains("instruction set\tok\tsse41, as on every x86"), "{shown}");
}

#[test]
fn lexical_systems_do_not_depend_on_it() {
    let bench = bench();
    for isa in ["auto", "sse41"] {
        bench.succeed(&format!("-q run bm25 --data data -o {isa}/a.run --isa {isa}"));
    }
    assert!(bench.read("auto/a.run.json") == bench.read("sse41/a.run.json"));
    assert_eq!(record(&bench, "auto/a.run")["arithmetic"], Value::Null);
}

#[test]
fn a_plan_is_for_processors_that_compute_alike() {
    let bench = bench();
    // Whatever need not be held to an instruction set is done in this process.
    let here = |work: &dyn Fn(&Contexts, &Loaded) -> Result<(), Error>| {
        let loaded = Loaded::open(&bench.path("tiny.toml").display().to_string(), &[]);
        let loaded = loaded.expect("a system");
        let on = Work::on(&bench, "data", "dev");
        on.with_session(|session| work(&Contexts::new(session), &loaded)).0
    };
    let shard = |folder: &str, of_a_system: bool| {
        here(&|contexts, loaded| {
            let (file, system) = (bench.path("r.jsonl"), of_a_system.then_some(loaded));
            cut(contexts, &file, false, NonZeroUsize::MIN, &bench.path(folder), system).map(drop)
        })
    };
    let run = |folder: &str| {
        here(&|contexts, loaded| {
            let planned = Planned::read(&bench.path(folder).join("plan.json"))?;
            planned.run_shard(contexts, loaded, 0, None).map(drop)
        })
    };
    let held =
        |plan: &str| format!("-q run tiny.toml --data data --isa sse41 --shard {plan}/plan.json:");
    shard("auto", true).expect("a plan");
    shard("open", false).expect("a plan");
    bench.succeed(
        "-q data shard r.jsonl --data data --contexts 1 -o held --system tiny.toml --isa sse41",
    );
    let alike = "hint: `--isa avx2` for `clariq data shard`";
    for told in [
        refused(&bench, &format!("{}0", held("auto"))).stderr,
        printed(&run("held").expect_err("another instruction set")),
    ] {
        for part in ["learned models computed with {\"isa\":", alike] {
            assert!(told.contains(part), "{told}");
        }
    }
    run("auto").expect("a part");
    bench.succeed(&format!("{}0", held("held")));
    // A plan for no system in particular cannot know; its parts can.
    run("open").expect("a part");
    bench.succeed(&format!("{}1", held("open")));
    let finished = refused(&bench, "run --merge open/plan.json -o m.run");
    assert!(
        finished.stderr.contains("parts whose learned models computed with"),
        "{}",
        finished.stderr
    );
    assert!(!bench.path("m.run").exists());
}

#[test]
fn a_processor_is_not_asked_for_what_it_lacks() {
    let bench = bench();
    if Isa::best() < Some(Isa::Avx512) {
        let finished = refused(&bench, &format!("{RUN} a.run --isa avx512"));
        assert!(
            finished.stderr.contains("expected: an instruction set of this processor, not avx512"),
            "{}",
            finished.stderr
        );
        assert!(finished.stderr.contains("hint: `--isa "), "{}", finished.stderr);
    }
    assert!(refused(&bench, &format!("{RUN} a.run --isa sse9")).stderr.contains("avx2"));
    assert!(!bench.path("a.run").exists());
}
