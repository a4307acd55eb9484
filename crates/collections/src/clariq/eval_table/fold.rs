//! A pickle's dictionaries, folded into a table.
//!
//! They arrive from the inside out, so each one's level shows in what is put in it: figures make it
//! a question's, questions a context's, contexts a metric's, metrics the table. An empty dictionary
//! can be any of them until its neighbours show which.

use super::{EvalTable, Metric, Symbols};
use clariq_pickle::{Dict, Rows, Sink, Value};
use indexmap::IndexMap;
use std::rc::Rc;

/// Rows that a pickle may repeat by reference without paying for them in bytes; a few bytes could
/// otherwise unfold to any size.
const FREE_ROWS: usize = 1 << 20;
/// Rows that every item may repeat on top of that: more than a context has questions.
const ROWS_PER_ITEM: usize = 32;

/// The name of a question's figure is the first symbol, so that no text is compared.
const WITH_ANSWER: u32 = 0;

/// A key of a dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Text(u32),
    Number(i64),
}

/// The sink that builds a table.
pub(super) struct Tables {
    symbols: Symbols,
    items: usize,
    repeated: usize,
}

impl Default for Tables {
    fn default() -> Self {
        let symbols = Symbols::from(["with_answer".into()]);
        Self { symbols, items: 0, repeated: 0 }
    }
}

/// A dictionary of the table.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// Nothing yet, or nothing but dictionaries that are empty to the bottom.
    Hollow(Vec<(Key, Node)>),
    /// Its figure, which is not a number where there is none.
    Question(f64),
    Context(Vec<(u32, f64)>),
    Metric(Box<Metric>),
    Table(IndexMap<u32, Metric>),
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
            QUESTION => Self::Question(f64::NAN),
            1 => Self::Context(Vec::new()),
            2 => Self::Metric(Box::default()),
            _ => Self::Table(IndexMap::new()),
        }
    }

    /// How much a copy costs, in rows.
    fn weight(&self) -> usize {
        match self {
            Self::Hollow(items) => items.iter().fold(1, |sum, (_, node)| sum + node.weight()),
            Self::Question(_) => 1,
            Self::Context(questions) => 1 + questions.len(),
            Self::Metric(metric) => 1 + metric.contexts.len() + metric.rows.len(),
            Self::Table(metrics) => {
                let sizes =
                    metrics.values().map(|metric| metric.contexts.len() + metric.rows.len());
                1 + sizes.sum::<usize>()
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
            Value::Float(value) if value.is_nan() => {
                Err("a figure that is not a number".to_owned())
            }
            Value::Float(value) => self.score(dict, key, value),
            Value::Int(value) => self.score(dict, key, value as f64),
            Value::None => self.score(dict, key, f64::NAN),
            other => Err(format!("{} in place of a figure or a dictionary", other.kind())),
        }
    }

    fn insert_rows(&mut self, dict: &mut Node, rows: &Rows<Node>) -> bool {
        if matches!(dict, Node::Hollow(items) if items.is_empty()) {
            *dict = Node::Context(Vec::new());
        }
        let Node::Context(questions) = dict else { return false };
        let (start, items) = (questions.len(), self.items);
        questions.reserve(rows.len());
        // First the figures of all rows, then their keys: in this order they come one by one.
        for (_, figures) in rows.iter() {
            let mut with_answer = f64::NAN;
            for (name, figure) in figures {
                if figure.is_nan() {
                    // It is refused, and named, where the items are inserted one by one.
                    questions.truncate(start);
                    self.items = items;
                    return false;
                }
                if name.tag(|text| self.symbol(text)) == WITH_ANSWER {
                    with_answer = figure;
                }
                self.items += 1;
            }
            questions.push((WITH_ANSWER, with_answer));
        }
        for ((question, _), row) in rows.iter().zip(&mut questions[start..]) {
            row.0 = question.tag(|text| self.symbol(text));
            self.items += 1;
        }
        true
    }
}

impl Tables {
    fn key(&mut self, key: &Value<Node>) -> Result<Key, String> {
        match key {
            Value::Text(text) => Ok(Key::Text(text.tag(|text| self.symbol(text)))),
            Value::Int(number) => Ok(Key::Number(*number)),
            other => Err(format!("{} in place of an id", other.kind())),
        }
    }

