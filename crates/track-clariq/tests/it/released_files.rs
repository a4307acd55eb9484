//! What the released files are known to hold.

use crate::released::{file, released};
use clariq_collections::{Collection, DataDir, OfficialVerdict, ValidationOptions};
use clariq_core::Severity;
use clariq_eval::Ties;
use clariq_files::{Source, read_run};
use clariq_track_clariq::evaluation::{
    DOCUMENT_MEASURES, DocumentsTask, Official, OfficialScores, OfficialTask, question_relevance,
};
use clariq_track_clariq::{ClariQ, KIND, check, splits};
use std::collections::HashMap;
use std::fs;

fn data() -> Option<DataDir> {
    released("clariq").map(|folder| DataDir::Folder(folder.join("data")))
}

#[test]
fn the_released_folder_has_no_error_and_the_known_warnings() {
    let Some(data) = data() else { return };
    let report = check(&data).expect("a report");
    assert!(!report.findings.has_errors());
    let warnings = |name: &str| {
        let file = report.files.iter().find(|file| file.ends_with(name)).expect("that file");
        report.findings.count(file, Severity::Warning)
    };
    let names = ["question_bank.tsv", "train.tsv", "dev.tsv", "/test.tsv", "dev.qrel"];
    assert_eq!(names.map(warnings), [0, 17, 5, 0, 0]);
}

#[test]
fn the_released_folder_has_the_known_figures() {
    let Some(data) = data() else { return };
    let collection: &dyn Collection = &ClariQ::open(data).expect("the collection");
    let stats = collection.statistics().expect("figures").named;
    assert_eq!((&stats["questions"], &stats["longest_question"]), (&3941.into(), &33.into()));
    let split =
        |place: usize, names: [&str; 6]| names.map(|name| stats["splits"][place][name].to_string());
    let names = ["topics", "facets", "single", "rows", "needs", "no_question"];
    // The challenge's README counts 891 facets and 39 topics with a single one.
    assert_eq!(split(0, names), ["187", "638", "30", "9176", "[25,74,62,26]", "159"]);
    assert_eq!(split(1, names), ["50", "163", "11", "2313", "[4,21,16,9]", "39"]);
    assert_eq!(split(2, names), ["61", "null", "null", "null", "null", "null"]);
    let relevant = |place: usize| {
        let relevant = &stats["splits"][place]["relevant"];
        let least = &relevant[0];
        let mean = relevant[1].as_f64().expect("a mean");
        let most = &relevant[2];
        format!("{least} {mean:.1} {most}")
    };
    assert_eq!([relevant(0), relevant(1)], ["5 13.9 18", "8 13.6 19"]);
}

/// The official scorer keeps one line per distinct score.
#[test]
fn the_official_tie_rule_lowers_the_recall_of_the_published_baseline() {
    let Some(folder) = released("clariq") else { return };
    let mut run = read_run(&file(&folder, "sample_runs/dev_bm25")).expect("a run");
    for line in &mut run.lines {
        line.score = 1.0;
    }
    let collection = ClariQ::open(DataDir::Folder(folder.join("data"))).expect("the collection");
    let labels = collection.labelled(splits::DEV).expect("labels");
    let recall = question_relevance(&run, &labels, Ties::Official)[0].value();
    assert_eq!(format!("{recall:.4}"), "0.0659");
}

#[test]
fn published_multi_turn_runs_are_accepted() {
    let Some(folder) = released("clariq") else { return };
    let data = DataDir::Folder(folder.join("data"));
    let options = ValidationOptions::new(&|_| 0, 0);
    for run in ["dev_bm25_multi_turn", "dev_best_question_multi_turn"] {
        let file = file(&folder, &format!("sample_runs/{run}"));
        let found = (KIND.validate)(&data, "dev", &file, &options).expect("a verdict");
        assert!(matches!(found.verdict, OfficialVerdict::Accepted { .. }), "{run}");
    }
}

