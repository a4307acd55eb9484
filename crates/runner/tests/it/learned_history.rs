//! A conversational encoder: trained on small files in the form of TREC `CAsT`, with a tiny random
//! BERT, and used to rank statements and passages.

use crate::common::here::{Work, printed, write};
use crate::common::{Bench, root};
use clariq_core::Error;
use clariq_experiment::Again;
use serde_json::{Value, json};
use std::fs;

const RECIPE: &str = "name = \"follower\"\nbase = \"@/tiny\"\nepochs = 3\nlearning_rate = 1e-3\ncheckpoint_every = 2\n\
    max_tokens = 96\n[objective]\nkind = \"resolved-utterance\"\nbatch = 4\nuntrained = 0.5\n\
    history = { context = 0.3, system = 0.3, decay = 0.3 }\n";

/// Ranks by the last utterance and, as `weight` says, by what the encoder makes of it.
fn system(name: &str, weight: f64) -> String {
    let stage = format!(
        "stage = \"dense\"\nhistory = {{ meaning = {{ model = \"@/follower.toml\", weight = {weight:?} }} }}\n"
    );
    let tasks = ["statements", "passages", "sentences"];
    let tasks = tasks.map(|task| format!("[[tasks.{task}.stages]]\n{stage}"));
    format!(
        "name = \"{name}\"\nuses = [\"train-labels\"]\n[space]\nmodels = {{ \"@/tiny\" = 1.0 }}\n{}\
         [answer]\nclass = \"automatic\"\nstatements = {{ most = 1, least = 0.0, gap = 0.0 }}\n\
         response = {{ sources = 2, tokens = 60, fewest_words = 3, most_words = 60 }}\n",
        tasks.concat()
    )
}

/// Conversations of three turns about some things, in the form of the years 2020 and 2021.
fn topics(things: &[&str]) -> String {
    let turns = |thing: &str| {
        let turn = |number: usize, raw: &str, resolved: String| {
            json!({
                "number": number,
                "raw_utterance": raw,
                "manual_rewritten_utterance": resolved,
                "passage": format!("There is much to say of {thing}. It costs little."),
            })
        };
        json!([
            turn(1, &format!("Tell me about {thing}."), format!("Tell me about {thing}.")),
            turn(2, "What does it cost?", format!("What does {thing} cost?")),
            turn(3, "Where is it sold?", format!("Where is {thing} sold?")),
        ])
    };
    let number = |(number, thing): (usize, &&str)| json!({"number": number, "turn": turns(thing)});
    Value::from(things.iter().enumerate().map(number).collect::<Vec<_>>()).to_string()
}

/// A bench with two conversations of the sample of iKAT in `data`, files of `CAsT` in `data/cast`, the tiny model, a
/// recipe and two systems.
fn bench() -> Bench {
    let bench = Bench::new();
    for name in ["config.json", "model.safetensors", "vocab.txt"] {
        let path = root().join("crates/bert/tests/data/tiny").join(name);
        bench.write(&format!("tiny/{name}"), fs::read(path).expect("a file"));
    }
    // Passages are longer than what the tiny model reads.
    bench.write("tiny/sentence_bert_config.json", "{\"max_seq_length\": 96}");
    bench.write_ikat("data", |topics| topics.truncate(2));
    let things = [["tea", "coffee"], ["bread", "honey"], ["a tent", "a car"]];
    let names = [
        "2020_manual_evaluation_topics_v1.0",
        "2021_manual_evaluation_topics_v1.0",
        "2022_evaluation_topics_tree_v1.0",
    ];
    for (name, things) in names.iter().zip(things) {
        bench.write(&format!("data/cast/{name}.json"), topics(&things));
    }
    bench.write("data/cast/2019_evaluation_topics_v1.0.json", topics(&["cheese"]));
    let resolved = "0_1\tTell me about cheese.\n0_2\tWhat does cheese cost?\n";
    bench.write("data/cast/2019_evaluation_topics_annotated_resolved_v1.0.tsv", resolved);
    write(&bench, "follower.toml", RECIPE);
    write(&bench, "with.toml", &system("with", 2.0));
    write(&bench, "without.toml", &system("without", 0.0));
    bench
}

fn files(bench: &Bench, folder: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(bench.path(folder)).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    let read = |name: String| (name.clone(), bench.read(&format!("{folder}/{name}")));
    names.into_iter().map(read).collect()
}

