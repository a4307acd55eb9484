//! What is written is what is read.

use super::{expected, figures_of_lines, gzip, read_bytes};
use crate::fuzz_corpora::checks::{Figures, figures, pickled};
use clariq_collections::clariq::eval_table::ContextId;
use proptest::prelude::*;
use std::fs;
use std::process::Command;

fn round_trips(table: &Figures) {
    let pickle = pickled(table).unwrap();
    assert!(figures(&read_bytes(&pickle).unwrap()) == *table, "{table:?}");
    assert!(figures(&read_bytes(&gzip(&pickle)).unwrap()) == *table, "{table:?}");
}

#[test]
fn a_large_context_and_many_contexts_round_trip() {
    let question = |number| (format!("Q{number:05}"), Some(0.5_f64.to_bits()));
    let worst = |context: i64| vec![("MIN".to_owned(), Some((context as f64).to_bits()))];
    let large = [("F1".into(), (0..2_500).map(question).collect())];
    let contexts: Vec<_> =
        large.into_iter().chain((0..2_500).map(|id| (id.into(), worst(id)))).collect();
    round_trips(&["P1", "P3"].map(|metric| (metric.to_owned(), contexts.clone())).to_vec());
}

/// Python's own reading of the pickles that are written here.
#[test]
fn python_reads_what_is_written() {
    const READ: &str = "
import json, pickle, sys
table = pickle.load(open(sys.argv[1], 'rb'))
for metric, contexts in table.items():
    for context, values in contexts.items() or [(None, {})]:
        print(json.dumps({'metric': metric, 'context': context, 'values': values}))
";
    let folder = tempfile::tempdir().unwrap();
    for name in ["single", "multi"] {
        let pickle = folder.path().join("table.pkl");
        fs::write(&pickle, pickled(&expected(name)).unwrap()).unwrap();
        let Ok(output) = Command::new("python3").arg("-c").arg(READ).arg(&pickle).output() else {
            eprintln!("skipped: no python3");
            return;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(figures_of_lines(&String::from_utf8(output.stdout).unwrap()) == expected(name));
    }
}

fn bits() -> impl Strategy<Value = Option<u64>> {
    let odd = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.0 / 3.0];
    let numbers = prop_oneof![any::<f64>(), prop::sample::select(odd.to_vec())];
    prop::option::of(numbers.prop_filter("a number", |number| !number.is_nan()))
        .prop_map(|number| number.map(f64::to_bits))
}

fn contexts() -> impl Strategy<Value = ContextId> {
    prop_oneof![
        any::<i64>().prop_map(ContextId::from),
        "\\PC{0,6}".prop_map(|facet| ContextId::from(facet.as_str()))
    ]
}

fn tables() -> impl Strategy<Value = Figures> {
    let questions = prop::collection::btree_map("[A-Z]{0,2}[0-9]{0,2}|MIN|MAX", bits(), 0..5);
    let questions = questions.prop_map(|questions| questions.into_iter().collect());
    let metric = prop::collection::btree_map(contexts(), questions, 0..6);
    let metric = metric.prop_map(|contexts| contexts.into_iter().collect());
    prop::collection::btree_map("\\PC{0,8}", metric, 0..4)
        .prop_map(|metrics| metrics.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_table_round_trips(table in tables()) {
        round_trips(&table);
    }
}
