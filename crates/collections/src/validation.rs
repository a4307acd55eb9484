//! The result of a validation: the official program's verdict, and problems that it misses.

mod trec_run;

pub use trec_run::{FileCheck, check_run, topics_of};

use clariq_core::Findings;
use clariq_files::FileContent;
use std::path::Path;

/// Options of a validation.
pub struct ValidationOptions<'a> {
    /// Counts the tokens of a response, as the guidelines of iKAT count them.
    pub tokens: &'a dyn Fn(&str) -> usize,
    /// The number of warnings that the validators of iKAT 2023 and 2024 let pass.
    pub max_warnings: usize,
    /// The conversations that a multi-turn run answers.
    pub conversations: Option<&'a Path>,
    /// A list of the ids of the passages that a submission may name.
    pub passages: Option<&'a Path>,
}

impl<'a> ValidationOptions<'a> {
    /// Without files beside the run.
    pub fn new(tokens: &'a dyn Fn(&str) -> usize, max_warnings: usize) -> Self {
        Self { tokens, max_warnings, conversations: None, passages: None }
    }
}

/// The official program's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfficialVerdict {
    /// It refuses the run.
    Error,
    /// An iKAT run of 2023 or 2024 has no turns: the validator reports success without checking
    /// anything else.
    NothingToValidate,
    /// It accepts the run with this number of warnings.
    Accepted {
        /// The number of warnings.
        warnings: usize,
    },
}

/// The result of a validation.
#[derive(Debug, Clone)]
pub struct Validation {
    /// The official program's verdict.
    pub verdict: OfficialVerdict,
    /// Its errors and warnings.
    pub official: Findings,
    /// Problems that it misses, as warnings.
    pub let_through: Findings,
    /// The number of turns or topics that the run answers.
    pub answered: usize,
    /// Checks that could not be made.
    pub notes: Vec<String>,
}

impl Validation {
    /// The verdict of a program that refuses a file for any error.
    pub fn new(official: Findings, let_through: Findings, answered: usize) -> Self {
        let verdict = if official.has_errors() {
            OfficialVerdict::Error
        } else {
            let warnings = official.iter().map(|finding| finding.count).sum();
            OfficialVerdict::Accepted { warnings }
        };
        Self { verdict, official, let_through, answered, notes: Vec::new() }
    }
}

/// The fields of the first line that is not blank: two in a need file, six in a TREC run.
pub fn first_fields(input: &FileContent) -> Vec<&[u8]> {
    let first = input.filled_lines().next().map_or(&b""[..], |(_, line)| line);
    first.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect()
}
