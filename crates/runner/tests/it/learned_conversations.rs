//! Conversations by a learned system: the same bytes with any number of threads, and one by one.

use crate::common::here::Work;
use crate::common::{Bench, root};
use clariq_core::{Error, Request};
use clariq_experiment::{Contexts, NeedScope, UserRequest, open_system};
use clariq_systems::SystemConfig;
use std::slice;
use std::sync::OnceLock;

const CONTEXTS: usize = 80;

/// A bench with the sample, some contexts of every topic of dev, and a system over a tiny encoder.
fn bench(stages: &str) -> Bench {
    let bench = Bench::with_sample();
    let tiny = root().join("crates/bert/tests/data/tiny");
    let weights =
        "question = 0.3, answer = 0.5, refused_question = -0.2, refused_answer = 0.5, decay = 0.9";
    bench.write(
        "tiny.toml",
        format!(
            "name = \"tiny\"\nuses = [\"train-labels\", \"dev-labels\", \"batch\"]\n[space]\nmodels = {{ {:?} = 1.0 }}\ncharacters = 0.5\n\
             [[stages]]\nstage = \"dense\"\ndepth = 20\nweights = {{ {weights} }}\n\
             [[stages]]\nstage = \"exclude_asked\"\nby = \"words\"\n{stages}",
            tiny.display().to_string()
        ),
    );
    bench.write("all.jsonl", some_contexts(&bench));
    bench
}

/// Some contexts of every topic of dev, synthesized once for all tests.
fn some_contexts(bench: &Bench) -> &'static str {
    static LINES: OnceLock<String> = OnceLock::new();
    LINES.get_or_init(|| {
        bench.succeed("-q data synthesize --data data --split dev --contexts-only -o all.jsonl");
        let all = bench.text("all.jsonl");
        let some = all.lines().step_by(all.lines().count() / CONTEXTS).take(CONTEXTS);
        some.map(|line| line.to_owned() + "\n").collect()
    })
}

/// The run of a system of the bench over a file of conversations.
fn run_conversations(
    bench: &Bench,
    (system, set): (&str, Option<[&str; 3]>),
    file: &str,
) -> Result<String, Error> {
    Work::on(bench, "data", "dev").run_conversations(system, set.as_slice(), file)
}

#[test]
fn a_run_has_the_same_bytes_with_any_number_of_threads() {
    let bench = bench("");
    let run = |threads: usize| {
        let work = Work { threads, ..Work::on(&bench, "data", "dev") };
        let run = work.run_conversations("tiny.toml", &[], "all.jsonl").expect("a run");
        (run, bench.read("here.run.json"))
    };
    let whole = run(1);
    assert!(run(3) == whole && whole.0.len() > 2_000);
    let record: serde_json::Value = serde_json::from_slice(&whole.1).expect("a record");
    let models = record["models"].as_object().expect("the weights that made it");
    assert!(models.len() == 1 && models.values().all(serde_json::Value::is_string), "{record}");
}

#[test]
fn a_text_that_is_too_long_for_a_model_is_cut_with_a_note() {
    let bench = bench("");
    bench.edit("tiny.toml", |text| text.replace(", \"batch\"", ""));
    let path = bench.path("tiny.toml").display().to_string();
    let config = SystemConfig::open(&path, &[]).expect("a system");
    let ((), notes) = Work::on(&bench, "data", "dev").with_session(|session| {
        let contexts = Contexts::new(session);
        let system = open_system(&contexts, &config, NeedScope::ForStages).expect("a system");
        for text in ["saturn", &"saturn ".repeat(600), "saturn"] {
            let query = UserRequest::from(Request::new("1", text));
            let outcomes = system.rank(slice::from_ref(&query)).expect("a ranking");
            assert!(!outcomes[0].ranking.is_empty(), "{text}");
        }
    });
    assert_eq!(notes.matches(" were cut").count(), 1, "{notes}");
}

#[test]
fn a_context_is_ranked_the_same_alone_and_among_others() {
    let bench = bench("");
    let all = run_conversations(&bench, ("tiny.toml", None), "all.jsonl").expect("a run");
    let records = bench.text("all.jsonl");
    for place in [0, 40, CONTEXTS - 1] {
        let record = records.lines().nth(place).expect("a record");
        bench.write("one.jsonl", record);
        let one = run_conversations(&bench, ("tiny.toml", None), "one.jsonl").expect("a run");
        assert_eq!(Some(one.trim_end()), all.lines().nth(place), "{record}");
    }
}

