//! Evaluation tables: a pickle holds the whole table.

use super::{NAME, read_back};
use clariq_collections::clariq::{Context, ContextId, EvalTable, MetricTable};
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

/// The figures of a table, with the bits of each: metrics, contexts and questions in file order.
pub type Figures = Vec<(String, Vec<(ContextId, Vec<(String, Option<u64>)>)>)>;

/// All figures of a table.
pub fn figures(table: &EvalTable) -> Figures {
    let question = |(id, figure): (&str, Option<f64>)| (id.to_owned(), figure.map(f64::to_bits));
    let context =
        |(id, context): (ContextId, Context)| (id, context.questions().map(question).collect());
    let metric =
        |metric: MetricTable| (metric.name.to_owned(), metric.contexts().map(context).collect());
    table.metrics().map(metric).collect()
}

fn comes_back(table: &EvalTable) {
    let mut rows = 0;
    for metric in table.metrics() {
        for (id, context) in metric.contexts() {
            for (question, figure) in context.questions() {
                rows += 1;
                if rows > ROWS {
                    return;
                }
                let found = metric.context(&id).and_then(|context| context.figure(question));
                assert_eq!(found.map(f64::to_bits), figure.map(f64::to_bits));
            }
        }
    }
    let read = |source: &Source| EvalTable::read(std::slice::from_ref(source));
    let all = figures(table);
    assert!(figures(&read_back(pickled(&all).unwrap(), read)) == all);
}

/// The figures as a pickle of plain floats, protocol 4.
pub fn pickled(table: &Figures) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = PickleWriter::new(&mut bytes)?;
    writer.dict(table, |writer, (metric, contexts)| {
        writer.text(metric)?;
        writer.dict(contexts, |writer, (id, questions)| {
            match id {
                ContextId::Number(number) => writer.int(*number)?,
                ContextId::Facet(facet) => writer.text(facet.as_str())?,
            }
            writer.dict(questions, |writer, (question, figure)| {
                writer.text(question)?;
                writer.dict(figure, |writer, bits| {
                    writer.text("with_answer")?;
                    writer.float(f64::from_bits(*bits))
                })
            })
        })
    })?;
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
