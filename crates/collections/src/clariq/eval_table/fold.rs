//! A pickle's dictionaries, folded into columns.
//!
//! They arrive from the inside out, so each one's level shows in what is put in it: figures make it a question's,
//! questions a context's, contexts a metric's, metrics the table. An empty dictionary can be any of them until its
//! neighbours show which.

use super::columns::{Block, Key, Scores, Symbols};
use super::{Builder, EvalTable};
use clariq_pickle::{Dict, Sink, Value};
use std::rc::Rc;

/// Rows that a pickle may repeat by reference without paying for them in bytes; a few bytes could otherwise unfold
/// to any size.
const FREE_ROWS: usize = 1 << 20;
/// Rows that every item may repeat on top of that: more than a context has questions.
const ROWS_PER_ITEM: usize = 32;

/// The sink that builds a table.
#[derive(Default)]
pub(super) struct Tables {
    symbols: Symbols,
    items: usize,
    repeated: usize,
}

/// A dictionary of the table.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// Nothing yet, or nothing but dictionaries that are empty to the bottom.
    Hollow(Vec<(Key, Node)>),
    Question(Scores),
    Context(Vec<(u32, Scores)>),
    Metric(Box<Block>),
    Table(Vec<(u32, Block)>),
}

impl Default for Node {
    fn default() -> Self {
        Self::Hollow(Vec::new())
    }
}

const QUESTION: u8 = 0;
const TABLE: u8 = 3;

impl Node {
    fn level(&self) -> Option<u8> {
        match self {
            Self::Hollow(_) => None,
            Self::Question(_) => Some(QUESTION),
            Self::Context(_) => Some(1),
            Self::Metric(_) => Some(2),
            Self::Table(_) => Some(TABLE),
        }
    }

    fn empty(level: u8) -> Self {
        match level {
            QUESTION => Self::Question(Scores::default()),
            1 => Self::Context(Vec::new()),
            2 => Self::Metric(Box::default()),
            _ => Self::Table(Vec::new()),
        }
    }

    /// How much a copy costs, in rows.
    fn weight(&self) -> usize {
        match self {
            Self::Hollow(items) => items.iter().fold(1, |sum, (_, node)| sum + node.weight()),
            Self::Question(_) => 1,
            Self::Context(questions) => 1 + questions.len(),
            Self::Metric(block) => 1 + block.contexts() + block.rows(),
            Self::Table(metrics) => {
                metrics.iter().fold(1, |sum, (_, block)| sum + block.contexts() + block.rows())
            }
        }
    }
}

impl Sink for Tables {
    type Dict = Node;

    fn insert(
        &mut self,
        dict: &mut Node,
        key: &Value<Node>,
        value: Value<Node>,
    ) -> Result<(), String> {
        self.items += 1;
        let key = self.key(key)?;
        match value {
            Value::Dict(inner) => {
                let inner = self.take(inner)?;
                self.nest(dict, key, inner)
            }
            Value::Float(value) => self.score(dict, key, Some(value)),
            Value::Int(value) => self.score(dict, key, Some(value as f64)),
            Value::None => self.score(dict, key, None),
            other => Err(format!("{} in place of a figure or a dictionary", other.kind())),
        }
    }
}

impl Tables {
    fn key(&mut self, key: &Value<Node>) -> Result<Key, String> {
        match key {
            Value::Text(text) => Ok(Key::Text(text.tag(|text| self.symbols.intern(text)))),
            Value::Int(number) => Ok(Key::Number(*number)),
            other => Err(format!("{} in place of an id", other.kind())),
        }
    }

    /// The content of a dictionary: moved, or copied where the pickle will refer to it again.
    fn take(&mut self, dict: Rc<Dict<Node>>) -> Result<Node, String> {
        dict.take().or_else(|shared| {
            let node = shared.content();
            self.repeated = self.repeated.saturating_add(node.weight());
            let allowed = FREE_ROWS.saturating_add(self.items.saturating_mul(ROWS_PER_ITEM));
            if self.repeated > allowed {
                return Err(
                    "dictionaries that unfold to far more than the size of the file".to_owned()
                );
            }
            Ok(node.clone())
        })
    }

