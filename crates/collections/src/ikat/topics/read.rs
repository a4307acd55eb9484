//! The three forms of topics, read into one.

use super::{Conversation, Topics, Turn, Year};
use crate::json::{self, Node, Value};
use clariq_core::{Problem, ProblemKind, TopicId};
use clariq_files::Input;
use clariq_files::table::{Sink, shorten};
use std::collections::{HashMap, HashSet};

const HINT: &str =
    "topics are the JSON files that the track releases, such as 2023_test_topics.json";

/// The names of the fields, which 2025 changed.
struct Keys {
    turns: &'static str,
    utterance: &'static str,
    relevant: &'static str,
    citations: &'static str,
}

const KEYS: Keys = Keys {
    turns: "turns",
    utterance: "utterance",
    relevant: "ptkb_provenance",
    citations: "response_provenance",
};

const KEYS_2025: Keys = Keys {
    turns: "responses",
    utterance: "user_utterance",
    relevant: "relevant_ptkbs",
    citations: "citations",
};

type Fallible<T> = Result<T, Box<Problem>>;

pub(super) fn topics(input: &Input, sink: Sink) -> Topics {
    let mut topics =
        Topics { name: input.name.clone(), year: Year::Y2023, conversations: Vec::new() };
    let root = match json::parse(input) {
        Ok(root) => root,
        Err(problem) => {
            sink(*problem);
            return topics;
        }
    };
    let Some(items) = root.list() else {
        sink(root.unlike(&input.name, "a list of conversations").hint(HINT));
        return topics;
    };
    topics.year = items.first().map_or(Year::Y2023, year_of);
    let mut seen: HashMap<String, u64> = HashMap::new();
    for item in items {
        let mut reader = Reader { file: &input.name, year: topics.year, warnings: Vec::new() };
        match reader.conversation(item, &mut seen) {
            Ok(conversation) => topics.conversations.push(conversation),
            Err(problem) => sink(*problem),
        }
        reader.warnings.into_iter().for_each(&mut *sink);
    }
    topics
}

/// The year whose form a conversation has.
fn year_of(conversation: &Node) -> Year {
    if conversation.get(KEYS_2025.turns).is_some() {
        Year::Y2025
    } else if conversation.get("number").is_some_and(|number| number.integer().is_some()) {
        Year::Y2024
    } else {
        Year::Y2023
    }
}

struct Reader<'a> {
    file: &'a str,
    year: Year,
    warnings: Vec<Problem>,
}

