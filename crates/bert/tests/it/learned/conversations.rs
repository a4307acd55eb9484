//! Conversations by a learned system: the same bytes with any number of threads, and one by one.

use super::{on_threads, work};
use crate::common::{Folder, Work, root};
use clariq_core::{Error, Request};
use clariq_experiment::run::RequestFileKind;
use clariq_experiment::{RankedPart, UserRequest};
use clariq_track_clariq::conversation::ConversationShape;
use snapbox::{assert_data_eq, str};
use std::slice;

const CONTEXTS: usize = 80;

fn tiny() -> String {
    format!("{:?}", root().join("crates/bert/tests/data/tiny").display().to_string())
}

/// A folder with the sample, some contexts of every topic of dev, and a system over a tiny encoder.
fn folder(stages: &str) -> Folder {
    let folder = Folder::with_sample();
    let weights =
        "question = 0.3, answer = 0.5, refused_question = -0.2, refused_answer = 0.5, decay = 0.9";
    folder.write(
        "tiny.toml",
        format!(
            "name = \"tiny\"\nuses = [\"train-labels\", \"dev-labels\", \"batch\"]\n[space]\nmodels = {{ {} = 1.0 }}\ncharacters = 0.5\n\
             [[stages]]\nstage = \"dense\"\ndepth = 20\nweights = {{ {weights} }}\n\
             [[stages]]\nstage = \"exclude_asked\"\nby = \"words\"\n{stages}",
            tiny()
        ),
    );
    let shape = ConversationShape { contexts_only: true, ..ConversationShape::default() };
    work(&folder, "data", "dev").synthesize(shape, "all.jsonl");
    folder.edit("all.jsonl", |all| {
        let some = all.lines().step_by(all.lines().count() / CONTEXTS).take(CONTEXTS);
        some.map(|line| line.to_owned() + "\n").collect()
    });
    folder
}

/// The run of a system over a file of conversations.
fn run(work: &Work, system: &str, file: &str) -> Result<String, Error> {
    let input = (file, RequestFileKind::Conversations);
    work.run_file(system, input, false, "mine.run")?;
    Ok(work.folder.text("mine.run"))
}

#[test]
fn a_run_has_the_same_bytes_with_any_number_of_threads() {
    let folder = folder("");
    let run_on = |threads: usize| {
        let work = on_threads(&work(&folder, "data", "dev"), threads);
        (run(&work, "tiny.toml", "all.jsonl").expect("a run"), folder.read("mine.run.json"))
    };
    let whole = run_on(1);
    assert!(run_on(3) == whole && whole.0.len() > 2_000);
    let models = folder.json("mine.run.json")["models"].clone();
    let models = models.as_object().expect("the weights that made it");
    assert!(models.len() == 1 && models.values().all(serde_json::Value::is_string), "{models:?}");
}

#[test]
fn a_text_that_is_too_long_for_a_model_is_cut_with_a_note() {
    let folder = folder("");
    folder.edit("tiny.toml", |text| text.replace(", \"batch\"", ""));
    let work = work(&folder, "data", "dev");
    let ranked = work.with_system("tiny.toml", |system| {
        for text in ["saturn", &"saturn ".repeat(600), "saturn"] {
            let query = UserRequest::from(Request::new("1", text));
            let outcomes = system.rank(slice::from_ref(&query)).expect("a ranking");
            assert!(!outcomes[0].ranking.is_empty(), "{text}");
        }
    });
    let notes = ranked.expect("a system").1;
    let told = notes.lines().filter(|note| note.contains(" cut 1 of ")).collect::<Vec<_>>();
    assert_eq!(told.len(), 1, "{notes}");
    assert!(told[0].ends_with(" tokens (`max_tokens`)"), "{notes}");
}

#[test]
fn a_context_is_ranked_the_same_alone_and_among_others() {
    let folder = folder("");
    let work = work(&folder, "data", "dev");
    let all = run(&work, "tiny.toml", "all.jsonl").expect("a run");
    let records = folder.text("all.jsonl");
    for place in [0, 40, CONTEXTS - 1] {
        let record = records.lines().nth(place).expect("a record");
        folder.write("one.jsonl", record);
        let one = run(&work, "tiny.toml", "one.jsonl").expect("a run");
        assert_eq!(Some(one.trim_end()), all.lines().nth(place), "{record}");
    }
}