    fn score(&mut self, dict: &mut Node, key: Key, value: Option<f64>) -> Result<(), String> {
        self.settle(dict, QUESTION)?;
        let Key::Text(name) = key else {
            return Err("a number in place of `with_answer`".to_owned());
        };
        if let Node::Question(scores) = dict {
            match self.symbols.text(name) {
                "with_answer" => scores.with_answer = value,
                "no_answer" => scores.no_answer = value,
                // Whatever else a table says of a question, no figure depends on it.
                _ => {}
            }
        }
        Ok(())
    }

    fn nest(&mut self, dict: &mut Node, key: Key, mut inner: Node) -> Result<(), String> {
        match (inner.level(), dict.level()) {
            (Some(TABLE), _) => {
                return Err("dictionaries nested deeper than metric, context, question".to_owned());
            }
            (Some(level), _) => self.settle(dict, level + 1)?,
            (None, Some(level)) => {
                let level = level.checked_sub(1).ok_or("a dictionary in place of a figure")?;
                self.settle(&mut inner, level)?;
            }
            (None, None) => {}
        }
        self.put(dict, key, inner)
    }

    /// Makes a dictionary one of that level, if it can be.
    fn settle(&mut self, dict: &mut Node, level: u8) -> Result<(), String> {
        match dict {
            Node::Hollow(items) => {
                if level == QUESTION && !items.is_empty() {
                    return Err("both dictionaries and figures in one dictionary".to_owned());
                }
                let items = std::mem::take(items);
                *dict = Node::empty(level);
                for (key, mut inner) in items {
                    self.settle(&mut inner, level - 1)?;
                    self.put(dict, key, inner)?;
                }
                Ok(())
            }
            other if other.level() == Some(level) => Ok(()),
            _ => Err("dictionaries of different levels side by side".to_owned()),
        }
    }

    /// Puts a dictionary in one of the level above.
    fn put(&mut self, dict: &mut Node, key: Key, inner: Node) -> Result<(), String> {
        match (dict, key, inner) {
            (Node::Hollow(items), key, inner @ Node::Hollow(_)) => items.push((key, inner)),
            (Node::Context(questions), Key::Text(question), Node::Question(scores)) => {
                questions.push((question, scores));
            }
            (Node::Metric(block), key, Node::Context(questions)) => {
                block
                    .push(key, &questions)
                    .map_err(|twice| self.twice("question", Key::Text(twice)))?;
            }
            (Node::Table(metrics), Key::Text(name), Node::Metric(block)) => {
                metrics.push((name, *block));
            }
            (Node::Context(_), ..) => return Err("a number in place of a question id".to_owned()),
            (Node::Table(_), ..) => return Err("a number in place of a metric".to_owned()),
            _ => return Err("dictionaries of different levels side by side".to_owned()),
        }
        Ok(())
    }

    fn twice(&self, what: &str, key: Key) -> String {
        match key {
            Key::Text(symbol) => {
                format!("the {what} `{}` twice in one dictionary", self.symbols.text(symbol))
            }
            Key::Number(number) => format!("the {what} {number} twice in one dictionary"),
        }
    }

    /// The table that the pickle as a whole is.
    pub(super) fn finish(mut self, whole: Value<Node>) -> Result<EvalTable, String> {
        let Value::Dict(whole) = whole else {
            return Err(format!("{} in place of a dictionary", whole.kind()));
        };
        let mut whole = self.take(whole)?;
        self.settle(&mut whole, TABLE)?;
        let Node::Table(blocks) = whole else { return Err("no dictionary of metrics".to_owned()) };
        Builder::from_blocks(std::mem::take(&mut self.symbols), blocks).finish()
    }
}
