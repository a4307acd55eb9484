//! The checks of the organisers' `format_checker.py`, and problems that it misses.
//!
//! The task of a file is recognised by its first line: with `predictions` and a `Collection` it is C,
//! with `predictions` alone B, and otherwise A. The input that the program compares with is the split.

use crate::answers::{MOST_CONTEXTS, TaskKind};
use crate::domains::Domain;
use crate::folder::tasks_file;
use crate::ids::key;
use crate::opened::Mtrag;
use crate::submission::{again, is_submission};
use crate::tasks::MtragTask;
use clariq_collections::validation::check_run;
use clariq_collections::{Split, Validation};
use clariq_core::{Error, Findings, Location, Problem, count_of, parse_python_json, problem};
use clariq_files::{FileContent, Source, quoted, shorten};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The maximum number of bytes of a submission.
const MOST_BYTES: usize = 20 << 20;

const HINT: &str = "the documentation describes submissions to MTRAGEval (reference, Formats)";

/// Checks a submission or a TREC run over a split.
pub(crate) fn validate(mtrag: &Mtrag, split: Split, source: &Source) -> Result<Validation, Error> {
    let input = source.read()?;
    if !is_submission(&input) {
        return check_run(mtrag, split.name(), source);
    }
    let tasks = mtrag.tasks(split)?;
    let tasks = tasks.iter().map(|task| (key(task.id.as_str()), task)).collect();
    let has_input = tasks_file(&mtrag.data, split).is_some();
    let mut check = SubmissionCheck::new(&input, &tasks, has_input);
    check.check_file();
    check.check_lines();
    check.check_ids();
    Ok(check.finish())
}

struct SubmissionCheck<'a> {
    input: &'a FileContent,
    /// The requests of the split by the key that both spellings of their ids share.
    tasks: &'a HashMap<String, &'a MtragTask>,
    /// True if the ids of the split are those of the program's input, which alone says their spelling.
    has_input: bool,
    task: TaskKind,
    /// The ids of the file, repeated ones included.
    answered: Vec<String>,
    /// Their keys.
    seen: HashSet<String>,
    official: Findings,
    let_through: Findings,
}

impl<'a> SubmissionCheck<'a> {
    fn new(
        input: &'a FileContent,
        tasks: &'a HashMap<String, &'a MtragTask>,
        has_input: bool,
    ) -> Self {
        let objects = input
            .filled_lines()
            .filter_map(|(_, line)| parse_python_json::<Map<String, Value>>("", line).ok());
        let mut predicts = false;
        let mut retrieves = false;
        for line in objects {
            predicts |= line.contains_key("predictions");
            retrieves |= line.contains_key("Collection");
        }
        let task = match (predicts, retrieves) {
            (false, _) => TaskKind::A,
            (true, false) => TaskKind::B,
            (true, true) => TaskKind::C,
        };
        Self {
            input,
            tasks,
            has_input,
            task,
            answered: Vec::new(),
            seen: HashSet::new(),
            official: Findings::default(),
            let_through: Findings::default(),
        }
    }

    fn finish(self) -> Validation {
        let answered = self.seen.iter().filter(|id| self.tasks.contains_key(*id)).count();
        let notes = vec![format!("note: {}: checked as a file of {}", self.input.name, self.task)];
        Validation { notes, ..Validation::new(self.official, self.let_through, answered) }
    }

    /// Adds a problem for which the program refuses the file.
    fn refuse(&mut self, at: &Location, expected: &str, found: &str) {
        self.official.add(Problem::at(at, expected, found).hint(HINT));
    }

    fn check_file(&mut self) {
        let name = &*self.input.name;
        let at = Location::file(name);
        let is_named = Path::new(name).extension().is_some_and(|ending| ending == "jsonl");
        if !is_named && name != "<stdin>" {
            self.refuse(&at, "a file whose name ends in .jsonl", "another name");
        }
        let bytes = self.input.bytes.len();
        if bytes > MOST_BYTES {
            self.refuse(&at, "at most 20 MiB", &format!("{bytes} bytes"));
        }
    }

    fn check_lines(&mut self) {
        let input = self.input;
        for (number, line) in input.filled_lines() {
            let at = Location::line(&*input.name, number);
            match parse_python_json::<Value>(&at, line) {
                Ok(Value::Object(line)) => self.check_line(&at, &line),
                Ok(_) => self.refuse(&at, "an object on each line", "another value"),
                Err(problem) => self.official.add(problem.hint(HINT)),
            }
        }
    }

    fn check_line(&mut self, at: &Location, line: &Map<String, Value>) {
        self.check_text(at, line, "task_id");
        if self.task != TaskKind::B {
            self.check_text(at, line, "Collection");
        }
        if self.task != TaskKind::A {
            self.check_list(at, line, "input");
            self.check_predictions(at, line);
        }
        self.check_contexts(at, line);
        if let Some(Value::String(id)) = line.get("task_id") {
            if !self.seen.insert(key(id)) {
                self.official.add(again(at, id));
            }
            self.check_collection(at, line, id);
            self.answered.push(id.clone());
        }
    }

