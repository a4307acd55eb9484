//! Multi-turn runs: the published baseline to the letter, and bad conversations.

use crate::common::{Folder, Work, root};
use clariq_collections::ValidationOptions;
use clariq_core::Error;
use clariq_experiment::run::RequestFileKind;
use clariq_files::Source;
use clariq_track_clariq::conversation::ConversationShape;
use clariq_track_clariq::{ClariQ, KIND, read_text_run};
use snapbox::{assert_data_eq, str};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

const BASELINE: &str = "bm25-multi-turn";

/// The question and score of every context of a run of the baseline over a file.
fn answers(work: &Work, file: &str) -> HashMap<i64, (String, f64)> {
    let input = (file, RequestFileKind::Conversations);
    work.run_file(BASELINE, input, false, "mine.run").expect("a run");
    let source = Source::new(work.folder.path("mine.run"));
    let (run, _) = work.with_session(|session| {
        let bank = &ClariQ::of(session.collection).expect("ClariQ").bank;
        read_text_run(&source, bank).expect("a run")
    });
    let mut answers = HashMap::new();
    for line in run.lines {
        let context = line.topic.as_str().parse().expect("a number");
        answers.insert(context, (line.document.to_string(), line.score));
    }
    answers
}

/// Compares answers with those of a naive version of the recipe in Python; see
/// `scripts/make-golden multi_turn`.
fn assert_golden_answers(folder: &Folder, golden: &str) {
    let work = Work::on(folder, "data", "dev");
    work.synthesize(ConversationShape::default(), "synthesized.jsonl");
    let golden = root().join("crates/experiment/tests/data/multi_turn").join(golden);
    let golden = fs::read_to_string(golden).expect("golden answers");
    work.keep_contexts("synthesized.jsonl", &golden);
    let ours = HashMap::from([
        ("synthesized", answers(&work, "synthesized.jsonl")),
        ("human", answers(&work, "data/multi_turn_human_generated_data.tsv")),
    ]);
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut wrong = Vec::new();
    for line in golden.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, context, question, remaining] = fields[..] else { panic!("{line}") };
        *seen.entry(file).or_default() += 1;
        let found = ours[file].get(&context.parse().expect("a number"));
        let expected = (question.to_owned(), remaining.parse().expect("a number"));
        if found != Some(&expected) && question != "-" {
            wrong.push(format!("{line}: {found:?}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(seen["human"], ours["human"].len(), "all contexts of the human-generated file");
    assert!(seen["synthesized"] >= 1000, "{seen:?}");
}

#[test]
fn the_baseline_is_the_published_recipe() {
    assert_golden_answers(&Folder::with_sample(), "sample.tsv");
}

#[test]
fn the_baseline_is_the_published_recipe_on_the_released_files() {
    let data = root().join("../shared/clariq/data");
    if !data.join("multi_turn_human_generated_data.tsv").exists() {
        println!("skipped: the released files are not in {}", data.display());
        return;
    }
    let folder = Folder::new();
    let data = data.canonicalize().expect("a folder");
    std::os::unix::fs::symlink(data, folder.path("data")).expect("linked");
    assert_golden_answers(&folder, "clariq.tsv");
}

/// Writes the records of `c.jsonl` as pickles: `p0.pkl` to `p5.pkl`, by protocol. Records of one
/// context share its turns.
const PICKLE: &str = "
import json, pickle
records, contexts = {}, {}
for line in open('c.jsonl'):
    record = json.loads(line)
    turns = record['conversation_context']
    record['conversation_context'] = contexts.setdefault(record['context_id'], turns)
    records[record.pop('record_id')] = record
for protocol in range(6):
    pickle.dump(records, open(f'p{protocol}.pkl', 'wb'), protocol)
";

/// A folder with conversations of the sample as JSON lines, as pickles, and packed.
fn with_pickles() -> Folder {
    let folder = Folder::with_sample();
    let shape = ConversationShape { turns: 1, ..ConversationShape::default() };
    let work = Work::on(&folder, "data", "dev");
    work.synthesize(shape, "c.jsonl");
    work.synthesize(shape, "c.jsonl.gz");
    let pack = "gzip -k p3.pkl && tar -czf c.pkl.tar.gz p4.pkl && gzip -c p4.pkl > p4.pkl.gz && \
                half() { head -c $(($(wc -c < $1) / 2)) $1 > cut.$2; } && \
                half c.pkl.tar.gz pkl.tar.gz && half p4.pkl.gz pkl.gz && half p4.pkl pkl";
    for (program, script) in [("python3", PICKLE), ("sh", pack)] {
        let mut command = Command::new(program);
        let done = command.args(["-c", script]).current_dir(folder.path("")).output();
        let done = done.expect("it starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    folder
}

#[test]
fn all_forms_of_one_file_give_one_run() {
    let folder = with_pickles();
    let work = Work::on(&folder, "data", "dev");
    let run = |file: &str| {
        let input = (file, RequestFileKind::Conversations);
        work.run_file(BASELINE, input, false, "a.run").expect("a run");
        folder.text("a.run")
    };
    let plain = run("c.jsonl");
    assert!(plain.len() > 1000);
    for file in ["c.jsonl.gz", "p0.pkl", "p1.pkl", "p2.pkl", "p3.pkl.gz", "p5.pkl", "c.pkl.tar.gz"]
    {
        assert!(run(file) == plain, "{file}");
    }
    assert_eq!(folder.json("a.run.json")["conversations"]["file"], "c.pkl.tar.gz");
}

const GOOD: &str =
    r#"{"initial_request": "Tell me about Saturn.", "conversation_context": [], "context_id": 7}"#;

/// The message that a file is refused with. No file is left or changed.
fn refused(folder: &Folder, file: &str) -> String {
    let before = folder.snapshot();
    let work = Work::on(folder, "data", "dev");
    let input = (file, RequestFileKind::Conversations);
    let error = work.run_file(BASELINE, input, false, "old.run").expect_err("a refusal");
    assert!(folder.snapshot() == before, "a file was left or changed");
    work.printed(&error)
}

#[test]
fn a_bad_record_is_refused_or_left_out() {
    let folder = Folder::with_sample();
    folder.write("old.run", "old");
    let work = Work::on(&folder, "data", "dev");
    let refused = |record: &str| {
        folder.write("c.jsonl", format!("{GOOD}\n{record}\n{GOOD}\n"));
        let input = ("c.jsonl", RequestFileKind::Conversations);
        let (summary, notes) =
            work.run_file(BASELINE, input, true, "skipped.run").expect("the other record");
        assert_eq!(summary.requests, 1, "one context, twice in the file");
        assert!(notes.contains("c.jsonl: 1 bad records are left out; the first: "), "{notes}");
        refused(&folder, "c.jsonl")
    };
    let turn = r#"{"question": "which saturn do you mean the planet the car or the console", "answer": "the car"}"#;
    let with = |turns: &str| GOOD.replace("[]", &format!("[{turns}]"));
    assert_data_eq!(
        refused(&GOOD.replace(r#""conversation_context": [], "#, "")),
        str![[r#"
error: @/c.jsonl:2
  expected: a key `conversation_context` with a list of turns
     found: a record without it
hint: the documentation shows a record (reference, Formats); --skip-bad leaves bad records out and counts them

"#]]
    );
    assert_data_eq!(
        refused(&with(&vec![turn; 50].join(","))),
        str![[r#"
error: @/c.jsonl:2
  expected: at most 20 turns in `conversation_context`
     found: 50
hint: the documentation shows a record (reference, Formats); --skip-bad leaves bad records out and counts them

"#]]
    );
    assert_data_eq!(
        refused(&with(&turn.replace("which saturn", "what saturn"))),
        str![[r#"
error: @/c.jsonl:2
  expected: a question of the bank in turn 1 of `conversation_context`
     found: `what saturn do you mean the planet the car or the console`, which is not in question_bank.tsv
hint: the documentation shows a record (reference, Formats); --skip-bad leaves bad records out and counts them

"#]]
    );
    assert_data_eq!(
        refused(&with(&turn.replace("the car\"", "\""))),
        str![[r#"
error: @/c.jsonl:2
  expected: an answer in turn 1 of `conversation_context`
     found: an empty answer to `which saturn do you mean the planet the car or the console`
hint: the documentation shows a record (reference, Formats); --skip-bad leaves bad records out and counts them

"#]]
    );
    assert_data_eq!(
        refused(&GOOD.replace("Saturn", "Jupiter")),
        str![[r#"
error: @/c.jsonl:2
  expected: one conversation with the `context_id` 7
     found: another one than in an earlier record
hint: records with one `context_id` only differ in `question` and `answer`; --skip-bad keeps the first

"#]]
    );
    assert_data_eq!(
        refused(&GOOD.replace("context_id", "contextid")),
        str![[r#"
error: @/c.jsonl:2
  expected: one of `record_id`, `topic_id`, `facet_id`, `initial_request`, `question`, `answer`, `conversation_context`, `context_id` at `contextid`
     found: unknown field `contextid`
hint: the documentation shows a record (reference, Formats); --skip-bad leaves bad records out and counts them

"#]]
    );
}

#[test]
fn files_that_are_no_conversations_are_refused() {
    let folder = with_pickles();
    folder.write("old.run", "old");
    let written = |name: &str, content: &[u8]| {
        folder.write(name, content);
        refused(&folder, name)
    };
    let latin = [GOOD.as_bytes(), b"\n{\"initial_request\": \"caf\xe9\"}\n"].concat();
    assert_data_eq!(
        written("latin", &latin),
        str![[r#"
error: @/latin:2
  expected: UTF-8 text
     found: "{/"initial_request/": /"caf�/"}" in `record`
hint: the documentation shows a record (reference, Formats); --skip-bad leaves bad records out and counts them

"#]]
    );
    assert_data_eq!(
        written("key.pkl", b"(dI2287\n(dVnote\nVx\nss."),
        str![[r#"
error: @/key.pkl: record 2287
  expected: one of `record_id`, `topic_id`, `facet_id`, `initial_request`, `question`, `answer`, `conversation_context`, `context_id` at `note`
     found: unknown field `note`
hint: the documentation shows a record (reference, Formats); --skip-bad leaves bad records out and counts them

"#]]
    );
    assert_data_eq!(
        written("evil.pkl", b"cos\nsystem\n(Vls\ntR."),
        str![[r#"
error: @/evil.pkl
  expected: text, numbers and dictionaries only
     found: a reference to `os.system`
hint: nothing in the file was run; if you trust it, save it again from Python with plain numbers and texts

"#]]
    );
    assert_data_eq!(
        written("empty.jsonl", b""),
        str![[r#"
error: @/empty.jsonl: empty file
  expected: conversations
     found: nothing
hint: the file was probably cut short: fetch it again

"#]]
    );
    assert_data_eq!(
        refused(&folder, "nowhere.pkl"),
        str![[r#"
error: @/nowhere.pkl: missing file
  expected: a file
     found: nothing at that path
hint: check the path: there are `@/cut.pkl`, `@/evil.pkl`, `@/key.pkl`, …

"#]]
    );
    assert_data_eq!(
        refused(&folder, "data/dev.qrel"),
        str![[r#"
error: @/data/dev.qrel
  expected: conversations
     found: could not convert string to float
hint: a file of conversations is a Python dictionary `{record_id: {"initial_request": …, "conversation_context": […], "context_id": …}}`, the same records as JSON lines, or multi_turn_human_generated_data.tsv

"#]]
    );
    assert_data_eq!(
        refused(&folder, "cut.pkl.tar.gz"),
        str![[r#"
error: @/cut.pkl.tar.gz
  expected: a whole archive
     found: incomplete deflate stream
hint: the file is cut short or damaged, or a piece of it is missing: fetch it again

"#]]
    );
    assert_data_eq!(
        refused(&folder, "cut.pkl.gz"),
        str![[r#"
error: @/cut.pkl.gz
  expected: a whole archive
     found: incomplete deflate stream
hint: the file is cut short or damaged, or a piece of it is missing: fetch it again

"#]]
    );
    assert_data_eq!(
        refused(&folder, "cut.pkl"),
        str![[r#"
error: @/cut.pkl
  expected: conversations
     found: pickle data was truncated
hint: a file of conversations is a Python dictionary `{record_id: {"initial_request": …, "conversation_context": […], "context_id": …}}`, the same records as JSON lines, or multi_turn_human_generated_data.tsv

"#]]
    );
}

#[test]
fn files_of_other_tools_are_named() {
    let folder = with_pickles();
    folder.write("old.run", "old");
    let written = |name: &str, content: &[u8]| {
        folder.write(name, content);
        refused(&folder, name)
    };
    assert_data_eq!(
        written("array.json", b"[{}]"),
        str![[r#"
error: @/array.json
  expected: conversations
     found: a JSON array
hint: write each record on a line: `jq -c '.[]'` does so

"#]]
    );
    assert_data_eq!(
        written("commas.csv", b"topic_id,initial_request\n1,Tell me about Saturn.\n"),
        str![[r#"
error: @/commas.csv:1: missing column
  expected: a column `topic_id`
     found: topic_id,initial_request
hint: columns are separated by tabs and named in the first line

"#]]
    );
    assert_data_eq!(
        written("twice.pkl", &folder.read("p4.pkl").repeat(2)),
        str![[r#"
error: @/twice.pkl
  expected: conversations
     found: more behind the end of the dictionary
hint: a file of conversations is a Python dictionary `{record_id: {"initial_request": …, "conversation_context": […], "context_id": …}}`, the same records as JSON lines, or multi_turn_human_generated_data.tsv

"#]]
    );
}

#[test]
fn contexts_without_a_prediction_are_counted() {
    let folder = Folder::with_sample();
    let work = Work::on(&folder, "data", "dev");
    let shape = ConversationShape { turns: 1, ..ConversationShape::default() };
    work.synthesize(shape, "c.jsonl");
    let contexts = answers(&work, "c.jsonl").len();
    let conversations = folder.path("c.jsonl");
    let validate = |run: &str, conversations: Option<&Path>| {
        let options =
            ValidationOptions { conversations, ..ValidationOptions::new(&|_| 0, usize::MAX) };
        let found = (KIND.validate)(&work.data, "dev", &Source::new(folder.path(run)), &options)?;
        let problems = found.let_through.iter().map(|finding| {
            let problem = &finding.first;
            (problem.expected.clone(), problem.found.clone(), finding.count)
        });
        Ok::<_, Error>((found.answered, problems.collect::<Vec<_>>(), found.notes))
    };
    let (answered, _, notes) = validate("mine.run", None).expect("a verdict");
    assert_eq!(answered, contexts);
    let says = format!("{contexts} contexts are answered; whether any is missing was not");
    assert!(notes.iter().any(|note| note.contains(&says)), "{notes:?}");
    let (answered, problems, _) = validate("mine.run", Some(&conversations)).expect("a verdict");
    assert_eq!((answered, problems), (contexts, Vec::new()));
    folder.edit("mine.run", |run| {
        let kept: String = run.split_inclusive('\n').skip(3).collect();
        format!("{kept}999999999 0 \"\" 0 5 t\n")
    });
    let (answered, problems, _) = validate("mine.run", Some(&conversations)).expect("a verdict");
    assert_eq!(answered, contexts - 2);
    let [missing, other] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!((&*missing.0, missing.2), ("a prediction for every context", 3));
    assert_eq!((&*other.1, other.2), ("context 999999999", 1));
    work.run("bm25", "single.run").expect("a run");
    validate("single.run", Some(&conversations)).expect_err("a run that has no contexts");
}
