//! Ten million figures in memory: two columns of numbers per metric, and one layout that says where
//! each context and question is in them. Metrics over the same contexts and questions share their
//! layout.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Stands in a column where a figure is absent. A NaN that no computation gives; [`tidy`] keeps
/// others apart.
const ABSENT: f64 = f64::from_bits(0x7ff8_0000_0000_ab5e);

/// All not-a-numbers become the same one, which is not [`ABSENT`].
fn tidy(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}

/// The figures of one question in one context.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Scores {
    /// Without the user's answer to the question; absent from some released tables.
    pub no_answer: Option<f64>,
    /// With the user's answer.
    pub with_answer: Option<f64>,
}

/// A context as the columns know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    Text(u32),
    Number(i64),
}

/// All names, each once.
#[derive(Debug, Clone, Default)]
pub(super) struct Symbols {
    numbers: HashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
}

impl Symbols {
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        if let Some(&symbol) = self.numbers.get(text) {
            return symbol;
        }
        // Each has cost its file a few bytes: more than four thousand million of them do not come
        // in one.
        let symbol = self.texts.len() as u32;
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, symbol);
        symbol
    }

    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    pub(super) fn text(&self, symbol: u32) -> &str {
        &self.texts[symbol as usize]
    }
}

/// Figures in row order; shorter than the rows where the rest is absent.
#[derive(Debug, Clone, Default)]
pub(super) struct Column(Vec<f64>);

impl Column {
    /// Appends the figures of the rows from that one on.
    fn extend(&mut self, mut row: usize, values: impl Iterator<Item = Option<f64>>) {
        for value in values {
            if let Some(value) = value {
                if self.0.len() < row {
                    self.0.resize(row, ABSENT);
                }
                self.0.push(tidy(value));
            }
            row += 1;
        }
    }

    pub(super) fn get(&self, row: usize) -> Option<f64> {
        self.0.get(row).copied().filter(|value| value.to_bits() != ABSENT.to_bits())
    }
}

/// Which row belongs to which context and question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) contexts: Vec<Key>,
    /// The row after each context's last.
    ends: Vec<usize>,
    /// The question of each row.
    pub(super) questions: Vec<u32>,
    /// Positions in `contexts`, by key.
    order: Vec<u32>,
}

impl Layout {
    pub(super) fn find(&self, key: Key) -> Option<usize> {
        let found = self.order.binary_search_by_key(&key, |&at| self.contexts[at as usize]);
        Some(self.order[found.ok()?] as usize)
    }

    pub(super) fn rows(&self, context: usize) -> Range<usize> {
        let start = context.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[context]
    }

    /// Makes [`Layout::find`] possible; the error is a context that is there twice.
    fn sort(&mut self) -> Result<(), Key> {
        let contexts = &self.contexts;
        self.order = (0..contexts.len() as u32).collect();
        self.order.sort_unstable_by_key(|&at| contexts[at as usize]);
        let mut sorted = self.order.iter().map(|&at| contexts[at as usize]);
        let mut last = sorted.next();
        let twice = sorted.find(|&context| last.replace(context) == Some(context));
        twice.map_or(Ok(()), Err)
    }
}

/// The figures of one metric, being collected.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    layout: Layout,
    with_answer: Column,
    no_answer: Column,
}

impl Block {
    pub(super) fn rows(&self) -> usize {
        self.layout.questions.len()
    }

    pub(super) fn contexts(&self) -> usize {
        self.layout.contexts.len()
    }

    /// Appends a context; the error is a question that is there twice.
    pub(super) fn push(&mut self, context: Key, questions: &[(u32, Scores)]) -> Result<(), u32> {
        if let Some(question) = repeated(questions) {
            return Err(question);
        }
        let row = self.rows();
        self.with_answer.extend(row, questions.iter().map(|(_, scores)| scores.with_answer));
        self.no_answer.extend(row, questions.iter().map(|(_, scores)| scores.no_answer));
        self.layout.questions.extend(questions.iter().map(|(question, _)| question));
        self.layout.contexts.push(context);
        self.layout.ends.push(self.rows());
        Ok(())
    }
}

fn repeated(questions: &[(u32, Scores)]) -> Option<u32> {
    // Most contexts have a dozen questions, where comparing all pairs is quickest.
    if questions.len() <= 32 {
        let earlier =
            |at: usize| questions[..at].iter().any(|(question, _)| *question == questions[at].0);
        return (1..questions.len()).find(|&at| earlier(at)).map(|at| questions[at].0);
    }
    let mut sorted: Vec<u32> = questions.iter().map(|(question, _)| *question).collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// The figures of one metric.
#[derive(Debug, Clone)]
pub(super) struct Metric {
    pub(super) name: u32,
    pub(super) layout: Arc<Layout>,
    with_answer: Column,
    no_answer: Column,
}

impl Metric {
    /// Completes a block. The layout is that of an earlier metric where the two are equal.
    pub(super) fn new(name: u32, mut block: Block, earlier: &[Self]) -> Result<Self, Key> {
        block.layout.sort()?;
        let shared =
            earlier.last().map(|metric| &metric.layout).filter(|layout| ***layout == block.layout);
        let layout = shared.map_or_else(|| Arc::new(std::mem::take(&mut block.layout)), Arc::clone);
        block.with_answer.0.shrink_to_fit();
        block.no_answer.0.shrink_to_fit();
        Ok(Self { name, layout, with_answer: block.with_answer, no_answer: block.no_answer })
    }

    pub(super) fn scores(&self, row: usize) -> Scores {
        Scores { no_answer: self.no_answer.get(row), with_answer: self.with_answer.get(row) }
    }

    /// The row of a question in the context of that position.
    pub(super) fn row(&self, context: usize, question: u32) -> Option<usize> {
        let rows = self.layout.rows(context);
        let start = rows.start;
        self.layout.questions[rows].iter().position(|&other| other == question).map(|at| start + at)
    }
}
