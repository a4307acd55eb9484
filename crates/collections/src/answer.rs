//! Answers to requests: what the systems that give them may see, and the form in which a collection
//! wants them handed in.

use clariq_core::{Doc, Hit, RequestId};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The response of a system to one request, with its provenance.
#[derive(Debug, Clone, Copy)]
pub struct SubmittedAnswer<'a> {
    /// The request.
    pub request: &'a RequestId,
    /// The text.
    pub text: &'a str,
    /// The statements of the user that it takes into account, best first.
    pub statements: &'a [Hit],
    /// The passages that are handed in, best first.
    pub passages: &'a [Hit],
    /// The passages that the text is taken from.
    pub used: &'a [Doc],
}

/// The run of a task beside what is handed in: `X.json` has `X.statements.run`.
pub fn ranking_path(submission: &Path, task: &str) -> PathBuf {
    let name = submission.to_string_lossy();
    PathBuf::from(format!("{}.{task}.run", name.strip_suffix(".json").unwrap_or(&name)))
}

/// Writes answers as one file, in the form of a collection.
pub trait AnswerForm: Send + Sync {
    /// Writes the answer number `index`, from 0, of the run `name`; with the first, what precedes
    /// the answers.
    fn put(
        &self,
        out: &mut dyn Write,
        index: u64,
        name: &str,
        answer: &SubmittedAnswer,
    ) -> io::Result<()>;

    /// Writes what follows the last answer.
    fn put_end(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// The class of a system, which decides what it may see of a request. TREC calls it the type of a
/// run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum SystemClass {
    /// Sees what a user and a system have said so far, and the user's statements.
    Automatic,
    /// Sees also the resolved utterances and the relevant statements, of this turn and of earlier
    /// ones.
    Manual,
    /// Sees what an automatic system sees, and the passages to answer from.
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

/// What a system sees of requests, where a collection distinguishes that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// The class of the system.
    pub class: SystemClass,
    /// Whether it sees what its users said in earlier conversations.
    pub earlier_conversations: bool,
    /// Whether it sees which statements are relevant to this turn and to earlier ones.
    pub relevant_statements: bool,
}

impl From<SystemClass> for Sight {
    fn from(class: SystemClass) -> Self {
        Self { class, earlier_conversations: false, relevant_statements: false }
    }
}

/// The class of a name in any spelling of TREC iKAT.
impl TryFrom<String> for SystemClass {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match &*name {
            "automatic" => Ok(Self::Automatic),
            "manual" => Ok(Self::Manual),
            "only-response" | "only_response" | "generation-only" => Ok(Self::OnlyResponse),
            _ => {
                let names = Self::ALL.map(Self::name).join(", ");
                Err(format!("`{name}`, expected a class of {names}"))
            }
        }
    }
}

impl From<SystemClass> for &'static str {
    fn from(class: SystemClass) -> Self {
        class.name()
    }
}
