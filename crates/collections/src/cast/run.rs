//! Runs of the mixed-initiative task of 2022: one JSON object with the ranked questions of every
//! turn.

use crate::json::{self, Node};
use clariq_core::{Error, Problem, QuestionId, TopicId};
use clariq_files::table::{Sink, strictly};
use clariq_files::{Input, Source, Target};
use serde_json::json;
use std::io::{self, Write};

const HINT: &str = "a run is {\"run_name\": \"…\", \"turns\": [{\"turn_id\": \"…\", \"questions\": [{\"question\": \"…\", \"score\": …}]}]}";

/// A ranking of the pool for every turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuestionRun {
    /// The name of the run.
    pub name: String,
    /// The turns in file order.
    pub turns: Vec<QuestionTurn>,
}

/// The ranking of one turn.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionTurn {
    /// The turn, `132_1-1`.
    pub id: TopicId,
    /// Questions with their scores, in file order.
    pub questions: Vec<(QuestionId, f64)>,
}

impl QuestionRun {
    /// Reads a run; the first problem is the error.
    pub fn read(source: &Source) -> Result<Self, Error> {
        let input = source.read()?;
        strictly(|sink| Self::parse(&input, sink))
    }

    /// Reads what can be read: every problem goes to `sink`, and its turn is left out.
    pub fn parse(input: &Input, sink: Sink) -> Self {
        let mut run = Self::default();
        let file = &input.name;
        let root = match json::parse(input) {
            Ok(root) => root,
            Err(problem) => {
                sink(*problem);
                return run;
            }
        };
        let Some(turns) = root.get("turns").and_then(Node::list) else {
            sink(root.unlike(file, "a run with a list `turns`").hint(HINT));
            return run;
        };
        match text(file, &root, "run_name") {
            Ok(name) => name.clone_into(&mut run.name),
            Err(problem) => sink(*problem),
        }
        for node in turns {
            match turn(file, node) {
                Ok(turn) => run.turns.push(turn),
                Err(problem) => sink(*problem),
            }
        }
        run
    }

    /// Writes the run, atomically where the target is a file.
    pub fn write(&self, target: &Target) -> Result<(), Error> {
        target.write(|out| self.put(out))
    }

    /// Writes the run to anything that can be written to, a turn on a line. A score that is not
    /// finite is an error.
    pub fn put(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"run_name\": {}, \"turns\": [", json!(self.name))?;
        for (index, QuestionTurn { id, questions }) in self.turns.iter().enumerate() {
            if let Some((_, score)) = questions.iter().find(|(_, score)| !score.is_finite()) {
                let message = format!("a score is not finite: {score}");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            let questions: Vec<_> = questions
                .iter()
                .map(|(question, score)| json!({"question": question, "score": score}))
                .collect();
            let comma = if index == 0 { "" } else { "," };
            write!(out, "{comma}\n{}", json!({"turn_id": id, "questions": questions}))?;
        }
        out.write_all(b"\n]}\n")
    }
}

fn turn(file: &str, node: &Node) -> Result<QuestionTurn, Box<Problem>> {
    let id = text(file, node, "turn_id")?.into();
    let questions = node
        .get("questions")
        .and_then(Node::list)
        .ok_or_else(|| node.unlike(file, "a turn with a list `questions`").hint(HINT))?;
    let question = |node: &Node| {
        let score = node.get("score").and_then(Node::number).filter(|score| score.is_finite());
        let score = score.ok_or_else(|| node.unlike(file, "a question with a finite score"));
        Ok((text(file, node, "question")?.into(), score.map_err(|problem| problem.hint(HINT))?))
    };
    let questions = questions.iter().map(question).collect::<Result<_, Box<Problem>>>()?;
    Ok(QuestionTurn { id, questions })
}

fn text<'n>(file: &str, node: &'n Node, key: &str) -> Result<&'n str, Box<Problem>> {
    let value = node.get(key).and_then(Node::text);
    value.ok_or_else(|| Box::new(node.unlike(file, format!("a text `{key}`")).hint(HINT)))
}
