//! What the official validator of each year says of a run, and what it lets through.
//!
//! The checks are those of the track's own programs (irlabamsterdam/iKAT at 0539930:
//! `run_validation/main.py` of 2023 and 2024, `validate_trec_ikat25.py` of 2025). They stop at the
//! first error; here all findings are listed, and the verdict is the same, because any error is an
//! error. Where the program of 2025 crashes, the verdict is an error.

mod let_through;
mod lines;
mod object;

pub use crate::validation::{Validation, ValidationOptions, Verdict};

use super::run::{MOST_OF_A_RUN, Submission};
use super::topics::{Topics, Year};
use clariq_core::{Error, Findings, Location, Problem, Severity};
use clariq_files::{Input, Source};

/// The number of warnings from which the validators of 2023 and 2024 give up: one more is an error.
pub const MAX_WARNINGS: usize = 2000;

/// The number of tokens that the guidelines allow a response.
const MOST_TOKENS: usize = 250;

/// Checks a run against the topics of its year.
///
/// ```
/// use clariq_collections::ikat::validate::{MAX_WARNINGS, ValidationOptions, Verdict, validate};
/// use clariq_collections::DataDir;
/// use clariq_collections::ikat::Split;
/// use clariq_files::Source;
///
/// let topics = DataDir::Sample.topics(Split::Test2023)?;
/// let run = Source::memory("mine.json", *br#"{"run_name": "mine", "run_type": "automatic", "turns": []}"#);
/// let tokens = |text: &str| text.split_whitespace().count();
/// let options = ValidationOptions { tokens: &tokens, max_warnings: MAX_WARNINGS };
/// assert_eq!(validate(&run, &topics, &options)?.verdict, Verdict::NothingToValidate);
/// # Ok::<(), clariq_core::Error>(())
/// ```
pub fn validate(
    run: &Source,
    topics: &Topics,
    options: &ValidationOptions,
) -> Result<Validation, Error> {
    let input = &run.read_at_most(MOST_OF_A_RUN)?;
    let mut check = Check {
        input,
        topics,
        options,
        errors: 0,
        warnings: 0,
        official: Findings::default(),
        let_through: Findings::default(),
    };
    let submission = match topics.year {
        Year::Y2023 | Year::Y2024 => object::check(&mut check),
        Year::Y2025 => lines::check(&mut check),
    };
    let_through::check(&mut check, &submission);
    let verdict = check.verdict(&submission);
    let Check { official, let_through, .. } = check;
    Ok(Validation { verdict, official, let_through, answered: submission.turns.len() })
}

/// A run while it is checked.
struct Check<'a> {
    input: &'a Input,
    topics: &'a Topics,
    options: &'a ValidationOptions<'a>,
    errors: usize,
    warnings: usize,
    official: Findings,
    let_through: Findings,
}

impl Check<'_> {
    fn verdict(&self, submission: &Submission) -> Verdict {
        let by_object = submission.year != Year::Y2025;
        if self.errors > 0 || by_object && self.warnings > self.options.max_warnings {
            Verdict::Error
        } else if by_object && submission.turns.is_empty() {
            Verdict::NothingToValidate
        } else {
            Verdict::Accepted { warnings: self.warnings }
        }
    }

    fn at(&self, line: u64) -> Location {
        Location::line(&self.input.name, line)
    }

    /// Counts an error or a warning of the official validator.
    fn add(&mut self, problem: Problem) {
        match problem.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
        self.official.add(problem);
    }

    /// Counts a warning of the official validator.
    fn warn(&mut self, problem: Problem) {
        self.add(problem.warning());
    }

    /// Notes what the official validator lets through.
    fn note(&mut self, problem: Problem) {
        self.let_through.add(problem.warning());
    }
}
