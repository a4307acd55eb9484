//! How the runs of systems on iKAT's sample are scored and compared.

use super::SPLIT;
use crate::common::{Folder, Work};
use clariq_collections::Collection;
use clariq_collections::evaluation::{Answers, Cases, Evaluation, ScoreOptions};
use clariq_eval::{Score, parse_measures};
use clariq_files::Source;
use clariq_track_ikat::evaluation::{AssessedBy, IkatEvaluation};
use clariq_track_ikat::{Ikat, KIND, SAMPLE};
use clariq_tracks::TRACKS;
use std::path::Path;

fn cases(evaluation: &dyn Evaluation, file: &Path) -> Cases {
    evaluation.cases(Answers::File(&Source::new(file)), &ScoreOptions::default()).unwrap()
}

/// Names as `clariq eval` shows them, and scores.
fn named(scores: &[Score]) -> Vec<(String, f64)> {
    scores.iter().map(|score| (score.known_as(), score.value())).collect()
}

#[test]
fn one_part_and_any_measure_can_be_compared() {
    let folder = Folder::new();
    Work::on_ikat(&folder, SPLIT).run("ikat-bm25", "a.json").unwrap();
    let ikat = Ikat::open(SAMPLE, None).unwrap();
    let collection: &dyn Collection = &ikat;
    let evaluation = collection.evaluation(collection.find_split(SPLIT).unwrap()).unwrap();
    let measures = |part: Option<&str>, names: &str| -> Vec<String> {
        let measures = parse_measures(names).unwrap();
        let by = ScoreOptions { part, measures: &measures, ..ScoreOptions::default() };
        let file = Source::new(folder.path("a.json"));
        let found = evaluation.cases(Answers::File(&file), &by).unwrap().compared();
        found.scores.iter().map(Score::name).collect()
    };
    let of = |part: &str, names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!("{part} {name}")).collect()
    };
    assert_eq!(
        measures(Some("sets"), ""),
        [of("sets (organisers)", &["P", "R", "F1"]), of("sets (NIST)", &["P", "R", "F1"])].concat()
    );
    assert_eq!(measures(Some("responses"), ""), of("responses", &["ROUGE-1", "ROUGE-2"]));
    let passages = ["passages (cited)", "passages (graded by NIST)"];
    assert_eq!(
        measures(Some("passages"), "P(rel=2)@5 RR"),
        passages.map(|part| of(part, &["P(rel=2)@5", "RR"])).concat()
    );
    let parts = ["statements", "ptkb_provenance"]
        .map(|part| [format!("{part} (organisers)"), format!("{part} (NIST)")])
        .concat();
    let parts = parts.iter().map(String::as_str).chain(passages);
    let all: Vec<String> = parts.flat_map(|part| of(part, &["P@1"])).collect();
    assert_eq!(measures(None, "P@1"), all);
}

/// The rubric qrels of 2026 have three columns.
#[test]
fn graded_passages_of_three_columns_are_read_and_their_pool_is_measured() {
    let folder = Folder::new();
    Work::on_ikat(&folder, SPLIT).run("ikat-bm25", "a.json").unwrap();
    let mut four = Vec::new();
    let mut three = Vec::new();
    for line in folder.text("a.passages.run").lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let rank: usize = fields[3].parse().unwrap();
        if rank <= 5 {
            four.push(format!("{} 0 {} {}\n", fields[0], fields[2], rank % 5));
            three.push(format!("{}\t{}\t{}\n", fields[0], fields[2], rank % 5));
        }
    }
    folder.write("four.txt", four.concat());
    folder.write("three.txt", three.concat());
    let ikat = Ikat::open(SAMPLE, None).unwrap();
    let evaluation = IkatEvaluation::open(&ikat, KIND.find_split(SPLIT).unwrap()).unwrap();
    let eval = |labels: &str| {
        let qrels = folder.path(labels);
        let by = AssessedBy { qrels: Some(&qrels), ..AssessedBy::default() };
        let file = Source::new(folder.path("a.json"));
        named(&evaluation.score_with(&file, &[], &by).unwrap().scores)
    };
    let found = eval("three.txt");
    assert_eq!(found, eval("four.txt"));
    let judged = ("passages (graded by --qrels) Judged@10".to_owned(), 0.5);
    assert!(found.contains(&judged), "{found:?}");
}

#[test]
fn rankings_that_were_written_beside_a_submission_are_scored() {
    let folder = Folder::new();
    folder.copy("data/sample-ikat", "data");
    // All files of `passages/` are passages.
    folder.write("data/passages/part-1.jsonl", folder.read("data/passages.jsonl"));
    folder.remove("data/passages.jsonl");
    let work = Work::on(&folder, "data", SPLIT);
    work.run("ikat-bm25", "a.json").unwrap();
    let collection = TRACKS.open(&work.data).unwrap();
    let evaluation = collection.evaluation(collection.find_split(SPLIT).unwrap()).unwrap();
    let score = |file: &str| named(&cases(&*evaluation, &folder.path(file)).scores);
    let whole = score("a.json");
    for task in ["statements", "passages"] {
        let run = format!("a.{task}.run");
        let scores = score(&run);
        assert!(scores.iter().all(|(name, _)| name.starts_with(task)), "{scores:?}");
        if task == "passages" {
            let of_whole = whole.iter().find(|(name, _)| name.starts_with(task));
            assert_eq!(scores[0].1, of_whole.unwrap().1);
        }
    }
}

#[test]
fn a_turn_that_is_given_twice_counts_once() {
    let folder = Folder::new();
    let work = Work::on_ikat(&folder, SPLIT);
    work.run("ikat-bm25", "a.json").unwrap();
    let run = folder.json("a.json");
    let mut twice = run.clone();
    let mut again = run["turns"][0].clone();
    again["responses"][0]["text"] = "nothing of that".into();
    twice["turns"].as_array_mut().unwrap().push(again);
    // Without the rankings beside the submission.
    folder.write("once/a.json", run.to_string());
    folder.write("twice/a.json", twice.to_string());
    let ikat = Ikat::open(SAMPLE, None).unwrap();
    let collection: &dyn Collection = &ikat;
    let evaluation = collection.evaluation(collection.find_split(SPLIT).unwrap()).unwrap();
    let [once, twice] = ["once", "twice"].map(|name| {
        let file = folder.path(&format!("{name}/a.json"));
        cases(&*evaluation, &file)
    });
    assert_eq!(once.scores, twice.scores);
    let says = "1 turn is given again";
    assert!(twice.warnings.iter().any(|it| it.contains(says)), "{:?}", twice.warnings);
}

#[test]
fn a_submission_without_scores_is_warned_of() {
    let folder = Folder::new();
    let work = Work::on_ikat(&folder, SPLIT);
    work.run("ikat-bm25", "a.json").unwrap();
    let mut run = folder.json("a.json");
    for turn in run["turns"].as_array_mut().unwrap() {
        for passage in turn["responses"][0]["passage_provenance"].as_array_mut().unwrap() {
            passage.as_object_mut().unwrap().remove("score");
        }
    }
    folder.write("flat/a.json", run.to_string());
    let ikat = Ikat::open(SAMPLE, None).unwrap();
    let collection: &dyn Collection = &ikat;
    let evaluation = collection.evaluation(collection.find_split(SPLIT).unwrap()).unwrap();
    let warnings = |name: &str| cases(&*evaluation, &folder.path(name)).warnings;
    assert_eq!(warnings("flat/a.json"), [clariq_collections::evaluation::ONE_SCORE]);
    assert_eq!(warnings("a.json"), [""; 0]);
}
