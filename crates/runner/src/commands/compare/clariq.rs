//! Runs of `ClariQ`, scored as its official scorer does.

use super::{CompareArgs, Scorer};
use crate::failure::Failure;
use crate::runs::Topics;
use crate::settings::Settings;
use clariq_collections::Collection;
use clariq_collections::clariq::evaluation::{CUTOFFS, question_relevance};
use clariq_collections::clariq::{ClariQ, Labelled, Split};
use clariq_eval::{Column, Ties};
use clariq_files::{Source, read_run};
use std::path::Path;

struct Official {
    labels: Labelled,
    topics: Topics,
    ties: Ties,
}

/// The challenge's recall, where no measure is named; `None` for other collections.
pub(super) fn scorer(
    collection: &dyn Collection,
    split: &str,
    arguments: &CompareArgs,
) -> Result<Option<Box<dyn Scorer>>, Failure> {
    let (Some(clariq), Some(split)) = (collection.downcast::<ClariQ>(), Split::named(split)) else {
        return Ok(None);
    };
    if !arguments.measures.is_empty() {
        return Ok(None);
    }
    let labels = clariq.labelled(split)?;
    let topics = Topics::new(&labels.name, labels.topics.iter().map(|topic| &topic.id));
    let ties = if arguments.ties.as_deref() == Some("id") { Ties::Id } else { Ties::Official };
    Ok(Some(Box::new(Official { labels, topics, ties })))
}

impl Scorer for Official {
    fn score(&self, settings: &Settings, path: &Path) -> Result<Vec<Column>, Failure> {
        let source = Source::new(path);
        let run = read_run(&source)?;
        self.topics.check_answered(&source, run.lines.iter().map(|line| &line.topic))?;
        self.topics.warn(settings, &source, &run, self.ties);
        Ok(question_relevance(&run, &self.labels, self.ties).columns())
    }

    /// The challenge ranked by recall at 30.
    fn focus(&self) -> usize {
        CUTOFFS.len() - 1
    }
}
