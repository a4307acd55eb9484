//! Reads submissions, an object on each line.

use crate::domains::Domain;
use crate::ids::key;
use clariq_core::{DocId, Error, Location, Problem, RequestId, bail, parse_python_json, problem};
use clariq_files::{FileContent, Run, RunLine, Source, for_each_filled_line, shorten, strictly};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

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
    /// The name of the collection that was searched, if the line has it.
    pub collection: Option<String>,
    /// The passages with their scores, in the order of the file; those without one are not ranked.
    pub contexts: Vec<(String, f64)>,
    /// The number of passages without a score, as in a submission to Task B.
    pub without_score: usize,
    /// The texts of the passages that have one.
    pub texts: Vec<String>,
    /// The response, if there is one.
    pub response: Option<String>,
    /// The line in the file.
    pub line: u64,
}

#[derive(Deserialize)]
struct AnswerLine {
    task_id: String,
    #[serde(rename = "Collection")]
    collection: Option<String>,
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
    text: Option<String>,
}

#[derive(Deserialize)]
struct PredictionObject {
    text: String,
}

/// A response, and the texts of the passages that it was written from.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct GivenResponse {
    pub(crate) text: String,
    pub(crate) passages: Vec<String>,
}

/// The rankings of a submission, whose first line has a task and passages.
pub(crate) fn rankings(input: &FileContent) -> Option<Result<Run, Error>> {
    if !is_submission(input) {
        return None;
    }
    let first = input.bytes.trim_ascii_start().split(|byte| *byte == b'\n').next()?;
    parse_python_json::<AnswerLine>("", first).ok()?;
    let submission = MtragSubmission::parse(input);
    Some(submission.and_then(|submission| submission.to_run(&input.name, &HashMap::new())))
}

/// True if a file has an object on each line, and is no TREC run.
pub(crate) fn is_submission(input: &FileContent) -> bool {
    input.bytes.trim_ascii_start().starts_with(b"{")
}

/// The problem of a request that is answered a second time.
pub(crate) fn again(at: impl Into<Location>, id: &str) -> Problem {
    let found = format!("`{}` again", shorten(id));
    problem!(at, "every request once", found, "leave one of the two lines out")
}

impl SubmittedTask {
    fn new(answer: AnswerLine, line: u64) -> Self {
        let mut task = Self {
            id: answer.task_id,
            collection: answer.collection,
            contexts: Vec::new(),
            without_score: 0,
            texts: Vec::new(),
            response: answer.predictions.into_iter().next().map(|it| it.text),
            line,
        };
        for context in answer.contexts {
            task.texts.extend(context.text);
            match context.score {
                Some(score) => task.contexts.push((context.document_id, score)),
                None => task.without_score += 1,
            }
        }
        task
    }

    /// The domain of the collection that the line names, if it is not that of its request: the organisers'
    /// scorer looks for the request among those of that domain.
    pub(crate) fn other_domain(&self, of_request: Option<Domain>) -> Option<Domain> {
        let named = Domain::of(self.collection.as_deref()?)?;
        (of_request != Some(named)).then_some(named)
    }
}

impl MtragSubmission {
    /// Reads a submission.
    ///
    /// # Errors
    ///
    /// A line of another form, and a request that is answered twice.
    pub fn read(source: &Source) -> Result<Self, Error> {
        Self::parse(&source.read()?)
    }

    pub(crate) fn parse(input: &FileContent) -> Result<Self, Error> {
        let mut answers = Vec::new();
        let mut seen = HashSet::new();
        strictly(|sink| {
            for_each_filled_line(input, sink, |at, line, sink| {
                match parse_python_json::<AnswerLine>(at, line) {
                    Ok(answer) if seen.insert(key(&answer.task_id)) => {
                        answers.push(SubmittedTask::new(answer, at.1));
                    }
                    Ok(answer) => sink(again(at, &answer.task_id)),
                    Err(problem) => sink(*problem),
                }
            });
        })?;
        Ok(Self { answers })
    }

    /// The rankings as a run, as the organisers' scorer reads them: the last score of a passage counts.
    /// Requests have the ids of `ids`, or else those of the file.
    ///
    /// # Errors
    ///
    /// Passages without scores, in a file without responses.
    pub(crate) fn to_run(
        &self,
        name: &str,
        ids: &HashMap<String, &RequestId>,
    ) -> Result<Run, Error> {
        if let Some(answer) = self.answers.iter().find(|answer| answer.without_score > 0)
            && self.answers.iter().all(|answer| answer.response.is_none())
        {
            let at = (name, answer.line);
            let hint = "passages are ordered by their scores; their place in the list is not read";
            bail!(at, "a number as `score` of each passage", "none", hint);
        }
        let mut run = Run { name: name.to_owned(), ..Run::default() };
        for answer in &self.answers {
            let topic = ids.get(&key(&answer.id)).copied();
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
        Ok(run)
    }
}