#[test]
fn a_question_in_other_words_is_not_asked_again() {
    let bench = bench("");
    // A run with another parameter has another tag.
    let ranked = |run: String| {
        let lines = run.lines().filter_map(|line| Some(line.rsplit_once(' ')?.0.to_owned()));
        lines.collect::<Vec<String>>().join("\n")
    };
    let run = |key: &str, value: &str| {
        let set = Some(["dense", key, value]);
        run_conversations(&bench, ("tiny.toml", set), "all.jsonl").map(ranked)
    };
    let all = run_conversations(&bench, ("tiny.toml", None), "all.jsonl");
    let all = all.map(ranked).expect("a run");
    assert!(run("repeat", "0.7").expect("a run") != all && all.len() > 2_000);
    assert!(run("repeat", "1.1").expect("a run") == all);
    // No utterance is that similar to a question.
    assert_eq!(run("min_likeness", "1.1").expect("an empty run"), "");
}

#[test]
fn systems_that_do_not_fit_conversations_are_refused() {
    for (stage, split, says) in [
        ("competition\"\nrounds = 2", "dev", "stage `competition`"),
        ("exclude\"", "train", "conversations about other requests than those of "),
    ] {
        let bench = bench(&format!("[[stages]]\nstage = \"{stage}\n"));
        bench.succeed(&format!(
            "-q data synthesize --data data --split {split} --turns 1 -o c.jsonl"
        ));
        let refused = run_conversations(&bench, ("tiny.toml", None), "c.jsonl").unwrap_err();
        assert!(refused.to_string().contains(says), "{refused}");
        assert!(!bench.path("here.run").exists());
    }
    // Of dev's topics nothing was judged before.
    let bench = bench("[[stages]]\nstage = \"exclude\"\n");
    bench.succeed("-q data synthesize --data data --split dev --turns 1 -o c.jsonl");
    let run = run_conversations(&bench, ("tiny.toml", None), "c.jsonl").expect("a run");
    bench.write("c.run", run);
    let relevant = |text: String| {
        text.lines().find_map(|line| line.strip_prefix("Relevant: ").map(str::to_owned))
    };
    let printed = bench.succeed("eval --data data c.run --conversations c.jsonl").stdout;
    assert!(
        relevant(printed).is_some_and(|share| share.parse::<f64>().is_ok_and(|share| share > 0.0))
    );
}

#[test]
fn two_rankings_of_conversations_are_fused() {
    let bench = Bench::with_sample();
    let weights = "{ question = 0.3, answer = 0.5, refused_question = 0.0, refused_answer = 0.5, decay = 1.0 }";
    let tiny = root().join("crates/bert/tests/data/tiny");
    bench.write(
        "fused.toml",
        format!(
            "name = \"fused\"\n[space]\nmodels = {{ {:?} = 1.0 }}\n[[stages]]\nstage = \"fuse\"\nmethod = \"weighted-sum\"\n\
             weights = [1.0, 0.0]\ndepth = 30\n[[stages.inputs]]\nstages = [{{ stage = \"bm25\", analyzer = \
             \"nltk\", depth = 30, weights = {weights} }}]\n[[stages.inputs]]\nstages = [{{ stage = \"dense\", \
             depth = 30, weights = {weights} }}]\n[[stages]]\nstage = \"exclude_asked\"\n",
            tiny.display().to_string()
        ),
    );
    bench.write(
        "alone.toml",
        format!(
            "name = \"fused\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"nltk\"\ndepth = 30\nweights = \
             {weights}\n[[stages]]\nstage = \"exclude_asked\"\n"
        ),
    );
    bench.succeed("-q data synthesize --data data --turns 2 --contexts-only -o c.jsonl");
    let run = |system| run_conversations(&bench, (system, None), "c.jsonl").expect("a run");
    let (fused, alone) = (run("fused.toml"), run("alone.toml"));
    // An input of weight 0 only changes the documents at the end.
    let same = fused.lines().filter(|line| alone.contains(*line)).count();
    assert!(same * 10 > alone.lines().count() * 9, "{same} of {}", alone.lines().count());
    let explained = bench.succeed("-q ask --system fused.toml --data data --explain Saturn").stdout;
    assert!(explained.contains("bm25: 1 × ") && explained.contains("dense: 0 × "), "{explained}");
}
