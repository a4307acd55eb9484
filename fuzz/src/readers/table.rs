//! Evaluation tables: a pickle holds the whole table.

use super::{NAME, read_back};
use clariq_collections::clariq::{ContextId, EvalTable, MetricTable, Scores};
use clariq_core::Error;
use clariq_files::Source;
use clariq_pickle::{PickleWriter, Plan, Sink, Value, fold};
use std::io;

/// Tables that a few bytes unfold to a million rows are read, but not written again.
const ROWS: usize = 10_000;

/// A pickle that is a table comes back from a pickle; any other is refused, or is plain data.
pub fn pickle(bytes: &[u8]) {
    plain_data(bytes);
    match EvalTable::read(&[Source::memory(NAME, bytes)]) {
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
    let read = |source: &Source| EvalTable::read(std::slice::from_ref(source));
    assert!(read_back(pickled(table).unwrap(), read) == *table);
}

/// The table as a pickle of plain floats, protocol 4.
pub fn pickled(table: &EvalTable) -> io::Result<Vec<u8>> {
    type Writer<'w> = PickleWriter<&'w mut Vec<u8>>;
    let question = |writer: &mut Writer, (id, scores): (&str, Scores)| {
        writer.text(id)?;
        let named = [("no_answer", scores.no_answer), ("with_answer", scores.with_answer)];
        let present = named.into_iter().filter_map(|(name, score)| Some((name, score?)));
        writer.dict(present, |writer, (name, score)| {
            writer.text(name)?;
            writer.float(score)
        })
    };
    let metric = |writer: &mut Writer, metric: MetricTable| {
        writer.text(metric.name())?;
        writer.dict(metric.contexts(), |writer, context| {
            match &context {
                ContextId::Number(number) => writer.int(*number)?,
                ContextId::Facet(facet) => writer.text(facet.as_str())?,
            }
            writer.dict(metric.questions(&context).expect("a context of the table"), question)
        })
    };
    let mut bytes = Vec::new();
    let mut writer = PickleWriter::new(&mut bytes)?;
    writer.dict(table.metrics().filter_map(|name| table.metric(name)), metric)?;
    writer.finish()?;
    Ok(bytes)
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
