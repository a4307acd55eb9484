//! The tasks of `generation_tasks`: a turn of a conversation with its reference passages and
//! response, an object on each line.

use crate::domains::Domain;
use clariq_collections::documents::is_id;
use clariq_collections::text_or_number::texts;
use clariq_core::{Problem, RequestId, Speaker, Utterance, parse_python_json, problem};
use clariq_files::{FileContent, Sink, for_each_filled_line, quoted};
use serde::Deserialize;
use std::collections::HashMap;

const FORM: &str = "a line is {\"task_id\": …, \"Collection\": …, \"input\": [{\"speaker\": \"user\", \"text\": …}, …], …}";

/// Whether a request can be answered from the passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answerability {
    /// The passages have the whole answer.
    Answerable,
    /// They have a part of it.
    Partial,
    /// They have none of it.
    Unanswerable,
    /// The request has several meanings or none: the reference response is a clarifying question.
    Underspecified,
    /// The user does not ask for anything: a greeting, or thanks.
    Conversational,
}

/// A turn of a conversation that is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MtragTask {
    /// Its id in the spelling of its file.
    pub id: RequestId,
    /// The domain whose passages answer it.
    pub domain: Domain,
    /// The name of the domain's collection in the file, which submissions repeat.
    pub collection: String,
    /// The conversation; the last utterance is the user's.
    pub said: Vec<Utterance>,
    /// The last utterance as people rewrote it.
    pub rewritten: Option<String>,
    /// The label that says if it can be answered; `None` if none was released.
    pub answerability: Option<Answerability>,
    /// The kinds of the question, such as `Factoid`.
    pub question_types: Vec<String>,
    /// The relation to earlier turns, such as `Follow-up`.
    pub relations: Vec<String>,
    /// Responses that people wrote as references.
    pub targets: Vec<String>,
    /// The ids of the reference passages.
    pub contexts: Vec<String>,
}

/// The passage of a reference, which stands in for the collection where that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskContext {
    pub(crate) domain: Domain,
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) line: u64,
}

/// The content of a file of tasks.
#[derive(Debug, Default)]
pub(crate) struct TaskFile {
    pub(crate) tasks: Vec<MtragTask>,
    pub(crate) contexts: Vec<TaskContext>,
}

impl Answerability {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Answerable,
        Self::Partial,
        Self::Unanswerable,
        Self::Underspecified,
        Self::Conversational,
    ];

    /// The name in the released files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answerable => "ANSWERABLE",
            Self::Partial => "PARTIAL",
            Self::Unanswerable => "UNANSWERABLE",
            Self::Underspecified => "UNDERSPECIFIED",
            Self::Conversational => "CONVERSATIONAL",
        }
    }
}

impl MtragTask {
    pub(crate) fn new(id: &str, domain: Domain, said: Vec<Utterance>) -> Self {
        Self {
            id: id.into(),
            domain,
            collection: domain.name().to_owned(),
            said,
            rewritten: None,
            answerability: None,
            question_types: Vec::new(),
            relations: Vec::new(),
            targets: Vec::new(),
            contexts: Vec::new(),
        }
    }
}

/// A line of a file. Other keys, such as `dataset`, are ignored, and `null` and `NaN` are missing values.
#[derive(Deserialize)]
struct TaskLine {
    task_id: String,
    #[serde(rename = "Collection", alias = "collection")]
    collection: String,
    input: Vec<MessageObject>,
    #[serde(default)]
    contexts: Option<Vec<ReferenceObject>>,
    #[serde(default)]
    targets: Option<Vec<MessageObject>>,
    #[serde(default, deserialize_with = "texts")]
    answerability: Vec<String>,
    #[serde(default, deserialize_with = "texts", rename = "Question Type")]
    question_types: Vec<String>,
    #[serde(default, deserialize_with = "texts", rename = "Multi-Turn")]
    relations: Vec<String>,
}

#[derive(Deserialize)]
struct MessageObject {
    speaker: String,
    text: String,
}

#[derive(Deserialize)]
struct ReferenceObject {
    document_id: String,
    #[serde(default)]
    text: Option<String>,
    title: Option<String>,
}

/// The text of a passage. The passages of references begin with their titles.
pub(crate) fn passage_text(title: Option<&str>, text: &str) -> String {
    match title.map(str::trim).filter(|title| !title.is_empty()) {
        Some(title) if !text.trim_start().starts_with(title) => format!("{title}\n{text}"),
        _ => text.trim().to_owned(),
    }
}

