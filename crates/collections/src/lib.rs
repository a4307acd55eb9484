//! Collections: one trait, an entry for a registry that recognises each by the files of a data folder,
//! documents of one's own, and evaluation by judgements. A track is a crate with an
//! implementation of [`Collection`] and a [`Kind`].

// No file may end the process: nothing is indexed or unwrapped but where it is said.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]

/// The files of a folder of the calling crate as [`EmbeddedFile`]s.
#[macro_export]
macro_rules! embedded {
    ($folder:literal, $($name:literal),* $(,)?) => {
        &[$($crate::EmbeddedFile {
            name: $name,
            shown: concat!("<", $folder, ">/", $name),
            bytes: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $folder, "/", $name)),
        }),*]
    };
}

mod answer;
mod check;
mod columns;
mod conversations;
mod data_dir;
pub mod documents;
mod earlier_judgements;
pub mod entries;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
pub mod evaluation;
pub mod fetch;
mod finding;
mod keys;
mod kinds;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
mod labelled_requests;
pub mod lines;
mod own;
mod released;
pub mod requests;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
pub mod sentences;
mod splits;
pub mod statistics;
pub mod text_or_number;
pub mod tokens;
pub mod validation;

pub use answer::{
    ResponseLimit, Sight, SubmissionForm, SubmittedAnswer, Submitter, SystemClass, WrittenResponse,
    ranking_path,
};
pub use check::{CheckReport, TextSample};
pub use columns::IdTextTable;
pub use conversations::{ConversationForm, SkippedRecords};
pub use data_dir::{DataDir, EmbeddedFile};
pub use earlier_judgements::{EarlierJudgements, read_once};
pub use kinds::{Kind, Open, Tracks, Validate};
pub use labelled_requests::{LabelledRequest, LabelledRequests, put_need_lines};
pub use own::{DOCUMENTS, OWN};
pub use released::{Release, ReleasedFile};
pub use splits::{PerSplit, Split, Task};
pub use statistics::{Amount, Statistics, StatisticsRow};
pub use validation::{OfficialVerdict, Validation, ValidationOptions};

use clariq_core::{
    Documents, Error, JudgedQuestions, Request, RequestId, TextKeeper, TrainOn, bail,
};
use clariq_files::{Qrels, Source};
use documents::Bank;
use evaluation::Evaluation;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;

/// Labels and annotations of a request, hidden from systems. Exports have them beside the requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Annotation {
    /// The request's id.
    pub id: String,
    /// The last utterance, rewritten by people so that it can be understood alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
    /// The user's statements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<String>,
    /// The clarification need of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need: Option<NeedLabel>,
    /// The response that people wrote as a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The possible information needs of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facets: Vec<AnnotatedFacet>,
}

/// A clarification need: a number, 1 to 4 in ClariQ, or a name of the collection's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NeedLabel {
    /// 1 for a request that needs no clarification.
    Number(i64),
    /// `UNDERSPECIFIED`.
    Name(String),
}

impl fmt::Display for NeedLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// An information need behind a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnnotatedFacet {
    /// Its id in the released files.
    pub id: String,
    /// The information need in full.
    pub text: String,
}

/// The documents that are ranked for a request, in a task whose documents are those of several tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentPart {
    /// The task that has these documents alone.
    pub task: Task,
    /// The number of its first document among all.
    pub first: u32,
}

/// Requests one by one, in the order of their file.
pub type Requests<'a> = Box<dyn Iterator<Item = Result<Request, Error>> + Send + 'a>;

/// An open collection: documents, requests for them, and judgements.
///
/// It has tasks and splits of its own, which `find_task` and `find_split` find by name; it is asked for
/// no others.
#[deny(missing_docs)]
pub trait Collection: Any + Send + Sync {
    /// Its entry in the registry.
    fn registered(&self) -> &'static Kind;

