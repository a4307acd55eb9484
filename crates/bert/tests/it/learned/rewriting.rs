//! Systems with models of other people: a T5 that rewrites utterances or summarises passages, and a
//! cross-encoder over the passages of another engine. All models are tiny and random.

use super::work;
use crate::common::{Folder, Work, root};
use clariq_collections::{OfficialVerdict, ValidationOptions};
use clariq_core::Error;
use clariq_experiment::RankedPart;
use clariq_experiment::run::{CandidateRun, open_split};
use clariq_files::Source;
use clariq_rank::Uses;
use clariq_systems::Rewrites;
use clariq_track_ikat::KIND;
use clariq_track_ikat::validate::MAX_WARNINGS;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;

const SPLIT: &str = "2023-test";

/// A folder with a BERT in `bert`, a T5 in `t5`, three systems over the BERT, and in `data` two
/// conversations of iKAT's sample.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.copy("crates/bert/tests/data/tiny", "bert");
    folder.copy("crates/bert/tests/data/t5/t5-1.1", "t5");
    folder.write("bert/tokenizer_config.json", "{\"model_max_length\": 96}");
    for name in ["ikat-rewritten", "ikat-reranked", "ikat-t5"] {
        let text =
            fs::read_to_string(root().join(format!("configs/{name}.toml"))).expect("a system");
        let bert = folder.path("bert").display().to_string();
        folder.write(&format!("{name}.toml"), text.replace("all-MiniLM-L6-v2", &bert));
    }
    folder.write_ikat("data", |topics| topics.truncate(2));
    folder
}

/// Work with the T5 of the folder as the model that rewrites.
fn with_t5(folder: &Folder) -> Work<'_> {
    let model = format!("rewrite.model={}", folder.path("t5").display());
    work(folder, "data", SPLIT).with(&[&model, "rewrite.max_tokens=256", "rewrite.max_length=12"])
}

#[test]
fn a_t5_rewrites_the_utterances_of_users() {
    let folder = folder();
    let work = with_t5(&folder);
    let rewritten = || work.run("ikat-rewritten.toml", "a.json").expect("a run").1;
    rewritten();
    let (made_by, first) = (folder.json("a.record.json"), folder.read("a.json"));
    assert_eq!(made_by["answer"]["class"], "automatic");
    assert_eq!(made_by["tasks"]["passages"][0]["stage"], "rewrite");
    assert_eq!(made_by["tasks"]["passages"][0]["max_length"], 12);
    let label = format!("{} {{\"max_tokens\":256}}", folder.path("t5").display());
    assert_eq!(made_by["models"][label].as_str().map(str::len), Some(64));
    // All tasks share one rewrite; it is read from the cache, and damage is noticed.
    let entries = || fs::read_dir(folder.path("cache/rewrites")).expect("a cache");
    assert_eq!(entries().count(), 1);
    let told = rewritten();
    assert!(!told.contains("damaged"), "{told}");
    fs::write(entries().next().unwrap().unwrap().path(), "[]").unwrap();
    let told = rewritten();
    assert!(told.contains("note: 1 generated texts in"), "{told}");
    assert!(folder.read("a.json") == first);
    assert_eq!(folder.json("a.record.json")["models"], made_by["models"]);
    // It reads what its class sees: no resolved utterance.
    folder.write_ikat("data", |topics| {
        topics.truncate(2);
        for turn in topics.iter_mut().flat_map(|topic| topic["turns"].as_array_mut().unwrap()) {
            turn["resolved_utterance"] = "scrambled".into();
        }
    });
    rewritten();
    assert!(folder.read("a.json") == first);
}

#[test]
fn an_explanation_shows_the_rewritten_utterance() {
    let folder = folder();
    let explained = with_t5(&folder).with_system("ikat-rewritten.toml", |system| {
        let session = system.session();
        let input = open_split(session, system.config, session.split.expect("a split"), None)?;
        let mut second = None;
        input.read(&mut |query| {
            if query.request.id.as_str() == "1-1_2" {
                second = Some(query);
            }
            ControlFlow::Continue(())
        })?;
        let query = second.expect("the turn");
        let doc = system.documents(RankedPart::Statements)?.find("1-1:1");
        let best = system.rank(std::slice::from_ref(&query))?.remove(0);
        let doc = doc.unwrap_or(best.answer.expect("an answer").statements[0].doc);
        system.explain(&query, RankedPart::Statements, doc)
    });
    let traces = explained.expect("a system").0.expect("traces");
    let rewrite = &traces[0].stages[0];
    assert_eq!((rewrite.stage, rewrite.rank), ("rewrite", None));
    let why = json!(rewrite.explanation).to_string();
    assert!(why.contains("the utterance as \\\""), "{why}");
}

