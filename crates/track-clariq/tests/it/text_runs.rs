//! Multi-turn runs where runs of ids are wanted.

use clariq_collections::Collection;
use clariq_collections::evaluation::{Answers, ScoreOptions};
use clariq_eval::parse_measures;
use clariq_files::Source;
use clariq_track_clariq::{ClariQ, SAMPLE};
use std::fs;

#[test]
fn texts_are_refused_by_all_measures() {
    let clariq = ClariQ::open(SAMPLE).unwrap();
    let collection: &dyn Collection = &clariq;
    let evaluation = collection.evaluation(collection.find_split("dev").unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("multi.run");
    fs::write(&file, "968 0 \"a question of no bank\" 0 5 t\n").unwrap();
    for names in ["", "nDCG@10"] {
        let measures = parse_measures(names).unwrap();
        let by = ScoreOptions { measures: &measures, ..ScoreOptions::default() };
        let run = Source::new(&file);
        let refused = evaluation.cases(Answers::File(&run), &by).err().unwrap().to_string();
        assert!(refused.contains("found a multi-turn run, with texts"), "{refused}");
    }
}
