//! Utterances that were rewritten elsewhere: what they replace, and how a run declares them.

use crate::common::{Folder, Work, root};
use clariq_core::Error;
use clariq_experiment::RankedPart;
use clariq_experiment::run::{FileInput, RequestFileKind, check_input, open_split};
use clariq_experiment::tune::{Grid, GridSearch, TuningLabels};
use clariq_files::Source;
use clariq_rank::Uses;
use clariq_systems::{Rewrites, SystemConfig};
use serde_json::json;
use snapbox::{assert_data_eq, str};
use std::fs;
use std::sync::Arc;

/// iKAT's sample as `data`, BM25 for it without expected figures as an automatic and as a manual
/// system, and the resolved utterances of all turns as rewrites in both forms.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.copy("data/sample-ikat", "data");
    let text = fs::read_to_string(root().join("configs/ikat-bm25.toml")).expect("a system");
    let (system, _) = text.split_once("\n[[expected]]").expect("figures");
    folder.write("auto.toml", system.replace("ikat-bm25", "auto"));
    folder.write("manual.toml", system.replace("\"automatic\"", "\"manual\""));
    let mut lines = Vec::new();
    let mut table = Vec::new();
    for topic in folder.json("data/2023_test_topics.json").as_array().expect("topics") {
        for turn in topic["turns"].as_array().expect("turns") {
            let id = format!("{}_{}", topic["number"].as_str().expect("a number"), turn["turn_id"]);
            let text = turn["resolved_utterance"].as_str().expect("a text");
            lines.push(json!({ "id": id, "text": text }).to_string());
            table.push(format!("{id}\t{text}"));
        }
    }
    folder.write("all.jsonl", lines.join("\n"));
    folder.write("all.tsv", table.join("\n"));
    folder
}

fn rewrites(folder: &Folder, file: &str, by: Uses) -> Result<Arc<Rewrites>, Error> {
    Rewrites::read(&Source::new(folder.path(file)), by).map(Arc::new)
}

/// A system with rewrites of a file.
fn rewritten(work: &Work, system: &str, file: &str, by: Uses) -> SystemConfig {
    let rewrites = rewrites(work.folder, file, by).expect("rewrites");
    let config = work.load(system).expect("a system").with_rewrites(Some(&rewrites));
    config.expect("a system that does not rewrite")
}

#[test]
fn resolved_utterances_as_rewrites_make_the_run_of_a_manual_system() {
    let folder = folder();
    let work = Work::on(&folder, "data", "2023-test");
    work.run("manual.toml", "manual.json").expect("a run");
    for (file, by, class) in [
        ("all.jsonl", Uses::RewritesByModel, "automatic"),
        ("all.tsv", Uses::RewritesByPeople, "manual"),
    ] {
        let config = rewritten(&work, "auto.toml", file, by);
        let name =
            format!("auto-rewrites-all-by-{}", by.to_string().trim_start_matches("rewrites-by-"));
        assert_eq!(config.full_name(), name);
        work.run_config(&config, "mine.json").expect("a run");
        let expected = folder.text("manual.json").replacen("\"manual\"", &format!("{class:?}"), 1);
        let run = folder.text("mine.json").replace(&name, "ikat-bm25");
        assert_eq!(run, expected);
        for task in ["passages", "statements"] {
            let run = folder.text(&format!("mine.{task}.run"));
            let run = run.replace(&name, "ikat-bm25");
            assert!(run == folder.text(&format!("manual.{task}.run")), "{by}: {task}");
        }
        let record = folder.json("mine.record.json");
        assert_eq!(record["uses"], json!([by.to_string()]));
        assert_eq!(record["answer"]["class"], class);
        assert_eq!(record["rewrites"]["file"], file);
        assert_eq!(record["rewrites"]["sha256"].as_str().map(str::len), Some(64));
    }
}

