//! The measures on TREC iKAT's judgements of 2023 against `pytrec_eval`. Skipped, with a line that
//! says so, where the files are not there.

use clariq_core::{DocId, RequestId};
use clariq_eval::{
    Qrels, RankedRun, SetAverage, Unjudged, diagnose, evaluate, exact_mean, micro_average,
    parse_measures, set_values,
};
use clariq_files::{Judgement, Run, RunLine, Source, read_qrels, read_run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn ikat() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/ikat");
    if folder.join("qrels").is_dir() {
        return Some(folder);
    }
    println!("skipped: no {}", folder.display());
    None
}

fn judgements(folder: &Path, name: &str) -> Vec<Judgement> {
    read_qrels(&Source::new(folder.join("qrels").join(name))).unwrap()
}

/// The hash FNV-1a, so that these runs can be reproduced in any language.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A run with many ties: most judged documents, by grade and hash, and 20 others for each
/// topic; some topics are missing, and one is not judged.
fn tied_run(judgements: &[Judgement]) -> Run {
    let mut lines = Vec::new();
    let mut add = |topic: &str, document: &str, score: u64| {
        lines.push(RunLine {
            topic: topic.into(),
            document: document.into(),
            score: score as f64,
            line: 0,
        });
    };
    let mut topics: Vec<&str> = Vec::new();
    for judgement in
        judgements.iter().filter(|judgement| !hash(&judgement.topic).is_multiple_of(10))
    {
        let (topic, document) = (judgement.topic.as_str(), judgement.document.as_str());
        let hash = hash(&format!("{topic} {document}"));
        if !hash.is_multiple_of(4) {
            add(
                topic,
                document,
                (hash >> 8) % 50 + 10 * u64::from(judgement.relevance.unsigned_abs()),
            );
        }
        if topics.last() != Some(&topic) {
            topics.push(topic);
        }
    }
    topics.sort_unstable();
    topics.dedup();
    for topic in topics {
        for number in 0..20 {
            let document = format!("unjudged-{number}");
            add(topic, &document, (hash(&format!("{topic} {document}")) >> 8) % 50);
        }
    }
    add("none_1", "unjudged-0", 1);
    Run { lines, ..Run::default() }
}

/// `pytrec_eval` 0.5.11 over all 176 topics, those that the run leaves out as 0.
const MEANS: [(&str, f64); 18] = [
    ("nDCG", 0.603_710_891_845_751_6),
    ("nDCG@3", 0.689_752_384_351_331_3),
    ("nDCG@5", 0.662_705_362_918_095_8),
    ("nDCG@1000", 0.603_710_891_845_751_6),
    ("AP", 0.400_644_581_808_434_5),
    ("AP@10", 0.173_161_676_772_908_36),
    ("RR", 0.861_703_921_078_921_1),
    ("R@10", 0.177_589_217_177_622_16),
    ("R@100", 0.566_973_594_068_934_9),
    ("P@5", 0.755_681_818_181_818_2),
    ("Success@1", 0.857_954_545_454_545_4),
    ("AP(rel=2)", 0.354_187_088_862_467_14),
    ("AP(rel=2)@10", 0.216_090_856_098_603_26),
    ("RR(rel=2)", 0.690_458_589_065_082_3),
    ("R(rel=2)@10", 0.230_163_533_394_776_05),
    ("R(rel=2)@100", 0.554_600_680_373_686_2),
    ("P(rel=2)@5", 0.560_227_272_727_272_7),
    ("Success(rel=2)@1", 0.681_818_181_818_181_8),
];

#[test]
fn graded_measures_are_those_of_pytrec_eval() {
    let Some(folder) = ikat() else { return };
    let judgements = judgements(&folder, "2023-qrels.all-turns.txt.gz");
    let qrels = Qrels::from_judgements("qrels", &judgements).unwrap();
    let run = tied_run(&judgements);
    let names: Vec<&str> = MEANS.iter().map(|(name, _)| *name).collect();
    let measures = parse_measures(&names.join(" ")).unwrap();
    let scores = evaluate(&measures, &RankedRun::new(&run), &qrels).unwrap();
    for ((name, expected), score) in MEANS.iter().zip(&scores) {
        assert_eq!((&*score.measure, score.values.len()), (*name, 176));
        let mean = score.value();
        assert!((mean - expected).abs() < 1e-9, "{name}: {mean}, not {expected}");
    }
}

