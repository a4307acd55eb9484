//! Writes submissions to the tasks of `MTRAGEval` as JSON lines.

use crate::tasks::MtragTask;
use clariq_collections::{SubmissionForm, SubmittedAnswer};
use clariq_core::{Documents, Hit, Speaker};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};

/// The number of passages that are handed in for a request.
pub(crate) const MOST_CONTEXTS: usize = 10;

/// A task of `MTRAGEval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskKind {
    /// Retrieval.
    A,
    /// Generation from the reference passages.
    B,
    /// Retrieval and generation.
    C,
}

impl fmt::Display for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::A => "Task A, retrieval",
            Self::B => "Task B, generation from the references",
            Self::C => "Task C, retrieval and generation",
        })
    }
}

pub(crate) struct MtragSubmissionForm<'a> {
    kind: TaskKind,
    tasks: HashMap<&'a str, &'a MtragTask>,
    passages: &'a dyn Documents,
}

impl<'a> MtragSubmissionForm<'a> {
    pub(crate) fn new(kind: TaskKind, tasks: &'a [MtragTask], passages: &'a dyn Documents) -> Self {
        let tasks = tasks.iter().map(|task| (task.id.as_str(), task)).collect();
        Self { kind, tasks, passages }
    }

    fn context(&self, hit: &Hit) -> io::Result<Value> {
        let text = self.passages.text(hit.doc).map_err(io::Error::other)?;
        Ok(json!({ "document_id": self.passages.id(hit.doc), "score": hit.score, "text": text }))
    }
}

impl SubmissionForm for MtragSubmissionForm<'_> {
    fn ending(&self) -> &'static str {
        ".jsonl"
    }

    fn names_team(&self) -> bool {
        false
    }

    fn put(&self, out: &mut dyn Write, answer: &SubmittedAnswer) -> io::Result<()> {
        let Some(task) = self.tasks.get(answer.request.as_str()) else { return Ok(()) };
        let passages = answer.passages.iter().take(MOST_CONTEXTS);
        let contexts: Vec<Value> =
            passages.map(|hit| self.context(hit)).collect::<io::Result<_>>()?;
        let mut line =
            json!({ "task_id": task.id, "Collection": task.collection, "contexts": contexts });
        if self.kind != TaskKind::A {
            let speaker = |speaker| match speaker {
                Speaker::User => "user",
                Speaker::System => "agent",
            };
            let said = task.said.iter();
            let input =
                said.map(|said| json!({ "speaker": speaker(said.speaker), "text": said.text }));
            line["input"] = input.collect();
            let texts = answer.responses.iter().take(1);
            line["predictions"] = texts.map(|response| json!({ "text": response.text })).collect();
        }
        writeln!(out, "{line}")
    }

    fn put_end(&self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