const RELEVANCE: OfficialTask = OfficialTask::Questions { ties: None };
const DOCUMENTS: OfficialTask =
    OfficialTask::Documents(DocumentsTask { multi_turn: false, no_answer: false });

/// The figures of a published run on dev.
fn scored(task: &OfficialTask, run: &str) -> Option<OfficialScores> {
    let folder = released("clariq")?;
    let collection = ClariQ::open(DataDir::Folder(folder.join("data"))).expect("the collection");
    let file = folder.join("sample_runs").join(run);
    let official = Official::new(&collection, splits::DEV);
    Some(official.score_as(task, &Source::new(file)).expect("figures"))
}

#[test]
fn published_runs_get_the_published_figures() {
    for (run, [five, ten, twenty, thirty]) in [
        (
            "dev_bm25",
            [
                "0.3245570421150917",
                "0.5638042646208281",
                "0.6674997108155003",
                "0.6912818698329535",
            ],
        ),
        (
            "dev_BERT-ranker",
            [
                "0.3493763159784832",
                "0.6134226147949058",
                "0.7248462956032615",
                "0.7542703960126561",
            ],
        ),
        (
            "dev_BERT-reranker",
            ["0.3474806038474769", "0.612186404926343", "0.6912818698329535", "0.6912818698329535"],
        ),
        ("dev_no_q", ["0.05560622994136926"; 4]),
    ] {
        let Some(found) = scored(&RELEVANCE, run) else { return };
        let figures: Vec<String> =
            found.scores.iter().map(|it| format!("{}: {}", it.measure, it.value())).collect();
        let expected =
            format!("Recall5: {five} Recall10: {ten} Recall20: {twenty} Recall30: {thirty}");
        assert_eq!(figures.join(" "), expected, "{run}");
    }
}

#[test]
fn figures_per_topic_are_the_published_ones() {
    let Some(folder) = released("clariq") else { return };
    let found = scored(&RELEVANCE, "dev_bm25").expect("the released files");
    let scores = found.scores.into_iter().map(|score| {
        let values = score.values.into_iter().map(|(topic, value)| (topic.to_string(), value));
        (score.measure, values.collect())
    });
    let ours: HashMap<String, HashMap<String, f64>> = scores.collect();
    let published = folder.join("sample_runs/dev_bm25_question_relevance.eval");
    let published: HashMap<String, HashMap<String, f64>> =
        serde_json::from_slice(&fs::read(published).expect("a file")).expect("figures per topic");
    assert_eq!(published["Recall5"].len(), 50);
    assert_eq!(ours, published);
}

#[test]
fn scores_of_published_rows_are_named() {
    for (task, run, row) in [
        (RELEVANCE, "dev_bm25", "BM25 by ClariQ"),
        (RELEVANCE, "dev_BERT-ranker", "BERT-ranker by ClariQ"),
        (RELEVANCE, "dev_BERT-reranker", "BERT-reranker by ClariQ"),
        (DOCUMENTS, "dev_bm25", "BM25 by ClariQ, BERT+BM25 by Soda"),
        (DOCUMENTS, "dev_worst_q", "Oracle WorstQuestion by ClariQ"),
    ] {
        let Some(found) = scored(&task, run) else { return };
        let note =
            format!("note: these are the published scores on dev of {row} (configs/leaderboard)");
        assert!(found.published.contains(&note), "{run}: {:?}", found.published);
    }
    let other = scored(&RELEVANCE, "dev_no_q").expect("the released files");
    assert_eq!(other.published, [""; 0]);
}

#[test]
fn documents_of_the_bm25_baseline_have_the_published_figures() {
    let Some(found) = scored(&DOCUMENTS, "dev_bm25") else { return };
    let figures = DOCUMENT_MEASURES.map(|measure| {
        let score = found.scores.iter().find(|score| score.measure == measure).expect(measure);
        format!("{measure} {:.4}", score.value())
    });
    assert_eq!(figures, ["MRR100 0.3096", "P1 0.2313", "NDCG3 0.1608", "NDCG5 0.1530"]);
}
