//! The turns of a split of iKAT with their labels, and the runs that answer them.

use super::{Topics, warn};
use crate::failure::Failure;
use crate::settings::Settings;
use clariq_collections::Collection;
use clariq_collections::ikat::evaluation::{Evaluated, Labels};
use clariq_collections::ikat::run::Submission;
use clariq_collections::ikat::{Ikat, Split};
use clariq_core::{Location, Problem, ProblemKind, TopicId};
use clariq_files::Source;
use std::collections::HashSet;
use std::path::Path;

/// What runs over a split are scored against.
pub(crate) struct IkatTurns<'a> {
    ikat: &'a Ikat,
    split: Split,
    pub(crate) labels: Labels,
    turns: Topics,
}

impl<'a> IkatTurns<'a> {
    /// Reads the labels of a split, or the problem that there are none.
    pub(crate) fn read(ikat: &'a Ikat, split: Split) -> Result<Self, Failure> {
        let labels = Labels::read(ikat, split)?;
        if labels.are_absent() {
            let at = Location::file(ikat.location());
            let expected = format!("labels of {split}");
            let found = "topics without labels";
            let problem = Problem::new(at, ProblemKind::MissingFile, expected, found);
            return Err(problem
                .hint("the labels of this year are not released: use 2023-test")
                .into());
        }
        let topics = ikat.topics(split)?;
        let turns = Topics::new(&topics.name, topics.turns().map(|(_, turn)| &turn.id));
        Ok(Self { ikat, split, labels, turns })
    }

    /// Reads a run and what is scored of it. Turns that it does not answer are mentioned.
    pub(crate) fn evaluate(
        &self,
        settings: &Settings,
        path: &Path,
    ) -> Result<(Submission, Evaluated), Failure> {
        let source = Source::new(path);
        let submission = Submission::read(&source, self.split.year())?;
        let turns = submission.turns.iter();
        let answered: HashSet<TopicId> = turns.map(|turn| turn.id.as_str().into()).collect();
        self.turns.check_answered(&source, answered.iter())?;
        let missing = self.turns.ids.difference(&answered).count();
        warn(settings, &source, &[(missing, "turns are not answered and count 0")]);
        let evaluated = Evaluated::of_submission(self.ikat, self.split, &submission);
        Ok((submission, evaluated))
    }
}