#[test]
fn a_question_in_other_words_is_not_asked_again() {
    let folder = folder("");
    let work = work(&folder, "data", "dev");
    // A run with another parameter has another tag.
    let ranked = |set: &[&str]| {
        let run = run(&work.with(set), "tiny.toml", "all.jsonl").expect("a run");
        let lines = run.lines().filter_map(|line| Some(line.rsplit_once(' ')?.0.to_owned()));
        lines.collect::<Vec<String>>().join("\n")
    };
    let all = ranked(&[]);
    assert!(ranked(&["dense.repeat=0.7"]) != all && all.len() > 2_000);
    assert!(ranked(&["dense.repeat=1.1"]) == all);
    // No utterance is that similar to a question.
    assert_eq!(ranked(&["dense.min_likeness=1.1"]), "");
}

#[test]
fn systems_that_do_not_fit_conversations_are_refused() {
    let one_turn = ConversationShape { turns: 1, ..ConversationShape::default() };
    let refused = |stage: &str, split: &str| {
        let folder = folder(&format!("[[stages]]\nstage = \"{stage}\n"));
        let work = work(&folder, "data", split);
        work.synthesize(one_turn, "c.jsonl");
        let error = run(&work, "tiny.toml", "c.jsonl").expect_err("a refusal");
        assert!(!folder.path("mine.run").exists());
        work.printed(&error)
    };
    assert_data_eq!(
        refused("competition\"\nrounds = 2", "dev"),
        str![[r#"
error: stage `competition`
  expected: requests of a split, each with questions of its own
     found: conversations
hint: systems for conversations are `dense-conversation`, `bm25-conversation` and `bm25-multi-turn`

"#]]
    );
    assert_data_eq!(
        refused("exclude\"", "train"),
        str![[r#"
error: stage `exclude`
  expected: conversations about other requests than those of @/data/train.tsv
     found: context 1 about "How do I pitch a tent in strong wind?"
hint: leave the stage `exclude` out of the system, or take conversations about dev or test

"#]]
    );
    // Of dev's topics nothing was judged before.
    let folder = folder("[[stages]]\nstage = \"exclude\"\n");
    let work = work(&folder, "data", "dev");
    work.synthesize(one_turn, "c.jsonl");
    assert!(!run(&work, "tiny.toml", "c.jsonl").expect("a run").is_empty());
}

#[test]
fn two_rankings_of_conversations_are_fused() {
    let folder = Folder::with_sample();
    let weights = "{ question = 0.3, answer = 0.5, refused_question = 0.0, refused_answer = 0.5, decay = 1.0 }";
    let bm25 = format!("stage = \"bm25\", analyzer = \"nltk\", depth = 30, weights = {weights}");
    folder.write(
        "fused.toml",
        format!(
            "name = \"fused\"\n[space]\nmodels = {{ {} = 1.0 }}\n[[stages]]\nstage = \"fuse\"\nmethod = \"weighted-sum\"\n\
             weights = [1.0, 0.0]\ndepth = 30\n[[stages.inputs]]\nstages = [{{ {bm25} }}]\n\
             [[stages.inputs]]\nstages = [{{ stage = \"dense\", depth = 30, weights = {weights} }}]\n\
             [[stages]]\nstage = \"exclude_asked\"\n",
            tiny()
        ),
    );
    folder.write(
        "alone.toml",
        format!("name = \"fused\"\nstages = [{{ {bm25} }}, {{ stage = \"exclude_asked\" }}]\n"),
    );
    let work = work(&folder, "data", "dev");
    let shape = ConversationShape { turns: 2, contexts_only: true, ..ConversationShape::default() };
    work.synthesize(shape, "c.jsonl");
    let run = |system| run(&work, system, "c.jsonl").expect("a run");
    let (fused, alone) = (run("fused.toml"), run("alone.toml"));
    // An input of weight 0 only changes the documents at the end.
    let same = fused.lines().filter(|line| alone.contains(*line)).count();
    assert!(same * 10 > alone.lines().count() * 9, "{same} of {}", alone.lines().count());
    let explained = work.with_system("fused.toml", |system| {
        let query = UserRequest::from(Request::new("1", "Saturn"));
        let best = system.rank(slice::from_ref(&query)).expect("a ranking")[0].ranking[0].doc;
        system.explain(&query, RankedPart::Documents, best).expect("traces").remove(0).stages
    });
    let stages = explained.expect("a system").0;
    let why = serde_json::json!(stages[0].explanation).to_string();
    assert!(why.contains("bm25: 1 × ") && why.contains("dense: 0 × "), "{why}");
}
