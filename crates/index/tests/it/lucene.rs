//! With Lucene's tokens and lengths, BM25 reproduces the organisers' run of the mixed-initiative
//! task of TREC `CAsT` 2022.

use clariq_files::Source;
use clariq_index::{Analyzer, Bm25, byte_length};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// The folder of the released files, or `None` with a line that says so.
fn released() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cast");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: the released files are not in {}", folder.display());
    None
}

fn read(folder: &Path, name: &str) -> Value {
    let input = Source::new(folder.join(name)).read().expect("a file");
    serde_json::from_slice(&input.bytes).expect("JSON")
}

/// The texts with a token; Lucene counts no others.
struct Pool {
    postings: HashMap<String, BTreeMap<String, f64>>,
    lengths: BTreeMap<String, u32>,
}

impl Pool {
    fn new(questions: &Value) -> Self {
        let mut pool = Self { postings: HashMap::new(), lengths: BTreeMap::new() };
        for question in questions.as_array().unwrap() {
            let id = question["question_id"].as_str().unwrap();
            let tokens = Analyzer::Lucene.tokens(question["question"].as_str().unwrap());
            if !tokens.is_empty() {
                pool.lengths.insert(id.to_owned(), tokens.len() as u32);
            }
            for token in tokens {
                *pool.postings.entry(token).or_default().entry(id.to_owned()).or_default() += 1.0;
            }
        }
        pool
    }

    /// The questions of a query, best first. Scores that are equal in four digits are in the order
    /// of ids, as Anserini orders them.
    fn rank(&self, model: Bm25, query: &str) -> Vec<(String, f64)> {
        let n = self.lengths.len() as f64;
        let mean = f64::from(self.lengths.values().sum::<u32>()) / n;
        let mut scores: BTreeMap<&String, f64> = BTreeMap::new();
        for token in Analyzer::Lucene.tokens(query) {
            let Some(postings) = self.postings.get(&token) else { continue };
            let idf = model.idf(n, postings.len() as f64);
            for (id, tf) in postings {
                let norm = model.norm(f64::from(byte_length(self.lengths[id])), mean);
                *scores.entry(id).or_default() += idf * model.saturation(*tf, norm);
            }
        }
        let mut ranked: Vec<_> =
            scores.into_iter().map(|(id, score)| (id.clone(), score)).collect();
        let rounded = |score: f64| (score * 1e4).round();
        ranked.sort_by(|a, b| rounded(b.1).total_cmp(&rounded(a.1)).then(a.0.cmp(&b.0)));
        ranked
    }
}

#[test]
fn the_organisers_run_is_reproduced() {
    let Some(folder) = released() else { return };
    let pool = Pool::new(&read(&folder, "2022_mixed_initiative_question_pool.json"));
    let topics = read(&folder, "2022_automatic_evaluation_topics_tree_v1.0.json");
    let mut queries = HashMap::new();
    for topic in topics.as_array().unwrap() {
        for turn in topic["turn"].as_array().unwrap() {
            if let Some(query) = turn["automatic_rewritten_utterance"].as_str() {
                let id = format!("{}_{}", topic["number"], turn["number"].as_str().unwrap());
                queries.insert(id, query.to_owned());
            }
        }
    }
    let model = Bm25 { k1: 0.9, b: 0.4, ..Bm25::lucene() };
    let run = read(&folder, "2022_mi_ranking_bm25_baseline_mi_run.json.gz");
    let mut first = 0;
    let mut shared = 0;
    let mut all = 0;
    let mut difference = 0.0;
    for turn in run["turns"].as_array().unwrap() {
        let ranked = pool.rank(model, &queries[turn["turn_id"].as_str().unwrap()]);
        let given = turn["questions"].as_array().unwrap();
        let id = |question: &Value| question["question"].as_str().unwrap().to_owned();
        first += usize::from(id(&given[0]) == ranked[0].0);
        difference += (given[0]["score"].as_f64().unwrap() - ranked[0].1).abs();
        let top: BTreeSet<String> = given.iter().take(10).map(id).collect();
        shared += ranked.iter().take(10).filter(|(id, _)| top.contains(id)).count();
        all += top.len();
    }
    println!(
        "first {first}, {shared} of {all} of the first ten, mean difference {}",
        difference / 205.0
    );
    assert_eq!((run["turns"].as_array().unwrap().len(), first), (205, 205));
    assert_eq!(shared, all, "the first ten");
    assert!(difference / 205.0 < 1e-4, "scores are printed with four digits");
}
