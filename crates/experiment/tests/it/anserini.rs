//! CACM as Anserini ranks it: figures to four digits, and BM25 rank by rank.

use crate::common::{Folder, Work, root};
use clariq_eval::{RankedRun, evaluate, parse_measures};
use clariq_files::{Source, read_run};
use std::fs;

/// The folder with the texts, topics, judgements and Anserini's run, or `None` with a line that says
/// so.
fn cacm() -> Option<Folder> {
    let folder = root().join("../shared/cacm");
    if !folder.is_dir() {
        println!("skipped: CACM is not in {}", folder.display());
        return None;
    }
    let cacm = Folder::new();
    for (from, to) in [
        ("documents.jsonl.gz", "data/documents.jsonl.gz"),
        ("requests.test.jsonl.gz", "data/requests.test.jsonl.gz"),
        ("qrels.cacm.txt", "data/qrels.test.txt"),
        ("anserini.bm25.run.gz", "anserini.run.gz"),
    ] {
        cacm.write(to, fs::read(folder.join(from)).expect("a file of CACM"));
    }
    Some(cacm)
}

/// A system with stages of the same keys, of which the last orders ties as Anserini does.
fn write_system(folder: &Folder, name: &str, variant: &str, stages: &[&str]) {
    let mut system = format!("name = \"{name}\"\ndescription = \"as Anserini\"\n");
    for (place, stage) in stages.iter().enumerate() {
        let ties = if place + 1 == stages.len() { "anserini" } else { "id" };
        let stage = format!(
            "[[stages]]\nstage = \"{stage}\"\nanalyzer = \"lucene\"\n{variant}\ndepth = 1000\n\
             ties = \"{ties}\"\n"
        );
        system.push_str(&stage);
    }
    folder.write("mine.toml", system);
}

/// The published figures (`cacm.yaml` of Anserini): mean average precision and precision at 30.
#[test]
fn cacm_has_the_published_figures_and_the_ranks_of_bm25() {
    const BM25: &str = "variant = \"lucene-default\"\nk1 = 0.9\nb = 0.4";
    const QL: &str = "variant = \"ql\"";
    let Some(folder) = cacm() else { return };
    let work = Work::on(&folder, "data", "test");
    let measures = parse_measures("AP,P@30").expect("measures");
    for (name, variant, stages, expected) in [
        ("rm3", BM25, &["bm25", "rm3"][..], ["0.3648", "0.2224"]),
        ("ql", QL, &["bm25"], ["0.3265", "0.1942"]),
        ("ql-rm3", QL, &["bm25", "rm3"], ["0.3629", "0.2250"]),
        ("bm25", BM25, &["bm25"], ["0.3123", "0.1942"]),
    ] {
        write_system(&folder, name, variant, stages);
        work.run("mine.toml", "mine.run").expect("a run");
        let run = read_run(&Source::new(folder.path("mine.run"))).expect("a run");
        let (scores, _) = work.with_session(|session| {
            let qrels = session.collection.qrels(session.split.expect("test"), session.task);
            let qrels = qrels.expect("labels").expect("labels");
            evaluate(&measures, &RankedRun::new(&run), &qrels).expect("scores")
        });
        assert_eq!([0, 1].map(|place| format!("{:.4}", scores[place].value())), expected, "{name}");
    }
    // The last run is that of BM25.
    let read = |name: &str| read_run(&Source::new(folder.path(name))).expect("a run").lines;
    let (ours, theirs) = (read("mine.run"), read("anserini.run.gz"));
    assert_eq!((ours.len(), theirs.len()), (58_571, 58_571));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!((&ours.topic, &ours.document), (&theirs.topic, &theirs.document), "{ours:?}");
        assert!((ours.score - theirs.score).abs() < 2e-4, "{ours:?} {theirs:?}");
    }
}
