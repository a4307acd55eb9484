//! iKAT's figures: rankings and sets of statements, passages, and responses.

use super::{Opened, Own, Written};
use crate::run::ranking_path;
use clariq_collections::Collection;
use clariq_collections::ikat::evaluation::{Evaluated, Labels, figures};
use clariq_collections::ikat::run::Submission;
use clariq_collections::ikat::{Ikat, PASSAGES, STATEMENTS, Split};
use clariq_core::Error;
use clariq_files::{Source, read_run};

/// The labels of a split.
struct Track<'a> {
    ikat: &'a Ikat,
    split: Split,
    labels: Labels,
}

pub(super) fn open<'c>(collection: &'c dyn Collection, split: &'static str) -> Opened<'c> {
    let Some((ikat, split)) = collection.downcast::<Ikat>().zip(Split::parse(split)) else {
        return Ok(None);
    };
    Ok(Some(Box::new(Track { ikat, split, labels: Labels::read(ikat, split)? })))
}

impl Own for Track<'_> {
    fn score(&self, written: &Written) -> Result<Vec<(String, f64)>, Error> {
        if written.run.is_some() {
            return Ok(Vec::new());
        }
        let ranking = |task| read_run(&Source::new(ranking_path(written.path, task)));
        let submission = Submission::read(&Source::new(written.path), self.split.year())?;
        let evaluated = Evaluated::of_submission(self.ikat, self.split, &submission);
        let evaluated = evaluated.with_rankings(ranking(STATEMENTS)?, ranking(PASSAGES)?);
        figures(&evaluated, &self.labels)
    }
}
