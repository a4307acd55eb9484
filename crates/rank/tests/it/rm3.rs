//! The stage `rm3` expands queries as Anserini does, whose terms, weights and rankings
//! `scripts/make-golden rm3` writes.

use crate::common::index_below;
use clariq_core::{Doc, Documents, Hit, Request};
use clariq_rank::{Batch, Context, SystemFile};
use clariq_track_clariq::ClariQ;
use clariq_track_ikat::{Ikat, PASSAGES};
use tempfile::TempDir;

const GOLDEN: &str = include_str!("../data/rm3.tsv");

/// `name=number`, separated by blanks.
fn pairs(cell: &str) -> Vec<(String, f64)> {
    let pair = |pair: &str| {
        let (name, number) = pair.rsplit_once('=')?;
        Some((name.to_owned(), number.parse().ok()?))
    };
    cell.split_whitespace().map(|text| pair(text).unwrap()).collect()
}

fn assert_near(found: &[(String, f64)], expected: &[(String, f64)], tolerance: f64, what: &str) {
    let names = |pairs: &[(String, f64)]| -> Vec<String> {
        pairs.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(found), names(expected), "{what}");
    for ((name, found), (_, expected)) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{what}, {name}: {found}, not {expected}");
    }
}

fn compare(collection: &str, documents: &dyn Documents) -> usize {
    let keys =
        "analyzer = \"lucene\"\nvariant = \"lucene-default\"\nk1 = 0.9\nb = 0.4\ndepth = 1000";
    let text = format!(
        "name = \"rm3\"\n[[stages]]\nstage = \"bm25\"\n{keys}\n\
         [[stages]]\nstage = \"rm3\"\n{keys}\nties = \"anserini\""
    );
    let pipeline = SystemFile::parse("rm3.toml", &text, &[]).unwrap().pipeline;
    let folder = TempDir::new().unwrap();
    let context = Context::new(documents, index_below(folder.path()));
    let golden: Vec<Vec<&str>> = GOLDEN
        .lines()
        .map(|line| line.split('\t').collect())
        .filter(|cells: &Vec<&str>| cells[0] == collection)
        .collect();
    for cells in &golden {
        let requests = [Request::new(cells[1], cells[2])];
        let batch = Batch::new(&context, &requests);
        let ranking = pipeline.run(&batch, batch.unranked()).unwrap().remove(0);
        let hit = |hit: &Hit| (documents.id(hit.doc).to_string(), hit.score);
        let found: Vec<(String, f64)> = ranking.iter().take(5).map(hit).collect();
        let what = format!("{} {:?}", cells[1], cells[2]);
        assert_near(&found, &pairs(cells[4]), 1.5e-4, &what);
        // One request shares no word with any document.
        let best = ranking.first().copied().unwrap_or(Hit { doc: Doc(0), score: 0.0 });
        let traces = pipeline.explain(&batch, best.doc, &Vec::new()).unwrap();
        let explained = traces[1].explanation.as_ref().unwrap();
        assert!((explained.value - best.score).abs() < 1e-4, "{what}");
        let term = |what: &str| {
            let (weight, term) = what.split_once(" × ").unwrap();
            (term.trim_matches('`').to_owned(), weight.parse().unwrap())
        };
        let terms: Vec<(String, f64)> =
            explained.parts.iter().map(|part| term(&part.what)).collect();
        assert_near(&terms, &pairs(cells[3]), 1e-6, &what);
    }
    golden.len()
}

#[test]
fn terms_weights_and_rankings_are_those_of_anserini() {
    let clariq = ClariQ::open(clariq_track_clariq::SAMPLE).unwrap();
    assert_eq!(compare("clariq", &clariq.bank), 59);
    let ikat = Ikat::open(clariq_track_ikat::SAMPLE, None).unwrap();
    assert_eq!(compare("ikat", ikat.ranked_in(PASSAGES)), 46);
}

#[test]
fn a_weight_is_a_share_of_the_query() {
    for (keys, says) in [("weight = 1.5", "a weight from 0 to 1"), ("terms = 0", "at least 1")] {
        let stage = "stage = \"rm3\"\nanalyzer = \"lucene\"\ndepth = 9";
        let text = format!("name = \"rm3\"\n[[stages]]\n{stage}\n{keys}");
        let error = SystemFile::parse("rm3.toml", &text, &[]).err().unwrap().to_string();
        assert!(error.contains("rm3.toml:6") && error.contains(says), "{error}");
    }
}
