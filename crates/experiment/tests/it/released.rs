//! Figures on the released files. The tests are skipped, with a message, where those are missing.

use crate::common::{Folder, Work, root};
use clariq_core::{Documents, Request};
use clariq_eval::weighted_f1;
use clariq_experiment::NeedModels;
use clariq_experiment::reproduce::{Verdict, check, published};
use clariq_files::{Run, Source, read_run};
use clariq_index::{Analyzer, Bm25, BuildOptions, Depth, DocumentIndex, Query, Scorer};
use clariq_rank::ExpectedScores;
use clariq_track_clariq::ClariQ;
use clariq_tracks::TRACKS;
use std::collections::HashMap;
use std::fs;
use std::sync::Arc;

/// A folder with links `data` and `published` to the released files.
fn released() -> Option<Folder> {
    let released = root().join("../shared/clariq");
    if !released.join("data/question_bank.tsv").exists() || !released.join("sample_runs").is_dir() {
        println!("skipped: the released files are not in {}", released.display());
        return None;
    }
    let folder = Folder::new();
    for (link, from) in [("data", "data"), ("published", "sample_runs")] {
        let from = released.join(from).canonicalize().expect("a folder");
        std::os::unix::fs::symlink(from, folder.path(link)).expect("linked");
    }
    Some(folder)
}

fn run_of(folder: &Folder, name: &str) -> Run {
    read_run(&Source::new(folder.path(name))).expect("a run")
}

/// The questions of each topic, in file order.
fn by_topic(run: &Run) -> HashMap<&str, Vec<&str>> {
    let mut topics: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in &run.lines {
        topics.entry(line.topic.as_str()).or_default().push(line.document.as_str());
    }
    topics
}

/// Recall at 5, 10, 20 and 30 of a system, with six digits.
fn recalls(work: &Work, system: &str) -> [String; 4] {
    let figures = work.figures(system);
    ["R@5", "R@10", "R@20", "R@30"].map(|measure| format!("{:.6}", figures[measure]))
}

#[test]
fn the_bm25_baseline_is_the_published_run() {
    let Some(folder) = released() else { return };
    let work = Work::on(&folder, "data", "dev");
    work.run("bm25", "dev.run").expect("a run");
    let ours = run_of(&folder, "dev.run");
    assert_eq!(by_topic(&ours), by_topic(&run_of(&folder, "published/dev_bm25")));
    assert_eq!(recalls(&work, "bm25"), ["0.324557", "0.563804", "0.667500", "0.691282"]);
    // With ties by id, it differs inside ties alone.
    let by_id = recalls(&work.with(&["bm25.ties=id"]), "bm25");
    assert_eq!(by_id, ["0.324557", "0.563680", "0.667500", "0.691282"]);
}

#[test]
fn the_published_baseline_is_a_descending_order_of_our_scores() {
    let Some(folder) = released() else { return };
    let run = run_of(&folder, "published/dev_bm25");
    let published = by_topic(&run);
    Work::on(&folder, "data", "dev").with_session(|session| {
        let bank = &ClariQ::of(session.collection).expect("ClariQ").bank;
        let index = folder.path("index");
        let options = BuildOptions::default();
        let opened = DocumentIndex::open_or_build(&index, bank, Analyzer::Nltk, &options);
        let index = Arc::new(opened.expect("an index").0);
        let scorer = Scorer::new(&index, Bm25::okapi()).expect("a scorer");
        let requests = session.collection.requests(session.split.expect("dev"), session.task);
        let requests: Vec<Request> =
            requests.expect("dev").map(|request| request.expect("a request")).collect();
        assert_eq!((published.len(), requests.len()), (50, 50));
        for request in &requests {
            let depth = Depth { limit: bank.len(), pad: true };
            let tokens = Analyzer::Nltk.tokens(request.opening());
            let hits = scorer.rank(&Query::new(&tokens, depth)).expect("hits");
            assert_eq!(hits.len(), bank.len());
            let scores: HashMap<&str, f64> =
                hits.iter().map(|hit| (bank.id(hit.doc).as_str(), hit.score)).collect();
            let lines = &published[request.id.as_str()];
            let ordered: Vec<f64> = lines.iter().map(|question| scores[question]).collect();
            assert!(ordered.is_sorted_by(|a, b| a >= b), "{}: {ordered:?}", request.id);
            let lowest = ordered[ordered.len() - 1];
            let missing = scores
                .iter()
                .find(|(question, score)| **score > lowest && !lines.contains(*question));
            assert_eq!(missing, None, "{} leaves out a question above {lowest}", request.id);
        }
    });
}

