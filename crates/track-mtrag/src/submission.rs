//! Reads submissions, an object on each line.

use crate::tasks::for_each_line;
use clariq_core::{DocId, Error, RequestId, parse_python_json};
use clariq_files::{FileContent, Run, RunLine, Source, strictly};
use serde::Deserialize;
use std::collections::HashMap;

/// The answers of a system, as they are handed in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MtragSubmission {
    /// The answers, in the order of the file.
    pub answers: Vec<SubmittedTask>,
}

/// An answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub struct SubmittedTask {
    /// The id of the request, as the file spells it.
    pub id: String,
    /// The passages with their scores, in the order of the file; those without one are not ranked.
    pub contexts: Vec<(String, f64)>,
    /// The number of passages without a score, as in a submission to Task B.
    pub without_score: usize,
    /// The response, if there is one.
    pub response: Option<String>,
    /// The line in the file.
    pub line: u64,
}

#[derive(Deserialize)]
struct AnswerLine {
    task_id: String,
    #[serde(default)]
    contexts: Vec<ContextObject>,
    #[serde(default)]
    predictions: Vec<PredictionObject>,
}

#[derive(Deserialize)]
struct ContextObject {
    document_id: String,
    /// Submissions to Task B have no scores.
    score: Option<f64>,
}

#[derive(Deserialize)]
struct PredictionObject {
    text: String,
}

/// True if a file has an object on each line, and is no TREC run.
pub(crate) fn is_submission(input: &FileContent) -> bool {
    input.bytes.trim_ascii_start().starts_with(b"{")
}

impl MtragSubmission {
    /// Reads a submission.
    pub fn read(source: &Source) -> Result<Self, Error> {
        Self::parse(&source.read()?)
    }

    pub(crate) fn parse(input: &FileContent) -> Result<Self, Error> {
        let mut answers = Vec::new();
        strictly(|sink| {
            for_each_line(input, sink, |at, line, sink| {
                match parse_python_json::<AnswerLine>(&at, line) {
                    Ok(answer) => {
                        let all = answer.contexts.len();
                        let contexts = answer.contexts.into_iter();
                        let contexts: Vec<_> =
                            contexts.filter_map(|it| Some((it.document_id, it.score?))).collect();
                        answers.push(SubmittedTask {
                            id: answer.task_id,
                            without_score: all - contexts.len(),
                            contexts,
                            response: answer.predictions.into_iter().next().map(|it| it.text),
                            line: at.line.unwrap_or(0),
                        });
                    }
                    Err(problem) => sink(*problem),
                }
            });
        })?;
        Ok(Self { answers })
    }

    /// The rankings as a run, as the organisers' scorer reads them: the last line of a request and
    /// the last score of a passage count. Requests have the ids of `ids`.
    pub(crate) fn to_run(&self, name: &str, ids: &HashMap<String, &RequestId>) -> Run {
        let mut last: HashMap<&str, usize> = HashMap::new();
        for (place, answer) in self.answers.iter().enumerate() {
            last.insert(&answer.id, place);
        }
        let mut run = Run { name: name.to_owned(), ..Run::default() };
        for (place, answer) in self.answers.iter().enumerate() {
            if last.get(&*answer.id) != Some(&place) {
                continue;
            }
            let topic = ids.get(&crate::ids::key(&answer.id)).copied();
            let topic = topic.cloned().unwrap_or_else(|| answer.id.as_str().into());
            let scores: HashMap<&str, u64> =
                answer.contexts.iter().map(|(id, score)| (id.as_str(), score.to_bits())).collect();
            for (id, score) in &answer.contexts {
                if scores.get(id.as_str()) == Some(&score.to_bits()) {
                    let document: DocId = id.as_str().into();
                    let line = answer.line;
                    run.lines.push(RunLine { topic: topic.clone(), document, score: *score, line });
                }
            }
        }
        run
    }
}
