//! The verdict of each year's official validator on a run, and problems that it overlooks.
//!
//! The rules are those of the track's own programs (irlabamsterdam/iKAT at 0539930:
//! `run_validation/main.py` of 2023 and 2024, `validate_trec_ikat25.py` of 2025). These stop at the
//! first error; here all findings are listed, and the verdict is the same.

mod collection;
mod lines;
mod object;
mod overlooked;

pub use clariq_collections::validation::{OfficialVerdict, Validation, ValidationOptions};

use super::qrels::JudgedPassages;
use super::run::lines::{TurnLine, read_lines, submission};
use super::run::{Response, Submission, SubmittedTurn};
use super::topics::TopicFile;
use clariq_core::{Error, Findings, Location, Problem, problem};
use clariq_files::{Source, shorten};
use std::collections::HashSet;

/// The most warnings that the validators of 2023 and 2024 accept: one more is an error.
pub const MAX_WARNINGS: usize = 2000;

/// The official validator's reaction to a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OfficialReaction {
    /// It rejects the run.
    Rejected,
    /// It warns; in 2023 and 2024, too many warnings are an error.
    Warned,
    /// It overlooks it.
    Overlooked,
}

use OfficialReaction::{Overlooked, Rejected, Warned};

/// A rule for runs.
struct Rule {
    reaction: OfficialReaction,
    expected: &'static str,
    hint: &'static str,
    /// Lists the places where a run breaks the rule.
    find: fn(&CheckedRun, &mut Violations),
}

/// For each violation, the line, if the form has lines, and the value that was found.
type Violations = Vec<(Option<u64>, String)>;

/// Lists the passages that the collection does not have.
fn passage_not_in_the_collection(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        for passage in &response.passages {
            if run.unknown_passages.contains(passage.id.as_str()) {
                found.push((turn.line, format!("`{}` in turn {}", shorten(&passage.id), turn.id)));
            }
        }
    }
}

/// The findings of a validation, and those that decide its verdict.
#[derive(Default)]
struct ValidatorFindings {
    official: Findings,
    overlooked: Findings,
    errors: usize,
    warnings: usize,
}

impl ValidatorFindings {
    fn add(&mut self, reaction: OfficialReaction, problem: Problem) {
        match reaction {
            Rejected => {
                self.errors += 1;
                self.official.add(problem);
            }
            Warned => {
                self.warnings += 1;
                self.official.add(problem.warning());
            }
            Overlooked => self.overlooked.add(problem.warning()),
        }
    }
}

/// A run to check, with the topics of its year.
struct CheckedRun<'a> {
    submission: &'a Submission,
    /// The lines of 2025.
    lines: &'a [TurnLine],
    topics: &'a TopicFile,
    options: &'a ValidationOptions<'a>,
    /// The passages of the run that the list of the collection lacks.
    unknown_passages: HashSet<&'a str>,
    judged: &'a JudgedPassages,
}

impl CheckedRun<'_> {
    fn turns(&self) -> impl Iterator<Item = &SubmittedTurn> {
        self.submission.turns.iter()
    }

    /// All responses with their turns.
    fn responses(&self) -> impl Iterator<Item = (&SubmittedTurn, &Response)> {
        self.turns().flat_map(|turn| turn.responses.iter().map(move |response| (turn, response)))
    }

    /// Reports the turns of the topics that are not among those of a run.
    fn report_missing<'i>(&self, turns: impl Iterator<Item = &'i str>, found: &mut Violations) {
        let turns: HashSet<&str> = turns.collect();
        for (_, turn) in self.topics.turns() {
            if !turns.contains(turn.id.as_str()) {
                found.push((None, format!("no {}", turn.id)));
            }
        }
    }
}

/// Checks a run against the topics of its year.
///
/// ```
/// use clariq_track_ikat::validate::{MAX_WARNINGS, ValidationOptions, OfficialVerdict, validate};
/// use clariq_track_ikat::{SAMPLE, read_topics, splits};
/// use clariq_files::Source;
///
/// let topics = read_topics(&SAMPLE, splits::TEST_2023)?;
/// let run = Source::memory("mine.json", *br#"{"run_name": "mine", "run_type": "automatic", "turns": []}"#);
/// let options = ValidationOptions::new(&|text| text.split_whitespace().count(), MAX_WARNINGS);
/// assert_eq!(validate(&run, &topics, &options)?.verdict, OfficialVerdict::NothingToValidate);
/// # Ok::<(), clariq_core::Error>(())
/// ```
pub fn validate(
    run: &Source,
    topics: &TopicFile,
    options: &ValidationOptions,
) -> Result<Validation, Error> {
    validate_with(run, topics, &JudgedPassages::new(), options)
}

/// As [`validate`], and notes a run of which no passage is `judged`.
pub fn validate_with(
    run: &Source,
    topics: &TopicFile,
    judged: &JudgedPassages,
    options: &ValidationOptions,
) -> Result<Validation, Error> {
    let input = &run.read()?;
    let mut found = ValidatorFindings::default();
    let mut lines = Vec::new();
    let submission = if topics.year.has_line_runs() {
        lines = read_lines(input, &mut |problem| found.add(Rejected, problem));
        // The rules report the fields that a line lacks.
        submission(&lines, &input.name, &mut |_| {})
    } else {
        Submission::parse(input, Some(topics.year), &mut |problem| found.add(Rejected, problem))
    };
    let named = submission.turns.iter().flat_map(|turn| &turn.responses);
    let named = named.flat_map(|response| &response.passages).map(|passage| passage.id.as_str());
    let unknown_passages = match options.passages {
        Some(list) => collection::missing(&Source::new(list), named.collect())?,
        None => HashSet::new(),
    };
    let run = CheckedRun {
        submission: &submission,
        lines: &lines,
        topics,
        options,
        unknown_passages,
        judged,
    };
    let rules = if topics.year.has_line_runs() {
        lines::RULES
    } else if found.errors > 0 || submission.turns.is_empty() {
        // The official program reads the whole run before it checks anything.
        &[]
    } else {
        object::RULES
    };
    for rule in rules.iter().chain(overlooked::RULES) {
        let mut violations = Violations::new();
        (rule.find)(&run, &mut violations);
        for (line, value) in violations {
            let at = Location { file: input.name.clone(), line };
            found.add(rule.reaction, problem!(at, (rule.expected), value, (rule.hint)));
        }
    }
    let ValidatorFindings { official, overlooked, errors, warnings } = found;
    let is_object = !topics.year.has_line_runs();
    let verdict = if errors > 0 || is_object && warnings > options.max_warnings {
        OfficialVerdict::Error
    } else if is_object && submission.turns.is_empty() {
        OfficialVerdict::NothingToValidate
    } else {
        OfficialVerdict::Accepted { warnings }
    };
    let answered = submission.turns.len();
    Ok(Validation { verdict, official, let_through: overlooked, answered, notes: Vec::new() })
}
