//! Runs over the whole passages of a domain with published figures (pashaAbri/mt-rag-benchmark at 8bb71277).

use crate::common::{open, released, rows};
use clariq_collections::evaluation::ScoreCell;
use std::fs;

/// nDCG and then recall at 1, 3, 5 and 10, over 208 requests of `clapnq`.
const PUBLISHED: [(&str, [f64; 8]); 9] = [
    ("bge_lastturn", [0.39423, 0.34109, 0.36746, 0.42429, 0.15525, 0.3041, 0.38791, 0.52245]),
    ("bge_questions", [0.20673, 0.19365, 0.23703, 0.28156, 0.07473, 0.17693, 0.27758, 0.38364]),
    ("bge_rewrite", [0.47115, 0.41245, 0.4376, 0.4982, 0.17424, 0.37533, 0.46187, 0.60626]),
    ("bm25_lastturn", [0.20673, 0.19031, 0.20779, 0.25522, 0.0774, 0.16844, 0.22305, 0.33665]),
    ("bm25_questions", [0.19712, 0.17082, 0.19331, 0.22831, 0.06795, 0.14868, 0.20915, 0.29097]),
    ("bm25_rewrite", [0.24519, 0.21822, 0.24533, 0.29366, 0.08934, 0.1936, 0.27025, 0.389]),
    ("elser_lastturn", [0.47596, 0.43663, 0.47493, 0.52701, 0.19812, 0.39729, 0.51128, 0.63028]),
    ("elser_questions", [0.24519, 0.23623, 0.26918, 0.31531, 0.10048, 0.21899, 0.30158, 0.40868]),
    ("elser_rewrite", [0.52404, 0.46998, 0.51349, 0.57804, 0.2087, 0.42437, 0.55161, 0.70055]),
];

#[test]
fn published_runs_have_their_published_figures() {
    let Some(folder) = released() else { return };
    if !folder.join("published").is_dir() {
        return println!("skipped: no published runs in {}", folder.display());
    }
    let mtrag = open(&folder);
    for (name, published) in PUBLISHED {
        let file = folder.join(format!("published/{name}.jsonl.gz"));
        assert!(fs::exists(&file).unwrap(), "{}", file.display());
        let clapnq = rows(&mtrag, "mtrag", &file).swap_remove(0);
        assert_eq!(
            clapnq[..4],
            [
                ScoreCell::Text("clapnq".to_owned()),
                ScoreCell::Text("others".to_owned()),
                ScoreCell::Count(208),
                ScoreCell::Count(208),
            ]
        );
        let figure = |cell: &ScoreCell| match cell {
            ScoreCell::Score(value, 5) => *value,
            other => panic!("{other:?}"),
        };
        let found: Vec<f64> = clapnq[4..].iter().map(figure).collect();
        assert_eq!(found, published, "{name}");
    }
}