#[test]
fn it_is_trained_when_it_is_needed_and_ranks_the_same_on_any_number_of_threads() {
    let bench = bench();
    let run = |name: &str, threads: usize, out: &str| {
        let work = Work { threads, ..Work::on(&bench, "data", "2023-test") };
        work.run(&format!("{name}.toml"), &[], &format!("{out}.json")).expect("a run")
    };
    let first = run("with", 1, "one");
    assert!(first.contains("training `follower`"), "{first}");
    let again = run("with", 3, "three");
    assert!(!again.contains("training"), "it is found again: {again}");
    for end in ["json", "statements.run", "passages.run"] {
        let [one, three] = ["one", "three"].map(|name| bench.text(&format!("{name}.{end}")));
        assert_eq!(one.replace("three", "one"), three.replace("three", "one"), "{end}");
    }
    run("without", 1, "none");
    for task in ["statements", "passages"] {
        let order = |name: &str| -> Vec<String> {
            let run = bench.text(&format!("{name}.{task}.run"));
            run.lines()
                .filter_map(|line| line.split_whitespace().nth(2).map(str::to_owned))
                .collect()
        };
        assert_ne!(order("one"), order("none"), "the encoder changes the order of {task}");
    }
    let record: Value = serde_json::from_slice(&bench.read("one.json.json")).expect("JSON");
    let trained = bench.path("follower.toml").display().to_string();
    assert!(record["models"][trained].as_str().is_some_and(|sum| sum.len() == 64));
}

#[test]
fn threads_change_no_weight_and_conversations_are_held_out_whole() {
    let bench = bench();
    for (threads, output) in [(1, "whole"), (2, "other")] {
        let work = Work { threads, ..Work::on(&bench, "data", "2023-test") };
        let set = ["held_out=0.3", "evaluate_every=2"];
        work.train("follower.toml", &set, Again::Reuse, Some(output)).expect("a model");
    }
    assert!(files(&bench, "whole") == files(&bench, "other"));
    let card: Value = serde_json::from_slice(&bench.read("whole/training.json")).expect("JSON");
    let held_out = card["held_out_topics"].as_array().expect("topics");
    // 20 turns of seven conversations, of which two are held out.
    let conversation = |id: &Value| {
        let id = id.as_str().expect("an id");
        id.split_once('_').expect("a turn").0.to_owned()
    };
    let mut conversations: Vec<String> = held_out.iter().map(conversation).collect();
    conversations.dedup();
    assert_eq!(conversations.len(), 2, "{held_out:?}");
    assert!(held_out.len() >= 5, "{held_out:?}");
    let curve = bench.text("whole/curve.csv");
    assert!(curve.lines().any(|line| !line.ends_with(",,,,") && !line.contains("R@5")), "{curve}");
    let text = bench.text("whole/README.md");
    assert!(text.contains("resolved utterances") && text.contains("Conversational"), "{text}");
    assert!(!bench.path("whole/modules.json").exists(), "no encoder of texts");
}

#[test]
fn what_is_missing_or_does_not_fit_is_refused_with_a_hint() {
    type Done = Result<(), Error>;
    let refused = |change: &dyn Fn(&Bench), work: fn(Work) -> Done, says: &[&str]| {
        let bench = bench();
        change(&bench);
        let error = work(Work::on(&bench, "data", "2023-test")).expect_err(says[0]);
        for says in says {
            assert!(printed(&error).contains(says), "{says} in {}", printed(&error));
        }
    };
    let run = |work: Work| work.run("with.toml", &[], "x.json").map(drop);
    let train =
        |work: Work| work.train("follower.toml", &[], Again::Reuse, Some("model")).map(drop);
    let gone = "2021_manual_evaluation_topics_v1.0.json";
    refused(
        &|bench| bench.remove(&format!("data/cast/{gone}")),
        run,
        &[gone, "hint: put the files of TREC CAsT into"],
    );
    refused(
        &|bench| bench.write("data/cast/2020_manual_evaluation_topics_v1.0.json", "[{}]"),
        train,
        &["2020_manual_evaluation_topics_v1.0.json:1", "a key `number`"],
    );
    refused(
        &|bench| {
            bench.write("data/cast/2019_evaluation_topics_annotated_resolved_v1.0.tsv", "9_9\tx\n");
        },
        train,
        &["annotated_resolved_v1.0.tsv:1", "`9_9`"],
    );
    refused(
        &|bench| bench.edit("with.toml", |text| text.replace("/tiny\" = 1.0", "/./tiny\" = 1.0")),
        run,
        &["/tiny`, in whose space", "/./tiny`"],
    );
    refused(
        &|bench| bench.edit("with.toml", |text| text.replace("follower.toml", "tiny")),
        run,
        &["training.json", "a conversational encoder that `clariq train` made"],
    );
    refused(
        &|bench| {
            let trained = format!("{:?}", bench.path("follower.toml"));
            bench.edit("with.toml", |text| text.replace(&trained, "\"encoder\""));
        },
        run,
        &["`encoder`", "a conversational encoder", "an encoder"],
    );
    refused(
        &|bench| bench.edit("with.toml", |text| text.replace("uses = [\"train-labels\"]\n", "")),
        run,
        &["train-labels", "follower.toml`, which is trained"],
    );
    let of_clariq = |work: Work| {
        let bench = Bench::with_sample();
        bench.write("follower.toml", work.bench.read("follower.toml"));
        let work = Work::on(&bench, "data", "dev");
        work.train("follower.toml", &[], Again::Reuse, Some("model")).map(drop)
    };
    refused(&|_| {}, of_clariq, &["resolved utterances", "ClariQ"]);
}
