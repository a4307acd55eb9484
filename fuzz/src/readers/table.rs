//! Evaluation tables, as pickles and as lines: either form holds the whole table.

use super::{NAME, read_back};
use clariq_collections::clariq::EvalTable;
use clariq_core::Error;
use clariq_files::Source;
use clariq_pickle::{Plan, Sink, Value, fold};

/// Tables that a few bytes unfold to a million rows are read, but not written again.
const ROWS: usize = 10_000;

/// A pickle that is a table comes back from a pickle and from lines; any other is refused, or is plain data.
pub fn pickle(bytes: &[u8]) {
    plain_data(bytes);
    match EvalTable::read(&[Source::memory(NAME, bytes)]) {
        Ok(table) => comes_back(&table),
        Err(error) => is_helpful(&error),
    }
}

/// Lines that are a table come back from a pickle and from lines.
pub fn jsonl(bytes: &[u8]) {
    let source = Source::memory(NAME, bytes);
    match EvalTable::read_jsonl(&source) {
        Ok(table) => comes_back(&table),
        Err(error) => is_helpful(&error),
    }
}

fn comes_back(table: &EvalTable) {
    let mut rows = 0;
    for metric in table.metrics().filter_map(|name| table.metric(name)) {
        for context in metric.contexts() {
            for (question, scores) in
                metric.questions(&context).expect("a context that was just listed")
            {
                rows += 1;
                if rows > ROWS {
                    return;
                }
                let found = table.value(metric.name(), &context, question);
                assert_eq!(found.map(f64::to_bits), scores.with_answer.map(f64::to_bits));
            }
        }
    }
    let (mut pickle, mut lines) = (Vec::new(), Vec::new());
    table.put_pickle(&mut pickle).unwrap();
    table.put_jsonl(&mut lines).unwrap();
    assert!(read_back(pickle, |source| EvalTable::read(std::slice::from_ref(source))) == *table);
    assert!(read_back(lines, EvalTable::read_jsonl) == *table);
}

fn is_helpful(error: &Error) {
    let report = error.to_problem();
    assert!(report.title().starts_with(NAME) && !report.hint.is_empty(), "{report:?}");
}

/// Runs a pickle of anything and keeps all of it.
fn plain_data(bytes: &[u8]) {
    let Ok(plan) = Plan::scan(bytes) else { return };
    assert!(plan.kept() <= bytes.len());
    if let Ok(value) = fold(bytes, &plan, &mut Everything) {
        assert!(!value.kind().is_empty());
    }
}

struct Everything;

#[derive(Default)]
struct Items(Vec<Value<Items>>);

impl Sink for Everything {
    type Dict = Items;

    fn insert(
        &mut self,
        dict: &mut Items,
        key: &Value<Items>,
        value: Value<Items>,
    ) -> Result<(), String> {
        dict.0.extend([key.clone(), value]);
        Ok(())
    }
}