#[test]
fn a_run_is_named_after_its_rewrites_and_missing_ones_are_counted() {
    let folder = folder();
    folder.edit("all.tsv", |text| text.replacen("1-1_1\t", "other\t", 1));
    let work = Work::on(&folder, "data", "2023-test");
    let config = rewritten(&work, "auto.toml", "all.tsv", Uses::RewritesByPeople);
    let (summary, notes) = work.run_config(&config, "mine.json").expect("a run");
    assert_eq!(summary.requests, 46);
    assert_data_eq!(
        notes.replace(&folder.path("").display().to_string(), "@/"),
        str![[r#"
warning: @/all.tsv: 1 of 46 requests has no rewrite and stays unchanged
warning: @/all.tsv: 1 id belongs to no request of 2023-test in @/data, such as `other`

"#]]
    );
    let submission = folder.json("mine.json");
    let described = (&submission["run_name"], &submission["run_type"]);
    assert_eq!(described, (&json!("auto-rewrites-all-by-people"), &json!("manual")));
    // A name that a file cannot have is a checksum.
    folder.write("a b.tsv", folder.read("all.tsv"));
    let name = rewritten(&work, "auto.toml", "a b.tsv", Uses::RewritesByModel).full_name();
    assert!(name.starts_with("auto-") && name.len() == "auto-".len() + 12, "{name}");
}

#[test]
fn the_last_utterance_is_replaced_for_splits_files_and_explanations() {
    let folder = Folder::new();
    folder.copy("data/sample-own", "data");
    folder.write("rewrites.tsv", "d3\twhich bicycle fits me\nd1\thow is bread stored\n");
    let work = Work::on(&folder, "data", "dev");
    let config = rewritten(&work, "bm25-english", "rewrites.tsv", Uses::RewritesByModel);
    let explain = |config: &SystemConfig| {
        let explained = work.with_open(config, |system| {
            let mut found = None;
            let session = system.session();
            let input = open_split(session, config, session.split.expect("dev"), None)?;
            input.read(&mut |query| {
                if query.request.id.as_str() == "d1" {
                    found = Some(query);
                }
                std::ops::ControlFlow::Continue(())
            })?;
            let doc = session.documents.find("bike/1").expect("a document");
            system.explain(&found.expect("a request"), RankedPart::Documents, doc)
        });
        json!(explained.expect("a system").0.expect("traces")[0].stages)
    };
    work.run_config(&config, "split.run").expect("a run");
    let file = folder.path("data/requests.dev.jsonl");
    let (done, _) = work.with_session(|session| {
        let input = FileInput::open(session, &file, RequestFileKind::Requests, false)?;
        check_input(&config, &input, session.observer)?;
        work.write(session, &config, &input, "file.run")
    });
    done.expect("a run");
    let explained = explain(&config);
    folder.edit("data/requests.dev.jsonl", |text| {
        let text = text.replacen("which telescope should i buy", "which bicycle fits me", 1);
        text.replacen("keep bread fresh", "how is bread stored", 1)
    });
    let plain = work.load("bm25-english").expect("a system");
    work.run_config(&plain, "edited.run").expect("a run");
    let edited = folder
        .text("edited.run")
        .replace("bm25-english", "bm25-english-rewrites-rewrites-by-model");
    assert_eq!(folder.text("split.run"), edited);
    assert_eq!(folder.text("file.run"), edited);
    assert_eq!(explained, explain(&plain));
}

#[test]
fn tune_uses_rewrites() {
    let folder = folder();
    let work = Work::on(&folder, "data", "2023-test");
    let measures = clariq_eval::parse_measures("nDCG@3").expect("a measure");
    let tune = |system: &str, file: Option<&str>| {
        let read = |file| rewrites(&folder, file, Uses::RewritesByPeople).expect("rewrites");
        let rewrites = file.map(read);
        let system = folder.path(system).display().to_string();
        let grid = Grid::parse(&["passages.bm25.k1=0.9"]).expect("a grid");
        let (tuned, _) = work.with_session(|session| {
            let search = GridSearch {
                system: &system,
                rewrites: rewrites.as_ref(),
                grid: &grid,
                labels: TuningLabels::Split(session.split.expect("a split")),
                task: None,
                measures: &measures,
                by: 0,
                folds: 2,
            };
            search.run(session).expect("figures").trials[0].means[0]
        });
        tuned
    };
    let rewritten = tune("auto.toml", Some("all.tsv"));
    assert_eq!(rewritten, tune("manual.toml", None));
    assert_ne!(rewritten, tune("auto.toml", None));
}

#[test]
fn rewrites_that_do_not_fit_are_refused() {
    let folder = Folder::with_sample();
    let work = Work::on(&folder, "data", "dev");
    let refused = |file: &str, text: &str| {
        folder.write(file, text);
        let error = rewrites(&folder, file, Uses::RewritesByModel).err();
        work.printed(&error.expect("a refusal"))
    };
    assert_data_eq!(
        refused("r.tsv", "101\ta\n101\tb\n"),
        str![[r#"
error: @/r.tsv:2
  expected: an id that no other request has
     found: `101`, which is on line 1 already
hint: remove one of the two, or give it an id of its own

"#]]
    );
    assert_data_eq!(
        refused("r.tsv", "101 a\n"),
        str![[r#"
error: @/r.tsv:1
  expected: a JSON object, or an id, a tab and a text
     found: `101 a`
hint: a line is {"id": …, "text": …}, {"id": …, "said": [{"user": …}, …]}, or an id, a tab and a text; a table or CSV may name its columns in the first line

"#]]
    );
    assert_data_eq!(
        refused("r.tsv", "101\t \n"),
        str![[r#"
error: @/r.tsv:1
  expected: a request that is not empty
     found: an empty one
hint: a line is {"id": …, "text": …}, {"id": …, "said": [{"user": …}, …]}, or an id, a tab and a text; a table or CSV may name its columns in the first line

"#]]
    );
    assert_data_eq!(
        refused("r.jsonl", "{\"id\": 101, \"text\": 1}\n"),
        str![[r#"
error: @/r.jsonl:1
  expected: a text at `text`
     found: `1`
hint: a line is {"id": …, "text": …}, {"id": …, "said": [{"user": …}, …]}, or an id, a tab and a text; a table or CSV may name its columns in the first line

"#]]
    );
    let conversation = "{\"id\": 101, \"said\": [{\"system\": \"a\"}]}\n";
    assert_data_eq!(
        refused("r.jsonl", conversation),
        str![[r#"
error: @/r.jsonl
  expected: a text for every id
     found: a conversation, `101`
hint: a line is {"id": …, "text": …}, or an id, a tab and a text

"#]]
    );
    assert_data_eq!(
        refused("none.tsv", ""),
        str![[r#"
error: @/none.tsv:1: empty file
  expected: lines with requests
     found: nothing
hint: a line is {"id": …, "text": …}, {"id": …, "said": [{"user": …}, …]}, or an id, a tab and a text; a table or CSV may name its columns in the first line

"#]]
    );
    folder.write("others.tsv", "q1\ta\nq2\tb\n");
    let refused_run = |file: &str| {
        let config = rewritten(&work, "bm25", file, Uses::RewritesByModel);
        let error = work.run_config(&config, "a.run").expect_err("a refusal");
        assert!(!folder.path("a.run").exists());
        work.printed(&error)
    };
    assert_data_eq!(
        refused_run("others.tsv"),
        str![[r#"
error: @/others.tsv
  expected: rewrites of requests of dev in @/data
     found: `q1` and others
hint: its ids look like `9`; --split names another split

"#]]
    );
    // A model of the system would rewrite the rewrites.
    let others = rewrites(&folder, "others.tsv", Uses::RewritesByModel).expect("rewrites");
    let config = work.load("ikat-rewritten").expect("a system").with_rewrites(Some(&others));
    assert_data_eq!(
        work.printed(&config.err().expect("a refusal")),
        str![[r#"
error: --rewrites
  expected: a system without a model that rewrites
     found: `ikat-rewritten`, which has a key `rewrite`
hint: the rewrites would be rewritten; leave one of the two out

"#]]
    );
}