/// Encoding the questions takes as long as a fifth of all tests, and fine-tuning takes minutes: systems
/// with models are checked by `reproduce` outside the tests, and on the sample.
#[test]
fn systems_without_models_reach_the_figures_of_their_configurations() {
    let Some(folder) = released() else { return };
    let work = Work::on(&folder, "data", "dev");
    let names = ["no-question", "bm25", "bm25-english", "bm25-tuned"];
    let systems = names.map(|name| work.load(name).expect("a system"));
    let mut verdicts = Vec::new();
    for split in ["train", "dev"] {
        Work::on(&folder, "data", split).with_session(|session| {
            let split = session.split.expect("a split");
            let runs = folder.path("runs");
            let figures = check(session, &systems, split, &runs, &mut |figure| {
                verdicts.push((figure.to_string(), figure.verdict));
            });
            figures.expect("figures");
        });
    }
    let (expected, other): (Vec<_>, Vec<_>) =
        verdicts.iter().partition(|(_, verdict)| verdict.is_some());
    assert!(expected.len() >= 42, "{verdicts:?}");
    assert!(expected.iter().all(|(_, verdict)| *verdict != Some(Verdict::Fail)), "{verdicts:?}");
    // Needs that the configuration does not expect are shown.
    assert!(other.iter().all(|(figure, _)| figure.starts_with("need F1 ")), "{verdicts:?}");
    // Test has no labels in the released files: what was published for it is shown alone.
    Work::on(&folder, "data", "test").with_session(|session| {
        let shown = published(session, &systems, session.split.expect("test"));
        let shown: Vec<_> = shown.iter().map(|figure| (figure.system, figure.obtained)).collect();
        assert_eq!(shown, [("bm25", None); 4]);
    });
}

/// The need models of these systems need nothing that is fine-tuned.
#[test]
fn predicted_needs_reach_the_figures_of_their_configuration() {
    let Some(folder) = released() else { return };
    let work = Work::on(&folder, "data", "dev");
    work.with_session(|session| {
        let models = NeedModels::new(session.clone());
        let models = models.for_split(Some("dev")).expect("a split");
        for system in ["bm25-tuned", "strict", "best"] {
            let config = work.load(system).expect("a system");
            let is_of_dev = |it: &&ExpectedScores| it.collection == "clariq" && it.split == "dev";
            let expected = config.expected.iter().find(is_of_dev).expect("figures of dev");
            let model = models.open(system).expect("a model");
            let held_out = models.held_out(&model).expect("scores").expect("labels");
            let difference = weighted_f1(&held_out.pairs) - expected.measures["need F1"];
            assert!(difference.abs() < 1e-5, "{system}: {difference}");
        }
    });
}

/// The released files beside a file in the form of the released test labels, with two wordings of
/// topic 260.
#[test]
fn the_whole_release_has_no_error_and_its_test_topics_are_scored() {
    let Some(folder) = released() else { return };
    let labels = root().join("../shared/clariq/format/test_with_labels.tsv");
    if !labels.exists() {
        println!("skipped: no {}", labels.display());
        return;
    }
    let whole = Folder::new();
    fs::create_dir(whole.path("data")).expect("created");
    let files = fs::read_dir(folder.path("data")).expect("a folder");
    for file in files.map(|entry| entry.expect("an entry").path()).chain([labels]) {
        let file = file.canonicalize().expect("a file");
        let link = whole.path("data").join(file.file_name().expect("a name"));
        std::os::unix::fs::symlink(&file, link).expect("linked");
    }
    let dev = Work::on(&whole, "data", "dev");
    let findings = TRACKS.check(&dev.data).expect("a report").findings;
    assert!(!findings.has_errors());
    let worded: Vec<_> =
        findings.iter().filter(|it| it.first.found.contains("american revolutionary")).collect();
    assert_eq!((worded.len(), worded[0].count), (1, 124));
    assert_eq!(worded[0].first.found, "`tell me more about the american revolutionary`");
    let (statistics, _) = dev.with_session(|session| session.collection.statistics());
    assert_eq!(statistics.expect("figures").columns, ["train", "dev", "test", "bank"]);
    let known = ["0.324557", "0.563804", "0.667500", "0.691282"];
    assert_eq!(recalls(&dev, "bm25"), known);
    assert!(Work::on(&whole, "data", "test").figures("bm25").contains_key("R@30"));
}