#[test]
fn the_sample_runs_hold_nothing_relevant() {
    let Some(folder) = ikat() else { return };
    let judgements = judgements(&folder, "2023-qrels.all-turns.txt.gz");
    let qrels = Qrels::from_judgements("qrels", &judgements).unwrap();
    let measures = parse_measures("nDCG R@100 RR AP(rel=2) P@5").unwrap();
    // Topics of the run that are not judged, and judged ones that it lacks, as `pytrec_eval`
    // counts.
    for (name, unknown, missing) in [
        ("full_run.json.run", 156, 0),
        ("sample_run.json.run", 2, 172),
        ("sample_run_no_ptkb.json.run", 5, 169),
    ] {
        let run = read_run(&Source::new(folder.join("sample_runs/2023").join(name))).unwrap();
        let scores = evaluate(&measures, &RankedRun::new(&run), &qrels).unwrap();
        let found = diagnose(&run, qrels.topics().map(|(topic, _)| topic), None);
        assert_eq!((found.unknown_topics, found.missing_topics), (unknown, missing), "{name}");
        assert!(scores.iter().all(|score| score.value() == 0.0), "{name}");
    }
}

/// About a fifth of the judged statements of each turn, by hash.
fn chosen(judgements: &[Judgement]) -> Vec<(RequestId, Vec<DocId>)> {
    let mut topics: BTreeMap<&str, Vec<DocId>> = BTreeMap::new();
    for judgement in judgements {
        let (topic, document) = (judgement.topic.as_str(), judgement.document.as_str());
        let documents = topics.entry(topic).or_default();
        if hash(&format!("{topic} {document}")).is_multiple_of(5) {
            documents.push(document.into());
        }
    }
    topics.into_iter().map(|(topic, documents)| (topic.into(), documents)).collect()
}

/// Precision, recall and F1, first micro and then macro.
fn figures(chosen: &[(RequestId, Vec<DocId>)], qrels: &Qrels) -> [f64; 6] {
    let micro = micro_average(chosen, qrels, Unjudged::LeftOut, |_| true);
    let turns = set_values(chosen, qrels);
    let mean = |figure: fn(&SetAverage) -> f64| exact_mean(turns.iter().map(|(_, it)| figure(it)));
    let [precision, recall, f1] = [mean(|it| it.precision), mean(|it| it.recall), mean(|it| it.f1)];
    [micro.precision, micro.recall, micro.f1, precision, recall, f1]
}

#[test]
fn sets_of_statements_have_micro_and_macro_figures() {
    let Some(folder) = ikat() else { return };
    for (name, expected) in SETS {
        let judgements = judgements(&folder, name);
        let qrels = Qrels::from_judgements(name, &judgements).unwrap();
        for (found, expected) in figures(&chosen(&judgements), &qrels).into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{name}: {found}, not {expected}");
        }
    }
}

/// The judgements, and precision, recall and F1, first micro and then macro; computed
/// with exact fractions in Python.
const SETS: [(&str, [f64; 6]); 2] = [
    (
        "ptkb_rel_org",
        [
            0.211_155_378_486_055_78,
            0.291_208_791_208_791_23,
            0.244_803_695_150_115_46,
            0.192_708_333_333_333_34,
            0.286_607_142_857_142_84,
            0.209_162_414_965_986_4,
        ],
    ),
    (
        "ptkb_rel_nist",
        [
            0.204_545_454_545_454_56,
            0.200_892_857_142_857_15,
            0.202_702_702_702_702_71,
            0.205_782_312_925_170_07,
            0.200_988_014_253_320_39,
            0.174_168_065_494_596_1,
        ],
    ),
];
