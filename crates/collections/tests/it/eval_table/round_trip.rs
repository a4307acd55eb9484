//! What is written is what is read.

use super::{expected, gzip, read_bytes, table_of_lines};
use crate::fuzz_corpora::checks::pickled;
use clariq_collections::clariq::eval_table::{Builder, ContextId, EvalTable, Scores};
use proptest::prelude::*;
use std::fs;
use std::process::Command;

fn round_trips(table: &EvalTable) {
    let pickle = pickled(table).unwrap();
    assert!(read_bytes(&pickle).unwrap() == *table, "{table:?}");
    assert!(read_bytes(&gzip(&pickle)).unwrap() == *table, "{table:?}");
}

#[test]
fn a_large_context_and_many_contexts_round_trip() {
    let mut builder = Builder::default();
    let names: Vec<String> = (0..2_500).map(|question| format!("Q{question:05}")).collect();
    let scores = |value| Scores { no_answer: None, with_answer: Some(value) };
    for metric in ["P1", "P3"] {
        builder
            .add(metric, &"F1".into(), names.iter().map(|name| (name.as_str(), scores(0.5))))
            .unwrap();
        for context in 0..2_500_i64 {
            builder.add(metric, &context.into(), [("MIN", scores(context as f64))]).unwrap();
        }
    }
    round_trips(&builder.finish().unwrap());
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
        assert!(table_of_lines(&String::from_utf8(output.stdout).unwrap()) == expected(name));
    }
}

fn figures() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        Just(None),
        any::<f64>().prop_map(Some),
        any::<u64>().prop_map(|bits| Some(f64::from_bits(bits))),
        prop::sample::select(vec![
            0.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1.0 / 3.0
        ])
        .prop_map(Some),
        // The pattern that stands for an absent figure.
        Just(Some(f64::from_bits(0x7ff8_0000_0000_ab5e))),
    ]
}

fn contexts() -> impl Strategy<Value = ContextId> {
    prop_oneof![
        any::<i64>().prop_map(ContextId::from),
        "\\PC{0,6}".prop_map(|facet| ContextId::from(facet.as_str()))
    ]
}

fn tables() -> impl Strategy<Value = EvalTable> {
    let scores = (figures(), figures())
        .prop_map(|(no_answer, with_answer)| Scores { no_answer, with_answer });
    let questions = prop::collection::btree_map("[A-Z]{0,2}[0-9]{0,2}|MIN|MAX", scores, 0..5);
    let metric = prop::collection::btree_map(contexts(), questions, 0..6);
    prop::collection::btree_map("\\PC{0,8}", metric, 0..4).prop_map(|metrics| {
        let mut builder = Builder::default();
        for (metric, contexts) in &metrics {
            builder.add_metric(metric);
            for (context, questions) in contexts {
                builder
                    .add(
                        metric,
                        context,
                        questions.iter().map(|(id, scores)| (id.as_str(), *scores)),
                    )
                    .unwrap();
            }
        }
        builder.finish().unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_table_round_trips(table in tables()) {
        round_trips(&table);
    }
}
