//! Warnings about a run beside its figures: topics of another split, lines that scores ignore, and
//! cut-offs beyond the depth of the run.

use super::spelling::{Spellings, shown, topics_spelled_otherwise};
use clariq_core::{Problem, RequestId, count_of, counted, one_or, problem};
use clariq_eval::{Diagnosis, Score, Ties, diagnose};
use clariq_files::fields::WITHOUT_QUOTES;
use clariq_files::{Run, Source};
use std::collections::HashSet;

/// The topics that runs are scored on, and the file that they come from.
pub struct ScoredTopics {
    pub ids: HashSet<RequestId>,
    file: String,
}

impl ScoredTopics {
    pub fn new<'a>(file: impl Into<String>, ids: impl Iterator<Item = &'a RequestId>) -> Self {
        Self { ids: ids.cloned().collect(), file: file.into() }
    }

    /// Refuses a file of another split: all of its scores would be 0, and any other run
    /// significantly better.
    pub fn check_answered<'a>(
        &self,
        source: &Source,
        mut answered: impl Iterator<Item = &'a RequestId>,
    ) -> Result<(), Problem> {
        let is_known = |topic: &RequestId| self.ids.contains(topic);
        let first = answered.next();
        let found = match first {
            Some(topic) if is_known(topic) || answered.any(is_known) => return Ok(()),
            Some(topic) => format!("only other topics, such as `{topic}`"),
            None => "no line".to_owned(),
        };
        let file = &self.file;
        let at = source.name();
        let spellings = Spellings::of(self.ids.iter().map(RequestId::as_str));
        let meant = first.and_then(|topic| spellings.meant_by(topic.as_str()));
        let hint = match meant {
            _ if found.ends_with("\"`") => WITHOUT_QUOTES.to_owned(),
            Some(meant) => {
                format!("there it is `{}`: ids are compared letter by letter", shown(meant))
            }
            None => "choose the split of the file with --split, its collection with --data, or its judgements with \
                     --qrels"
                .to_owned(),
        };
        Err(problem!(at, "answers to topics of {file}", found, hint))
    }

    /// Describes the lines of a run that the scores ignore.
    pub fn warnings(&self, run: &Run, ties: Ties) -> Vec<String> {
        let mut warnings = ignored_lines(run, &diagnose(run, self.ids.iter(), None), ties);
        warnings.extend(topics_spelled_otherwise(run, &self.ids));
        warnings
    }
}

/// The warning about a run without scores that tell documents apart.
pub const ONE_SCORE: &str = "the documents of a topic have one score, so that their ids order them";

/// Describes the lines of a run that the scores ignore. Only the official order drops lines.
pub fn ignored_lines(run: &Run, found: &Diagnosis, ties: Ties) -> Vec<String> {
    let mut warnings = Vec::new();
    if ties == Ties::Official && found.dropped_lines > 0 {
        let lines = found.dropped_lines;
        let topics = found.dropped_topics;
        warnings.push(format!(
            "{} of {} {} dropped, as the official scorer does; `--ties interval` shows how much \
             their order matters",
            count_of(lines, "line"),
            count_of(topics, "topic"),
            one_or(lines, "repeats a score and is", "repeat a score and are")
        ));
    }
    warnings.extend(counted(&[
        (
            found.duplicates,
            "line repeats a document of its topic, whose best line counts",
            "lines repeat a document of their topic, whose best line counts",
        ),
        (
            found.missing_topics,
            "topic is not answered and counts 0",
            "topics are not answered and count 0",
        ),
        (
            found.unknown_topics,
            "topic has no labels and is ignored",
            "topics have no labels and are ignored",
        ),
    ]));
    warnings.extend(run.ignored.describe());
    warnings.extend(counted(&[(
        found.unknown_documents,
        "line names a document that the collection does not have",
        "lines name a document that the collection does not have",
    )]));
    if ties != Ties::Official && found.one_score {
        warnings.push(ONE_SCORE.to_owned());
    }
    warnings.extend(run.rank_doubt.map(str::to_owned));
    warnings
}

/// Warns of measures with a cut-off beyond the depth of the run, by the names that are printed.
pub fn warn_of_short(scores: &[Score], name: fn(&Score) -> String) -> Option<String> {
    let short = scores.iter().filter_map(|score| Some((name(score), score.short_of?)));
    let (names, depths): (Vec<String>, Vec<usize>) = short.unzip();
    let depth = depths.into_iter().max()?;
    let counts = if names.len() == 1 { "counts" } else { "count" };
    Some(format!(
        "the run ranks {} for a topic: {} {counts} no more (marked °)",
        count_of(depth, "document"),
        names.join(", ")
    ))
}
