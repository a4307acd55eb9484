//! What a check of a run found: the official program's verdict, and what that program lets through.

use crate::{DataDir, clariq};
use clariq_core::{Error, Findings, TopicId, bail};
use clariq_files::Source;
use std::path::Path;

/// What a check of a run may use beside the files of the collection.
pub struct ValidationOptions<'a> {
    /// The file of all passage ids, where passages are looked up.
    pub passage_ids: Option<&'a Path>,
    /// Counts the tokens of a response, as the guidelines of iKAT count them.
    pub tokens: &'a dyn Fn(&str) -> usize,
    /// The number of warnings that the validators of iKAT 2023 and 2024 let pass.
    pub max_warnings: usize,
}

/// What the official program says of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It refuses the run.
    Error,
    /// An iKAT run of 2023 or 2024 has no turn: the validator says so and reports success without a
    /// look at anything else.
    NothingToValidate,
    /// It accepts the run with so many warnings.
    Accepted {
        /// The number of warnings.
        warnings: usize,
    },
}

/// What was found in a run.
#[derive(Debug, Clone)]
pub struct Validation {
    /// What the official program says.
    pub verdict: Verdict,
    /// Its errors and warnings.
    pub official: Findings,
    /// What it lets through although no run should have it, as warnings.
    pub let_through: Findings,
    /// The number of turns or topics that the run answers.
    pub answered: usize,
}

/// Checks a TREC run, or a need file, by the topics and the documents of a collection.
pub(crate) fn by_topics(
    data: &DataDir,
    split: &str,
    run: &Source,
    options: &ValidationOptions,
) -> Result<Validation, Error> {
    if options.passage_ids.is_some() {
        let hint = "leave it out: this collection has no file of passage ids";
        bail!("--passage-ids", "a split of iKAT beside it", "`{split}`", hint);
    }
    let collection = crate::open(data)?;
    let (split, task) = (collection.find_split(split)?, collection.tasks()[0]);
    let mut topics: Vec<TopicId> = Vec::new();
    for request in collection.requests(split, task)? {
        topics.push(request?.id.as_str().into());
    }
    clariq::validate(run, topics.iter(), collection.documents(task)?)
}