    /// The scorer looks for a request among those of the domain that `Collection` names.
    fn check_collection(&mut self, at: &Location, line: &Map<String, Value>, id: &str) {
        let Some(task) = self.tasks.get(&key(id)) else { return };
        let Some(collection) = line.get("Collection").and_then(Value::as_str) else { return };
        if Domain::of(collection) != Some(task.domain) {
            let expected =
                format!("a `Collection` of {}, such as `{}`", task.domain.name(), task.collection);
            let hint = "the organisers' scorer would not find the request there";
            self.let_through.add(problem!(at, expected, (quoted(collection)), hint).warning());
        }
    }

    fn check_text(&mut self, at: &Location, line: &Map<String, Value>, field: &str) {
        if !line.get(field).is_some_and(Value::is_string) {
            self.refuse(at, &format!("a text as `{field}`"), describe(line.get(field)));
        }
    }

    fn check_list<'l>(
        &mut self,
        at: &Location,
        line: &'l Map<String, Value>,
        field: &str,
    ) -> Option<&'l Vec<Value>> {
        let list = line.get(field).and_then(Value::as_array);
        if list.is_none() {
            self.refuse(at, &format!("a list as `{field}`"), describe(line.get(field)));
        }
        list
    }

    fn check_contexts(&mut self, at: &Location, line: &Map<String, Value>) {
        let Some(contexts) = self.check_list(at, line, "contexts") else { return };
        if contexts.is_empty() {
            let found = "an empty list";
            let empty = Problem::at(at, "passages in `contexts`", found).hint("none counts as 0");
            self.official.add(empty.warning());
        }
        if contexts.len() > MOST_CONTEXTS {
            let expected = format!("at most {MOST_CONTEXTS} passages in `contexts`");
            self.refuse(at, &expected, &contexts.len().to_string());
        }
        let mut seen = HashSet::new();
        for context in contexts {
            let id = context.get("document_id");
            if !id.is_some_and(Value::is_string) {
                self.refuse(at, "a text as `document_id` of each passage", describe(id));
            }
            let score = context.get("score");
            // In Python, true and false are numbers.
            if !score.is_some_and(|score| score.is_number() || score.is_boolean()) {
                self.refuse(at, "a number as `score` of each passage", describe(score));
            }
            if let Some(id) = id.and_then(Value::as_str)
                && !seen.insert(id)
            {
                let found = format!("`{}` again", shorten(id));
                let hint = "the last score counts";
                self.let_through
                    .add(problem!(at, "every passage of a request once", found, hint).warning());
            }
        }
    }

    fn check_predictions(&mut self, at: &Location, line: &Map<String, Value>) {
        let Some(predictions) = self.check_list(at, line, "predictions") else { return };
        for prediction in predictions {
            let text = prediction.get("text");
            if !text.is_some_and(Value::is_string) {
                self.refuse(at, "a text as `text` of each prediction", describe(text));
            }
        }
        if predictions.is_empty() {
            let hint = "the request has no response";
            let missing = problem!(at, "a response in `predictions`", "an empty list", hint);
            self.let_through.add(missing.warning());
        }
    }

    /// The program wants the ids of its input, letter by letter, and as many lines.
    fn check_ids(&mut self) {
        let at = Location::file(&*self.input.name);
        if self.answered.len() != self.tasks.len() {
            let expected =
                format!("{}, as many as the split has", count_of(self.tasks.len(), "request"));
            self.refuse(&at, &expected, &self.answered.len().to_string());
        }
        let mut missing: Vec<&str> = Vec::new();
        for (key, task) in self.tasks {
            if !self.seen.contains(key) {
                missing.push(task.id.as_str());
            }
        }
        missing.sort_unstable();
        for id in missing {
            self.refuse(&at, "an answer to every request of the split", &format!("none to `{id}`"));
        }
        for id in &self.answered {
            match self.tasks.get(&key(id)) {
                None => {
                    let found = quoted(id);
                    let unknown = Problem::at(&at, "requests of the split", found).hint(HINT);
                    self.official.add(unknown);
                }
                Some(known) if known.id.as_str() != id => {
                    let hint = "the program compares ids with those of its input letter by letter";
                    let found = quoted(id);
                    let spelled = problem!(&at, "ids in the spelling of the split", found, hint);
                    if self.has_input {
                        self.official.add(spelled);
                    } else {
                        self.let_through.add(spelled.warning());
                    }
                }
                Some(_) => {}
            }
        }
    }
}

/// A value for a message.
fn describe(value: Option<&Value>) -> &'static str {
    match value {
        None => "none",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "true or false",
        Some(Value::Number(_)) => "a number",
        Some(Value::String(_)) => "a text",
        Some(Value::Array(_)) => "a list",
        Some(Value::Object(_)) => "an object",
    }
}