#[test]
fn models_of_another_kind_are_refused() {
    let folder = folder();
    let refused = |system: &str, set: &str| {
        let work = work(&folder, "data", SPLIT);
        let place = folder.path("").display().to_string();
        let set = set.replace('@', place.trim_end_matches('/'));
        let error: Error = work.with(&[&set]).run(system, "a.json").expect_err("a refusal");
        work.printed(&error)
    };
    assert_data_eq!(
        refused("ikat-rewritten.toml", "rewrite.model=@/bert"),
        str![[r#"
error: @/bert/config.json
  expected: model_type `t5`
     found: `bert`
hint: `rewrite`, `rerank` and `cross_encode` take a T5, version 1.0 or 1.1

"#]]
    );
    assert_data_eq!(
        refused("ikat-rewritten.toml", "rewrite.max_length=12"),
        str![[r#"
error: model `t5-base-canard`
  expected: a folder, or an installed model
     found: nothing of that name in @/cache/models either
hint: `clariq setup --model t5-base-canard --from DIR` installs it; `clariq doctor` lists the installed ones, and --set names any folder, as in rewrite.model=FOLDER

"#]]
    );
    assert_data_eq!(
        refused("ikat-reranked.toml", "rerank.model=@/t5"),
        str![[r#"
error: @/t5/tokenizer.json
  expected: the tokens `▁true` and `▁false`
     found: no `▁true`
hint: `rerank` and `cross_encode` take T5s that score pairs as monoT5 does

"#]]
    );
}

#[test]
fn a_run_of_another_engine_rewrites_and_a_cross_encoder_make_a_submission() {
    let folder = folder();
    let mut table = Vec::new();
    for topic in folder.json("data/2023_test_topics.json").as_array().expect("topics") {
        for turn in topic["turns"].as_array().expect("turns") {
            let number = topic["number"].as_str().expect("a number");
            let text = turn["resolved_utterance"].as_str().expect("a text");
            table.push(format!("{number}_{}\t{text}\n", turn["turn_id"]));
        }
    }
    folder.write("llm.tsv", table.concat());
    work(&folder, "data", SPLIT).run("ikat-bm25", "first.json").expect("a run");
    let model = format!("rerank.model={}", folder.path("bert").display());
    let work = work(&folder, "data", SPLIT).with(&[&model, "rerank.query=last", "rerank.depth=10"]);
    let source = Source::new(folder.path("llm.tsv"));
    let rewrites = Arc::new(Rewrites::read(&source, Uses::RewritesByModel).expect("rewrites"));
    let config = work.load("ikat-reranked.toml").expect("a system");
    let config = config.with_rewrites(Some(&rewrites)).expect("no rewriting model");
    let run = CandidateRun::read(&Source::new(folder.path("first.passages.run"))).expect("a run");
    let (done, _) = work.with_session(|session| {
        let input = open_split(session, &config, session.split.expect("a split"), Some(&run))?;
        work.write(session, &config, &*input, "mine.json")
    });
    assert_eq!(done.expect("a run").requests, 15);
    let made_by: Value = folder.json("mine.record.json");
    let chosen = "chosen on 2023-train and 2023-test, by cross-validation";
    assert_eq!(made_by["uses"], json!(["rewrites-by-model", chosen]));
    let reranked = &made_by["tasks"]["passages"][1]["inputs"][1]["stages"][1];
    assert_eq!((&reranked["stage"], &reranked["query"]), (&"rerank".into(), &"last".into()));
}

#[test]
fn a_t5_summarises_the_passages_of_a_response() {
    let folder = folder();
    let t5 = folder.path("t5").display().to_string();
    let run = |shortest: &str| {
        let set = [
            format!("rewrite.model={t5}"),
            "rewrite.max_tokens=256".to_owned(),
            "rewrite.max_length=12".to_owned(),
            format!("answer.summary.model={t5}"),
            "answer.summary.max_tokens=64".to_owned(),
            format!("answer.summary.min_length={shortest}"),
            "answer.summary.max_length=40".to_owned(),
        ];
        let work = work(&folder, "data", SPLIT).with(&set.each_ref().map(String::as_str));
        work.run("ikat-t5.toml", "a.json").expect("a run");
        let options = ValidationOptions::new(&clariq_collections::tokens::count, MAX_WARNINGS);
        let file = Source::new(folder.path("a.json"));
        let found = (KIND.validate)(&work.data, SPLIT, &file, &options).expect("a verdict");
        assert!(matches!(found.verdict, OfficialVerdict::Accepted { .. }), "{:?}", found.verdict);
        assert_eq!(found.answered, 15);
        let run = folder.json("a.json");
        let turns = run["turns"].as_array().expect("turns").iter();
        turns.map(|turn| turn["responses"][0].clone()).collect::<Vec<Value>>()
    };
    let responses = run("10");
    // BM25 finds nothing by some of the texts that a random T5 writes.
    let mut summaries = 0;
    for response in &responses {
        let used = response["passage_provenance"].as_array().expect("passages").iter();
        let used = used.filter(|passage| passage["used"] == true).count();
        let is_empty = response["text"].as_str().expect("a text").is_empty();
        assert_eq!((used, is_empty), if is_empty { (0, true) } else { (3, false) });
        summaries += usize::from(!is_empty);
    }
    assert_eq!(summaries, 12);
    assert_ne!(run("30"), responses);
}
