//! Runs over a split and over a file of requests.

use crate::common::{Folder, Work};
use clariq_core::{Error, Job, Observer, Silent};
use clariq_experiment::Session;
use clariq_experiment::reproduce::check_expected;
use clariq_experiment::run::{CandidateRun, FileInput, RequestFileKind, open_split, usual_path};
use clariq_files::Source;
use clariq_tracks::TRACKS;
use snapbox::{assert_data_eq, str};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A system that only finds documents that share a word with the request.
const WORDS: &str =
    "name = \"words\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 5\n";

#[test]
fn a_system_that_retrieves_nothing_is_refused_and_one_that_misses_some_is_reported() {
    let folder = Folder::with_sample();
    folder.write("words.toml", WORDS);
    folder.remove("data/test_with_labels.tsv");
    let requests = |texts: [&str; 2]| {
        let rows = (1001..).zip(texts).map(|(id, text)| format!("{id}\t{text}\n"));
        format!("topic_id\tinitial_request\n{}", rows.collect::<String>())
    };
    folder.write("data/test.tsv", requests(["xyzzy", "plugh"]));
    let before = folder.snapshot();
    let work = Work::on(&folder, "data", "test");
    let refused = work.run("words.toml", "words.run").expect_err("a refusal");
    assert_data_eq!(
        work.printed(&refused),
        str![[r#"
error: @/words.toml
  expected: a system that ranks something for at least one request
     found: nothing for any of 2 requests of test in @/data
hint: `clariq explain --system …` shows what each stage does with a document

"#]]
    );
    assert!(folder.snapshot() == before, "a file was left or changed");
    // A file of requests may be a block of a larger one: its run is empty.
    folder.write("r.jsonl", "{\"id\": 1, \"text\": \"xyzzy\"}\n");
    let file = ("r.jsonl", RequestFileKind::Requests);
    let (summary, notes) = work.run_file("words.toml", file, false, "empty.run").expect("a run");
    assert_eq!((summary.requests, summary.empty), (1, 1));
    assert_data_eq!(
        notes,
        str![[r#"
warning: 1 of 1 request has no document left to rank, and no line

"#]]
    );
    assert_eq!(folder.text("empty.run"), "");
    folder.write("data/test.tsv", requests(["xyzzy", "tell me about saturn"]));
    let (summary, _) = work.run("words.toml", "words.run").expect("a run");
    assert_eq!((summary.requests, summary.empty), (2, 1));
}

#[test]
fn a_misspelt_split_of_expected_figures_is_refused_for_their_bank() {
    let folder = Folder::with_sample();
    let work = Work::on(&folder, "data", "dev");
    let checked = |bank: &str| {
        folder.write(
            "mine.toml",
            format!(
                "{WORDS}[[expected]]\ncollection = \"x\"\nbank = \"{bank}\"\nsplit = \"devel\"\n\
                 measures = {{ \"R@5\" = 0.5 }}\n"
            ),
        );
        let config = work.load("mine.toml").expect("a system");
        work.with_session(|session| check_expected(&config, session)).0
    };
    checked("2100c70232f6").expect("figures of another bank");
    let refused = checked("575333ff3f8b").expect_err("a refusal");
    assert_data_eq!(
        work.printed(&refused),
        str![[r#"
error: @/mine.toml
  expected: under [[expected]] a split of ClariQ, one of train, dev, test
     found: `devel`
hint: names are case-sensitive

"#]]
    );
}

#[test]
fn another_parameter_is_another_file() {
    let folder = Folder::new();
    folder.copy("data/sample-own", "data");
    let work = Work::on(&folder, "data", "dev");
    let named = |set: &[&str]| {
        let config = work.with(set).load("bm25").expect("a system");
        let (path, _) =
            work.with_session(|session| usual_path(Path::new("r"), session, &config, "dev"));
        path.file_name().expect("a name").to_string_lossy().into_owned()
    };
    assert_eq!(named(&[]), "bm25.dev.run");
    assert_eq!(named(&["bm25.k1=0.9", "bm25.b=0.4"]), "bm25-k1-0.9-b-0.4.dev.run");
    assert_eq!(named(&["bm25.k1=1.5"]), "bm25.dev.run", "its own value");
    work.with(&["bm25.k1=0.5"]).run("bm25", "mine.run").expect("a run");
    assert!(folder.text("mine.run").lines().all(|line| line.ends_with(" bm25-k1-0.5")));
}

#[test]
fn candidates_that_match_nothing_are_refused_and_others_counted() {
    let folder = Folder::new();
    folder.copy("data/sample-own", "data");
    let work = Work::on(&folder, "data", "dev");
    let config = work.load("bm25").expect("a system");
    let run = |lines: &str| -> (Result<(), Error>, String) {
        folder.write("given.run", lines);
        let source = Source::new(folder.path("given.run"));
        let candidates = CandidateRun::read(&source).expect("a run");
        work.with_session(|session| {
            let split = session.split.expect("a split");
            let input = open_split(session, &config, split, Some(&candidates))?;
            work.write(session, &config, &*input, "a.run").map(drop)
        })
    };
    let refused = |lines: &str| work.printed(&run(lines).0.expect_err("a refusal"));
    assert_data_eq!(
        refused("x1 0 bike/1 1 4 a\n"),
        str![[r#"
error: @/given.run
  expected: candidates for requests of the split
     found: only for others, such as `x1`
hint: --split names the split that the run ranks for

"#]]
    );
    assert_data_eq!(
        refused("d1 0 nothing/1 1 4 a\n"),
        str![[r#"
error: @/given.run:1
  expected: documents whose texts are known
     found: `nothing/1`, and none of the others either
hint: --passages names files with the texts of the documents of that run

"#]]
    );
    let (done, notes) = run("# made by x\nd1 0 bread/4 1 4 a\nd1 0 nothing/1 2 3 a b\n");
    done.expect("a run");
    let place = folder.path("").display().to_string();
    assert_data_eq!(
        notes.replace(&place, "@/"),
        str![[r#"
warning: @/given.run: no candidates for 7 of 8 requests
warning: @/given.run: 1 line begins with `#` and is a comment
warning: @/given.run: 1 line has words after the last field, which are ignored
warning: @/given.run: 1 of 2 lines name documents without a text, such as `nothing/1`, which are left out
warning: 7 of 8 requests have no document left to rank, and no line

"#]]
    );
    assert_eq!(folder.text("a.run").lines().count(), 1);
}

#[test]
fn a_file_without_requests_is_refused() {
    let folder = Folder::new();
    folder.copy("data/sample-own", "data");
    let data = clariq_collections::DataDir::Folder(folder.path("data"));
    let work = Work::outside(&folder, data);
    let config = work.load("bm25").expect("a system");
    for text in ["", "\n\n", "id\ttext\n"] {
        folder.write("r.jsonl", text);
        let file = folder.path("r.jsonl");
        let (refused, _) = work.with_session(|session| {
            let input = FileInput::open(session, &file, RequestFileKind::Requests, true)?;
            work.write(session, &config, &input, "a.run").map(drop)
        });
        let problem = refused.expect_err("a refusal").to_problem();
        assert_eq!((&*problem.expected, &*problem.found), ("at least one request", "none"));
        assert!(!folder.path("a.run").exists());
    }
}

/// Counts the steps of the job that ranks a split.
struct Steps(Arc<AtomicU64>);

impl Observer for Steps {
    fn begin(&self, name: &str, _steps: Option<u64>) -> Box<dyn Job> {
        if name.ends_with("2023-test") { Box::new(Self(self.0.clone())) } else { Box::new(Silent) }
    }
}

impl Job for Steps {
    fn advance(&self, steps: u64) {
        self.0.fetch_add(steps, Relaxed);
    }
}

#[test]
fn progress_ends_at_the_number_of_requests_whatever_the_number_of_responses() {
    let folder = Folder::new();
    let work = Work::on_ikat(&folder, "2023-test");
    let steps = Steps(Arc::default());
    let collection = TRACKS.open(&work.data).unwrap();
    let split = collection.find_split("2023-test").unwrap();
    let mut session = Session::new(&*collection, work.options.clone()).unwrap().answering(split);
    session.observer = &steps;
    let two = work.with(&["answer.responses=2", "answer.response.tokens=100"]);
    let config = two.load("ikat-bm25").unwrap();
    let input = open_split(&session, &config, split, None).unwrap();
    let summary = work.write(&session, &config, &*input, "two.json").unwrap();
    assert_eq!((summary.requests, steps.0.load(Relaxed)), (46, 46));
}