    fn symbol(&mut self, text: &str) -> u32 {
        // Each has cost its file a few bytes: more than four thousand million of them do not come
        // in one.
        let known = self.symbols.get_index_of(text);
        known.unwrap_or_else(|| self.symbols.insert_full(text.into()).0) as u32
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

    fn score(&mut self, dict: &mut Node, key: Key, value: f64) -> Result<(), String> {
        self.settle(dict, QUESTION)?;
        let Key::Text(name) = key else {
            return Err("a number in place of `with_answer`".to_owned());
        };
        // Whatever else a table says of a question, no figure depends on it.
        if let (Node::Question(figure), WITH_ANSWER) = (dict, name) {
            *figure = value;
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
            (Node::Context(questions), Key::Text(question), Node::Question(figure)) => {
                questions.push((question, figure));
            }
            (Node::Metric(metric), key, Node::Context(questions)) => {
                if let Some(question) = repeated(&questions) {
                    return Err(self.twice("question", Key::Text(question)));
                }
                let start = metric.rows.len();
                metric.rows.extend(questions);
                if metric.contexts.insert(key, start..metric.rows.len()).is_some() {
                    return Err(self.twice("context", key));
                }
            }
            (Node::Table(metrics), Key::Text(name), Node::Metric(mut metric)) => {
                metric.rows.shrink_to_fit();
                if metrics.insert(name, *metric).is_some() {
                    return Err(self.twice("metric", key));
                }
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
                format!("the {what} `{}` twice in one dictionary", self.symbols[symbol as usize])
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
        let Node::Table(metrics) = whole else { return Err("no dictionary of metrics".to_owned()) };
        Ok(EvalTable { symbols: self.symbols, metrics })
    }
}

fn repeated(questions: &[(u32, f64)]) -> Option<u32> {
    let mut sorted: Vec<u32> = questions.iter().map(|(question, _)| *question).collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_pickle::{Plan, fold};
    use proptest::prelude::*;
    use std::io::{self, Read};

    /// Gives at most so many bytes at once.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(buffer.len());
            self.0.read(&mut buffer[..count])
        }
    }

    /// The table of a pickle, or the error; and how many slots the machine keeps.
    fn read(bytes: &[u8], piece: usize) -> (Result<String, String>, usize) {
        let plan = match Plan::scan(Pieces(bytes, piece)) {
            Ok(plan) => plan,
            Err(error) => return (Err(error.to_string()), 0),
        };
        let mut tables = Tables::default();
        let whole = fold(Pieces(bytes, piece), &plan, &mut tables);
        let table = whole.map_err(|error| error.to_string());
        let table = table.and_then(|whole| tables.finish(whole));
        (table.map(|table| format!("{:?} {:?}", table.symbols, table.metrics)), plan.kept())
    }

    /// Six texts in the first slots of the memo.
    fn texts() -> Vec<u8> {
        let mut bytes = b"\x80\x04".to_vec();
        for text in ["with_answer", "no_answer", "Q1", "Q2", "Q3", "P1"] {
            bytes.extend([0x8c, text.len() as u8]);
            bytes.extend(text.as_bytes());
            bytes.extend(b"\x940");
        }
        bytes
    }

    fn memo() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            8 => Just(vec![0x94]),
            2 => Just(vec![]),
            1 => (0_u8..20).prop_map(|slot| vec![b'q', slot]),
            1 => (0_u8..20).prop_map(|slot| vec![b'r', slot, 0, 0, 0]),
        ]
    }

    fn get(slots: std::ops::Range<u8>) -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            slots.clone().prop_map(|slot| vec![b'h', slot]),
            slots.prop_map(|slot| vec![b'j', slot, 0, 0, 0])
        ]
    }

    fn odd() -> impl Strategy<Value = Vec<u8>> {
        let bytes = b"()}]NKhGus0a12e.t\x94\x88";
        prop::collection::vec(prop::sample::select(&bytes[..]), 0..4)
    }

    /// Mostly a sound row, of one figure without a mark or of several behind one.
    fn row() -> impl Strategy<Value = Vec<u8>> {
        let figure = (get(0..2), any::<f64>()).prop_map(|(mut name, value)| {
            name.push(b'G');
            name.extend(value.to_be_bytes());
            name
        });
        let sound = (get(2..5), memo(), prop::collection::vec(figure, 1..4)).prop_map(
            |(key, memo, figures)| {
                let (open, close): (&[u8], &[u8]) =
                    if figures.len() == 1 { (b"", b"s") } else { (b"(", b"u") };
                [&key[..], b"}", &memo, open, &figures.concat(), close].concat()
            },
        );
        prop_oneof![30 => sound, 1 => odd(), 1 => get(0..20)]
    }

    fn pickle() -> impl Strategy<Value = Vec<u8>> {
        let context = (0_u8..6, memo(), prop::collection::vec(row(), 0..5)).prop_map(
            |(number, memo, rows)| {
                [&[b'K', number, b'}'], &memo[..], b"(", &rows.concat(), b"u"].concat()
            },
        );
        (prop::collection::vec(context, 0..4), odd()).prop_map(|(contexts, odd)| {
            [&texts()[..], b"}(h\x05}(", &contexts.concat(), b"u", &odd, b"u."].concat()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn where_the_bytes_are_cut_makes_no_difference(bytes in pickle(), piece in 2_usize..60) {
            let one_by_one = read(&bytes, 1);
            prop_assert_eq!(&read(&bytes, piece), &one_by_one);
            prop_assert_eq!(&read(&bytes, usize::MAX), &one_by_one);
        }
    }
}