    /// The name of its [`Kind`].
    fn kind(&self) -> &'static str {
        self.registered().name
    }

    /// Its name in records: `clariq`, `ikat`, or a name that distinguishes it from other
    /// collections of its kind.
    fn label(&self) -> String;

    /// The name of the folder of its runs and of its pages: that of a released collection or a
    /// sample, or else that of its data folder.
    fn folder_name(&self) -> String {
        self.label()
    }

    /// Its location, for messages.
    fn location(&self) -> String;

    /// The tasks, the usual one first.
    fn tasks(&self) -> &'static [Task] {
        self.registered().tasks
    }

    /// All splits of a full release, in the order of time.
    fn splits(&self) -> &[Split] {
        self.registered().splits
    }

    /// The splits whose judgements systems may use for a split: those before it in the order of time.
    fn earlier_splits(&self, split: Split) -> Vec<Split> {
        self.splits().iter().copied().take_while(|before| *before != split).collect()
    }

    /// The files of its folder that look like data, by their names, and are not read.
    fn unread_files(&self) -> &[PathBuf] {
        &[]
    }

    /// True if the requests of a split are available.
    fn has(&self, split: Split) -> bool;

    /// The documents of a task.
    fn documents(&self, task: Task) -> Result<&dyn Documents, Error>;

    /// The file that holds the requests of a split.
    fn source(&self, split: Split) -> Result<Source, Error>;

    /// The files with the labels of a split, that with the topics that runs are scored on first.
    fn labels_of(&self, split: Split) -> Result<Vec<Source>, Error> {
        Ok(vec![self.source(split)?])
    }

    /// The requests of a split for a task, without labels.
    fn requests(&self, split: Split, task: Task) -> Result<Requests<'_>, Error>;

    /// The requests of a split with the parts that a class of systems may see.
    fn requests_seen(
        &self,
        split: Split,
        task: Task,
        _sight: Sight,
    ) -> Result<Requests<'_>, Error> {
        self.requests(split, task)
    }

    /// The form of submissions for a split; `None` if submissions are TREC runs.
    fn submission_form(
        &self,
        _split: Split,
        _submitter: Submitter,
    ) -> Option<Box<dyn SubmissionForm + '_>> {
        None
    }

    /// The limit on the responses to a request of a split, if its guidelines set one.
    fn response_limit(&self, _split: Split) -> Option<ResponseLimit> {
        None
    }

    /// The form of submissions of rankings alone, which are written beside the TREC run; `None` if the
    /// run is submitted.
    fn ranking_form(&self, _split: Split) -> Option<Box<dyn SubmissionForm + '_>> {
        None
    }

    /// The part of a task's documents that a request is answered from; `None` for all of them.
    fn part_of(&self, _task: Task, _request: &str) -> Option<DocumentPart> {
        None
    }

    /// The name of a document in runs of a task, in the ranking for a request.
    fn name_in_runs<'i>(&self, _request: &str, _task: Task, id: &'i str) -> Cow<'i, str> {
        id.into()
    }

    /// True if a name is that of a request. Some released files spell ids in another way.
    fn is_named(&self, request: &RequestId, name: &str) -> bool {
        request.as_str() == name
    }

    /// The conversation of a request. Cross-validation keeps the requests of a conversation together.
    fn conversation_of<'r>(&self, request: &'r str) -> &'r str {
        request
    }

    /// The id of the request that ends `back` utterances of the user earlier; `None` if earlier
    /// utterances belong to no request.
    fn turn_before(&self, _request: &str, _back: usize) -> Option<String> {
        None
    }

    /// True for built-in samples, whose runs have a folder of their own.
    fn is_sample(&self) -> bool {
        false
    }

    /// A remark to print beside the figures of a split.
    fn remark(&self, _split: Split) -> Option<String> {
        None
    }

    /// Replaces the passages by those from files: those with the ids in `wanted`, or all. The `keeper` stores them on disk if they are too many for memory.
    fn take_passages(
        &mut self,
        _files: &[Source],
        _wanted: Option<&HashSet<&str>>,
        _keeper: &dyn TextKeeper,
    ) -> Result<(), Error> {
        bail!(
            self.location(),
            "a collection whose passages may come from a file",
            (self.kind()),
            "the passages of iKAT may, because the licensed ones cannot be released"
        )
    }

    /// The collection's own evaluation of runs over a split; `None` to evaluate them by judgements and
    /// the measures of the literature.
    fn own_evaluation(&self, _split: Split) -> Result<Option<Box<dyn Evaluation + '_>>, Error> {
        Ok(None)
    }

    /// The judgements of a split for a task, if there are any.
    fn qrels(&self, split: Split, task: Task) -> Result<Option<Qrels>, Error>;

    /// Labels and annotations of the requests of a split; requests without any may be left out.
    fn annotations(&self, _split: Split) -> Result<Vec<Annotation>, Error> {
        Ok(Vec::new())
    }

    /// The text of a request that people labelled with its need for clarification: the last utterance
    /// of the user, unless the labels belong to another part of the conversation.
    fn labelled_text(&self, request: &Request) -> String {
        request.last_said()
    }

    /// The bank of clarifying questions, if those are ranked. Models of the need for clarification look
    /// at its words.
    fn question_bank(&self) -> Option<&Bank> {
        None
    }

    /// The requests that models are trained on, and the rows of their labels, without candidates; `None`
    /// if models are trained on the judgements.
    fn training_rows(
        &self,
        _train_on: TrainOn,
    ) -> Result<Option<(Vec<Request>, JudgedQuestions)>, Error> {
        Ok(None)
    }

    /// The form of files of conversations, and of runs over them, if the collection has its own.
    fn conversation_form(&self) -> Option<Box<dyn ConversationForm + '_>> {
        None
    }

    /// Counts of documents, requests and judgements.
    fn statistics(&self) -> Result<Statistics, Error>;
}