/// Reads the valid tasks of a file. Every problem goes to `sink`.
pub(crate) fn parse(input: &FileContent, sink: Sink) -> TaskFile {
    let mut file = TaskFile::default();
    let mut first_lines: HashMap<String, u64> = HashMap::new();
    for_each_filled_line(input, sink, |at, line, sink| {
        let parsed = parse_python_json::<TaskLine>(at, line);
        let task = match parsed.map_err(|problem| problem.hint(FORM)) {
            Ok(line) => read_task(line, at, sink),
            Err(problem) => Err(problem),
        };
        match task {
            Ok((task, contexts)) => {
                let key = crate::ids::key(task.id.as_str());
                if let Some(first) = first_lines.get(&key) {
                    let found = format!("`{}`, which is on line {first} already", task.id);
                    return sink(problem!(at, "an id that no other task has", found, FORM));
                }
                first_lines.insert(key, at.1);
                file.tasks.push(task);
                file.contexts.extend(contexts);
            }
            Err(problem) => sink(problem),
        }
    });
    file
}

fn read_task(
    line: TaskLine,
    at: (&str, u64),
    sink: Sink,
) -> Result<(MtragTask, Vec<TaskContext>), Problem> {
    let id = line.task_id;
    if !is_id(&id) {
        return Err(problem!(at, "an id without blanks", (quoted(&id)), FORM));
    }
    let domain = domain_of(&line.collection, at)?;
    let mut said = Vec::with_capacity(line.input.len());
    for MessageObject { speaker, text } in line.input {
        said.push(match &*speaker {
            "user" => Utterance::user(text),
            "agent" => Utterance::system(text),
            _ => {
                return Err(problem!(
                    at,
                    "the speaker `user` or `agent`",
                    (quoted(&speaker)),
                    FORM
                ));
            }
        });
    }
    if said.last().is_none_or(|last| last.speaker != Speaker::User) {
        let expected = "a last utterance of the user in `input`";
        let found = if said.is_empty() { "no utterance" } else { "one of the agent" };
        return Err(problem!(at, expected, found, FORM));
    }
    let mut contexts = Vec::new();
    for ReferenceObject { document_id, text, title } in line.contexts.unwrap_or_default() {
        if !is_id(&document_id) {
            return Err(problem!(at, "passage ids without blanks", (quoted(&document_id)), FORM));
        }
        let text = passage_text(title.as_deref(), text.as_deref().unwrap_or_default());
        contexts.push(TaskContext { domain, id: document_id, text, line: at.1 });
    }
    let mut task = MtragTask::new(&id, domain, said);
    task.collection = line.collection;
    task.answerability = answerability(&line.answerability, at, sink);
    task.question_types = line.question_types;
    task.relations = line.relations;
    task.targets = line.targets.unwrap_or_default().into_iter().map(|target| target.text).collect();
    task.contexts = contexts.iter().map(|context| context.id.clone()).collect();
    Ok((task, contexts))
}

/// The domain of a `Collection`; a problem lists the known ones.
fn domain_of(collection: &str, at: (&str, u64)) -> Result<Domain, Problem> {
    Domain::of(collection).ok_or_else(|| {
        let names = Domain::ALL.map(Domain::name).join(", ");
        problem!(at, "a `Collection` of one of the domains {names}", (quoted(collection)), FORM)
    })
}

/// The only label, if there is one. No figure but that of the question whether to ask depends on it,
/// so that another one is a warning.
fn answerability(labels: &[String], at: (&str, u64), sink: Sink) -> Option<Answerability> {
    let [label] = labels else { return None };
    let known = Answerability::ALL.into_iter().find(|known| known.name() == label);
    if known.is_none() {
        let names = Answerability::ALL.map(Answerability::name).join(", ");
        let hint = "the request counts as one without this label";
        sink(problem!(at, "one of {names} as answerability", (quoted(label)), hint).warning());
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_and_nan_are_missing_values() {
        let line = r#"{"task_id": "a<::>1", "Collection": "mt-rag-govt-elser-512-100-20240611",
            "input": [{"speaker": "user", "text": "moon"}], "contexts": NaN, "targets": null}"#;
        let bytes = line.replace('\n', " ").into_bytes().into();
        let one = FileContent { name: "tasks.jsonl".to_owned(), bytes };
        let mut problems = Vec::new();
        let file = parse(&one, &mut |problem| problems.push(problem.to_string()));
        assert_eq!((problems, file.tasks.len(), file.contexts.len()), (Vec::new(), 1, 0));
    }

    #[test]
    fn a_title_is_not_repeated() {
        assert_eq!(passage_text(Some("Moon"), "Moon\nIt is far."), "Moon\nIt is far.");
        assert_eq!(passage_text(Some("Moon"), "It is far."), "Moon\nIt is far.");
        assert_eq!(passage_text(None, " It is far. "), "It is far.");
    }
}
