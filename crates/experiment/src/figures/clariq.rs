//! `ClariQ`'s figures, as its official scorer computes them.

use super::{Opened, Own, Written};
use crate::measures::{DOCUMENT_MEASURES, NEED_F1, measures};
use crate::record;
use crate::session::Session;
use clariq_collections::Collection;
use clariq_collections::clariq::evaluation::{
    CUTOFFS, clarification_need, document_relevance, question_relevance, table_stem,
};
use clariq_collections::clariq::{ClariQ, EvalTable, Labelled, Split, read_need_file};
use clariq_core::Error;
use clariq_core::{ProblemKind, TopicId};
use clariq_eval::Ties;
use clariq_files::{Run, Source};
use clariq_rank::Expected;

/// What the official scorer needs of a split.
struct Official<'a> {
    clariq: &'a ClariQ,
    split: Split,
    labels: Labelled,
}

pub(super) fn open<'c>(collection: &'c dyn Collection, split: &'static str) -> Opened<'c> {
    let Some((clariq, split)) = collection.downcast::<ClariQ>().zip(Split::named(split)) else {
        return Ok(None);
    };
    Ok(Some(Box::new(Official { clariq, split, labels: clariq.labelled(split)? })))
}

impl Own for Official<'_> {
    /// Scores the run, and the need file beside it.
    fn score(&self, written: &Written) -> Result<Vec<(String, f64)>, Error> {
        let Some(run) = written.run else { return Ok(Vec::new()) };
        let recalls = question_relevance(run, &self.labels, Ties::Official).means();
        let mut figures: Vec<(String, f64)> = measures().zip(recalls).collect();
        if written.loaded.need.is_some() {
            let needs = read_need_file(&Source::new(record::need_path(written.path)))?;
            figures.push((NEED_F1.to_owned(), clarification_need(&needs, &self.labels).f1));
        }
        if let Some(expected) = written.expected.filter(|expected| expects_documents(expected)) {
            figures.extend(self.score_documents(written.session, run, expected)?);
        }
        Ok(figures)
    }

    /// The official recalls, which differ from others where a run has a question twice.
    fn values(&self, run: &Run, measure: &str) -> Option<Vec<(TopicId, f64)>> {
        let cutoff = CUTOFFS.iter().position(|cutoff| format!("R@{cutoff}") == measure)?;
        let topics = question_relevance(run, &self.labels, Ties::Official).topics;
        Some(topics.into_iter().map(|(topic, recalls)| (topic, recalls[cutoff])).collect())
    }
}

impl Official<'_> {
    /// Document relevance by the expected measures, where the data folder has the table.
    fn score_documents(
        &self,
        session: &Session,
        run: &Run,
        expected: &Expected,
    ) -> Result<Vec<(String, f64)>, Error> {
        let (data, split) = (&self.clariq.data, self.split);
        let stem = table_stem(split, false);
        let table = match EvalTable::open(data, &stem) {
            Err(Error::Problem(problem)) if problem.kind == ProblemKind::MissingFile => {
                session.observer.note(&format!(
                    "note: {data} has no table `{stem}`: document relevance on {split} is not checked"
                ));
                return Ok(Vec::new());
            }
            table => table?,
        };
        let scores = document_relevance(run, &table, &self.labels);
        let metrics = scores.metrics.into_iter().filter_map(|metric| {
            let mean = metric.mean()?;
            expected.measures.contains_key(&metric.name).then_some((metric.name, mean))
        });
        Ok(metrics.collect())
    }
}

fn expects_documents(expected: &Expected) -> bool {
    DOCUMENT_MEASURES.iter().any(|name| expected.measures.contains_key(*name))
}