impl Reader<'_> {
    fn conversation(
        &mut self,
        node: &Node,
        seen: &mut HashMap<String, u64>,
    ) -> Fallible<Conversation> {
        if node.object().is_none() {
            return Err(Box::new(self.unlike(node, "a conversation as an object")));
        }
        if year_of(node) != self.year {
            let found = format!("one of {}", year_of(node));
            let expected = format!("a conversation in the form of {}, as the first one", self.year);
            let problem = node.problem(self.file, ProblemKind::Contradiction, expected, found);
            return Err(Box::new(
                problem.hint("the years have different forms: keep them in files of their own"),
            ));
        }
        let number = self.number(node)?;
        if let Some(first) = seen.insert(number.clone(), node.line) {
            let found = format!("`{number}`, which begins on line {first} already");
            let kind = ProblemKind::DuplicateId;
            let problem = node.problem(self.file, kind, "a number that is unique", found);
            return Err(Box::new(problem.hint("remove one of the two, or give it a new number")));
        }
        let title = node.get("title").and_then(Node::text).unwrap_or_default().to_owned();
        let statements = self.statements(node)?;
        let turns = self.turns(node, &number, &statements)?;
        Ok(Conversation { number, title, statements, turns, line: node.line })
    }

    fn number(&self, node: &Node) -> Fallible<String> {
        let number = self.field(node, "number")?;
        let name = match number.value {
            Value::Number(text) if number.integer().is_some() => text.to_owned(),
            Value::Text(ref text) => text.to_string(),
            _ => return Err(Box::new(self.unlike(number, "a number such as `9-1` or 3"))),
        };
        // A turn is called `<number>_<turn>`: more of these characters would make that ambiguous.
        if name.is_empty() || name.contains(|c: char| c == '_' || c.is_whitespace()) {
            return Err(Box::new(self.unlike(number, "a number without blanks and without `_`")));
        }
        Ok(name)
    }

    fn statements(&mut self, node: &Node) -> Fallible<Vec<String>> {
        let ptkb = self.field(node, "ptkb")?;
        let statements = match &ptkb.value {
            Value::List(items) => {
                items.iter().map(|item| self.text(item)).collect::<Fallible<Vec<_>>>()?
            }
            Value::Object(fields) => self.numbered_statements(ptkb, fields)?,
            _ => return Err(Box::new(self.unlike(ptkb, "statements as an object or a list"))),
        };
        let mut seen = HashSet::new();
        for statement in &statements {
            if !seen.insert(statement) {
                let found = format!("`{}` again", shorten(statement));
                self.warn(ptkb, ProblemKind::DuplicateId, "statements that differ", found);
            }
        }
        Ok(statements)
    }

    /// Statements by number, `"1"` to `"n"` in any order.
    fn numbered_statements(
        &self,
        ptkb: &Node,
        fields: &[(std::borrow::Cow<str>, Node)],
    ) -> Fallible<Vec<String>> {
        let mut statements = vec![None; fields.len()];
        for (key, value) in fields {
            let index = key.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let Some(slot) = index.and_then(|index| statements.get_mut(index)) else {
                let expected = format!("numbers from 1 to {} for {0} statements", fields.len());
                let found = format!("`{}`", shorten(key));
                let problem = value.problem(self.file, ProblemKind::NotANumber, expected, found);
                return Err(Box::new(
                    problem.hint("labels name statements by number: number them without gaps"),
                ));
            };
            *slot = Some(self.text(value)?);
        }
        let whole: Option<Vec<String>> = statements.into_iter().collect();
        // Two spellings of one number, such as `1` and `01`, leave another one without a text.
        whole.ok_or_else(|| Box::new(self.unlike(ptkb, "every number once, from 1")))
    }

    fn turns(
        &mut self,
        node: &Node,
        conversation: &str,
        statements: &[String],
    ) -> Fallible<Vec<Turn>> {
        let key = self.keys().turns;
        let turns = self.field(node, key)?;
        let Some(items) = turns.list() else {
            return Err(Box::new(self.unlike(turns, format!("`{key}` as a list of turns"))));
        };
        let mut read: Vec<Turn> = Vec::with_capacity(items.len());
        for item in items {
            let turn = self.turn(item, conversation, statements)?;
            let last = read.last().map_or(0, |last| last.number);
            if turn.number <= last {
                let found = format!("{} after {last}", turn.number);
                let kind = ProblemKind::Contradiction;
                let problem = item.problem(self.file, kind, "turn numbers that rise", found);
                return Err(Box::new(
                    problem.hint("what was said before a turn is read from the order of the turns"),
                ));
            }
            if turn.number != last + 1 {
                let found = format!("{} after {last}", turn.number);
                self.warn(item, ProblemKind::Contradiction, "turn numbers without gaps", found);
            }
            read.push(turn);
        }
        Ok(read)
    }

    fn turn(&mut self, node: &Node, conversation: &str, statements: &[String]) -> Fallible<Turn> {
        let number = self.field(node, "turn_id")?;
        let Some(index) = number.integer().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0)
        else {
            return Err(Box::new(self.unlike(number, "a turn number from 1")));
        };
        let id = format!("{conversation}_{index}");
        let utterance = self.text(self.field(node, self.keys().utterance)?)?;
        let resolved = self.optional_text(node, "resolved_utterance")?;
        for (what, text) in [("an utterance", &utterance), ("a resolved utterance", &resolved)] {
            if text.trim().is_empty() {
                let found = format!("nothing in turn {id}");
                self.warn(node, ProblemKind::EmptyField, what, found);
            }
        }
        Ok(Turn {
            id: TopicId::from(id.as_str()),
            number: index,
            utterance,
            resolved,
            response: self.optional_text(node, "response")?,
            relevant_statements: self.relevant(node, &id, statements)?,
            citations: self.citations(node, &id)?,
            line: node.line,
        })
    }

    /// Labels of statements, by number or, in 2025, by text.
    fn relevant(
        &mut self,
        node: &Node,
        turn: &str,
        statements: &[String],
    ) -> Fallible<Option<Vec<u32>>> {
        let key = self.keys().relevant;
        let Some(labels) = node.get(key) else { return Ok(None) };
        let Some(items) = labels.list() else {
            return Err(Box::new(self.unlike(labels, format!("`{key}` as a list"))));
        };
        let mut relevant = Vec::with_capacity(items.len());
        for item in items {
            let number = match &item.value {
                Value::Text(text) => {
                    statements.iter().position(|known| known == text).map(|n| n + 1)
                }
                _ => item.integer().and_then(|n| usize::try_from(n).ok()),
            };
            let Some(number) = number.filter(|n| (1..=statements.len()).contains(n)) else {
                let expected = format!("one of the {} statements of this user", statements.len());
                let kind = ProblemKind::UnknownId;
                let problem = item.problem(self.file, kind, expected, item.describe());
                return Err(Box::new(
                    problem.hint("a label that names no statement counts against every system"),
                ));
            };
            if relevant.contains(&(number as u32)) {
                let found = format!("statement {number} twice in turn {turn}");
                self.warn(item, ProblemKind::DuplicateId, "every statement once", found);
            } else {
                relevant.push(number as u32);
            }
        }
        Ok(Some(relevant))
    }

    fn citations(&mut self, node: &Node, turn: &str) -> Fallible<Option<Vec<String>>> {
        let key = self.keys().citations;
        let Some(citations) = node.get(key) else { return Ok(None) };
        let Some(items) = citations.list() else {
            return Err(Box::new(
                self.unlike(citations, format!("`{key}` as a list of passage ids")),
            ));
        };
        let mut passages: Vec<String> = Vec::with_capacity(items.len());
        for item in items {
            let passage = self.text(item)?;
            if passages.contains(&passage) {
                let found = format!("`{}` twice in turn {turn}", shorten(&passage));
                self.warn(item, ProblemKind::DuplicateId, "every cited passage once", found);
            } else {
                passages.push(passage);
            }
        }
        Ok(Some(passages))
    }

    fn keys(&self) -> &'static Keys {
        if self.year == Year::Y2025 { &KEYS_2025 } else { &KEYS }
    }

    fn field<'n, 'a>(&self, node: &'n Node<'a>, key: &str) -> Fallible<&'n Node<'a>> {
        node.get(key).ok_or_else(|| Box::new(self.unlike(node, format!("a key `{key}`"))))
    }

    fn text(&self, node: &Node) -> Fallible<String> {
        node.text().map(str::to_owned).ok_or_else(|| Box::new(self.unlike(node, "a text")))
    }

    fn optional_text(&self, node: &Node, key: &str) -> Fallible<String> {
        node.get(key).map_or(Ok(String::new()), |node| self.text(node))
    }

    fn unlike(&self, node: &Node, expected: impl Into<String>) -> Problem {
        node.unlike(self.file, expected).hint(HINT)
    }

    fn warn(&mut self, node: &Node, kind: ProblemKind, expected: &str, found: String) {
        let problem = node.problem(self.file, kind, expected, found);
        self.warnings
            .push(problem.hint("nothing has to be done: this changes no figure").warning());
    }
}
