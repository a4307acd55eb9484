//! What the released files are known to hold.

use crate::released::{file, released};
use clariq_collections::{Collection, DataDir, OfficialVerdict, ValidationOptions};
use clariq_core::Severity;
use clariq_eval::Ties;
use clariq_files::read_run;
use clariq_track_clariq::evaluation::question_relevance;
use clariq_track_clariq::{ClariQ, ClariqSplit, KIND, check};

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
    let labels = collection.labelled(ClariqSplit::Dev).expect("labels");
    let recall = question_relevance(&run, &labels, Ties::Official).means[0];
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
