//! Answers to requests: the parts of requests that a system may see, and the form of submissions.

use crate::Task;
use clariq_core::{Doc, Hit, RequestId};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The submitted outcome of a system for one request.
#[derive(Debug, Clone, Copy)]
pub struct SubmittedAnswer<'a> {
    /// The name of the run.
    pub run: &'a str,
    /// The number of the request in the run, from 0.
    pub index: u64,
    pub request: &'a RequestId,
    /// The responses, best first; none if the system only ranks.
    pub responses: &'a [WrittenResponse],
    /// The user's statements that the responses take into account, best first.
    pub statements: &'a [Hit],
    /// The submitted passages, best first.
    pub passages: &'a [Hit],
}

impl SubmittedAnswer<'_> {
    /// The number of tokens of the longest response that the guidelines of any year allow.
    pub const MOST_TOKENS: usize = 512;
    /// The number of passages that validators accept.
    pub const MOST_PASSAGES: usize = 1000;
}

/// A response, with its provenance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WrittenResponse {
    pub text: String,
    /// The passages that the text is taken from; none for a clarifying question.
    pub used: Vec<Doc>,
}

/// The limit that guidelines set on the responses to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseLimit {
    /// The number of tokens.
    pub tokens: usize,
    /// True if it is that of all responses to the request together; false if each may have it.
    pub together: bool,
}

/// The path of the run of a task beside a submission: `X.statements.run` beside `X.json`.
pub fn ranking_path(submission: &Path, task: Task) -> PathBuf {
    let name = submission.to_string_lossy();
    let stem = name.strip_suffix(".json").or_else(|| name.strip_suffix(".jsonl"));
    PathBuf::from(format!("{}.{task}.run", stem.unwrap_or(&name)))
}

/// The description of a system in its submission.
#[derive(Debug, Clone)]
pub struct Submitter {
    /// The class of the system.
    pub class: SystemClass,
    /// The team, if the form names it.
    pub team: Option<String>,
    /// True if the system writes responses; false if it only ranks.
    pub responds: bool,
}

/// Writes answers as one file, in the form of a collection.
pub trait SubmissionForm: Send + Sync {
    /// The ending of the file's name, `.json` or `.jsonl`.
    fn ending(&self) -> &'static str;

    /// True if the form names the team.
    fn names_team(&self) -> bool;

    /// Writes an answer, and before the first one the head of the file.
    fn put(&self, out: &mut dyn Write, answer: &SubmittedAnswer) -> io::Result<()>;

    /// Writes the end of the file, after the last answer.
    fn put_end(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// The class of a system, which decides the parts of a request that it may see. TREC calls it the type
/// of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum SystemClass {
    /// Sees the conversation so far and the user's statements.
    Automatic,
    /// Sees also the resolved utterances and the relevant statements, of this turn and of earlier
    /// ones.
    Manual,
    /// Sees the same as an automatic system, and the passages to answer from.
    OnlyResponse,
}

impl SystemClass {
    /// All classes.
    pub const ALL: [Self; 3] = [Self::Automatic, Self::Manual, Self::OnlyResponse];

    /// The name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Manual => "manual",
            Self::OnlyResponse => "only-response",
        }
    }
}

/// The parts of requests that a system sees, in collections with classes of systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// The class of the system.
    pub class: SystemClass,
    /// True if it sees earlier conversations of its users.
    pub earlier_conversations: bool,
    /// True if it sees the labels of statements for this turn and earlier ones.
    pub relevant_statements: bool,
}

impl From<SystemClass> for Sight {
    fn from(class: SystemClass) -> Self {
        Self { class, earlier_conversations: false, relevant_statements: false }
    }
}

/// Parses the name of a class in any spelling of TREC iKAT.
impl TryFrom<String> for SystemClass {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match &*name {
            "automatic" => Ok(Self::Automatic),
            "manual" => Ok(Self::Manual),
            "only-response" | "only_response" | "generation-only" => Ok(Self::OnlyResponse),
            _ => {
                let names = Self::ALL.map(Self::name).join(", ");
                Err(format!("`{name}`, expected one of {names}"))
            }
        }
    }
}

impl From<SystemClass> for &'static str {
    fn from(class: SystemClass) -> Self {
        class.name()
    }
}
