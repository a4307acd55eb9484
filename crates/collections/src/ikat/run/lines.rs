//! The run of 2025: JSON lines, one per turn.

use super::proto::Fallible;
use super::{RankedPassage, RankedStatement, Reference, Response, Submission, SubmittedTurn, keep};
use crate::ikat::topics::Year;
use crate::json::{self, Node};
use clariq_core::{Location, Problem, ProblemKind};
use clariq_files::Input;
use clariq_files::table::Sink;

const HINT: &str = "a line has metadata, turn_id, responses and references";

/// Name, type and team of the run are those of the first line.
pub(super) fn submission(input: &Input, sink: Sink) -> Submission {
    let mut submission = Submission::empty(Year::Y2025);
    let mut any = false;
    json::for_each_line(input, sink, |number, node, sink| {
        any = true;
        let reader = Reader { file: &input.name, line: number };
        let Some((metadata, turn)) = keep(reader.entry(&node), sink) else { return };
        if submission.turns.is_empty() {
            let [team, name, kind] = metadata;
            (submission.team, submission.run_name, submission.run_type) = (team, name, kind);
        }
        submission.turns.push(turn);
    });
    if !any && input.bytes.trim_ascii().is_empty() {
        let at = Location::line(&input.name, 1);
        sink(Problem::new(at, ProblemKind::Empty, "a line for every turn", "nothing").hint(HINT));
    }
    submission
}

/// Whether the first of several lines is a turn.
pub(super) fn is_json_lines(input: &Input) -> bool {
    let text = input.bytes.trim_ascii();
    let Some(end) = text.iter().position(|&byte| byte == b'\n') else { return false };
    let first = str::from_utf8(&text[..end]).ok();
    first.and_then(|line| json::parse_text("", 1, line).ok()).is_some_and(|node| is_entry(&node))
}

/// Whether a value has what every turn of this form has, and no run of another.
pub(super) fn is_entry(node: &Node) -> bool {
    node.get("metadata").is_some() || node.get("references").is_some()
}

struct Reader<'a> {
    file: &'a str,
    line: u64,
}

impl Reader<'_> {
    fn entry(&self, node: &Node) -> Fallible<([String; 3], SubmittedTurn)> {
        let metadata = self.field(node, "metadata")?;
        let [team, name, kind] = ["team_id", "run_id", "run_type"];
        let metadata =
            [self.text(metadata, team)?, self.text(metadata, name)?, self.text(metadata, kind)?];
        let references = self.scores(self.field(node, "references")?)?;
        let responses = match node.get("responses") {
            Some(responses) => self.responses(responses)?,
            None => Vec::new(),
        };
        let id = self.text(node, "turn_id")?;
        Ok((metadata, SubmittedTurn { id, responses, references, line: self.line }))
    }

    fn responses(&self, node: &Node) -> Fallible<Vec<Response>> {
        let items =
            node.list().ok_or_else(|| Box::new(self.unlike(node, "responses as a list")))?;
        items.iter().zip(1..).map(|(item, rank)| self.response(item, rank)).collect()
    }

    fn response(&self, node: &Node, rank: i64) -> Fallible<Response> {
        let rank = match node.get("rank") {
            Some(node) => node
                .integer()
                .ok_or_else(|| Box::new(self.unlike(node, "a whole number as rank")))?,
            None => rank,
        };
        let cited = self.scores(self.field(node, "citations")?)?.into_iter();
        let statements = self.field(node, "ptkb_provenance")?;
        let statements = statements
            .list()
            .ok_or_else(|| Box::new(self.unlike(statements, "statements as a list")))?;
        let cite = |Reference { id, score, line }| RankedPassage {
            id,
            score,
            used: true,
            line,
            text: String::new(),
        };
        Ok(Response {
            rank: i32::try_from(rank)
                .map_err(|_| Box::new(self.unlike(node, "a rank of at most 32 bits")))?,
            text: self.text(node, "text")?,
            passages: cited.map(cite).collect(),
            statements: statements
                .iter()
                .map(|node| self.statement(node))
                .collect::<Fallible<_>>()?,
            line: node.line,
        })
    }

    fn statement(&self, node: &Node) -> Fallible<RankedStatement> {
        let text =
            node.text().ok_or_else(|| Box::new(self.unlike(node, "the text of a statement")))?;
        Ok(RankedStatement { text: text.to_owned(), line: node.line, ..Default::default() })
    }

    /// An object of passage ids and scores.
    fn scores(&self, node: &Node) -> Fallible<Vec<Reference>> {
        let fields = node
            .object()
            .ok_or_else(|| Box::new(self.unlike(node, "an object of passage ids and scores")))?;
        let reference = |(id, node): &(std::borrow::Cow<str>, Node)| {
            let score =
                node.number().ok_or_else(|| Box::new(self.unlike(node, "a score as a number")))?;
            Ok(Reference { id: id.to_string(), score, line: node.line })
        };
        fields.iter().map(reference).collect()
    }

    fn text(&self, node: &Node, key: &str) -> Fallible<String> {
        let value = self.field(node, key)?;
        let text = value
            .text()
            .ok_or_else(|| Box::new(self.unlike(value, format!("`{key}` as a text"))))?;
        Ok(text.to_owned())
    }

    fn field<'n, 'a>(&self, node: &'n Node<'a>, key: &str) -> Fallible<&'n Node<'a>> {
        node.get(key).ok_or_else(|| Box::new(self.unlike(node, format!("a key `{key}`"))))
    }

    fn unlike(&self, node: &Node, expected: impl Into<String>) -> Problem {
        node.unlike(self.file, expected).hint(HINT)
    }
}
