//! Tables of results: a header, and rows of typed cells.

use clariq_core::{fixed, printable};
use std::path::Path;

#[derive(Debug, Clone)]
pub(crate) enum Cell {
    Text(String),
    Count(u64),
    /// A number and the digits that are shown of it where a person reads.
    Number(f64, usize),
    /// A number that counts fewer documents than its name says.
    Short(f64, usize),
    Probability(f64),
    /// The ends of an interval, and their digits.
    Between([f64; 2], usize),
    /// A number of a table for a paper.
    Compared(ComparedNumber),
    Mark(bool),
    Nothing,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Names with commas between them.
    pub(crate) fn list<T: ToString>(names: &[T]) -> Self {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        if names.is_empty() { Self::Nothing } else { Self::Text(names.join(", ")) }
    }

    pub(crate) fn path(path: &Path) -> Self {
        Self::Text(path.display().to_string())
    }

    pub(crate) fn count(count: usize) -> Self {
        Self::Count(count as u64)
    }

    /// The text for a terminal. The content of a file cannot move the cursor.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(text) => printable(text, usize::MAX).into_owned(),
            Self::Count(count) => count.to_string(),
            Self::Number(number, digits) => fixed(*number, *digits),
            Self::Short(number, digits) => format!("{}°", fixed(*number, *digits)),
            Self::Compared(number) => fixed(number.value, number.digits),
            Self::Between([low, high], digits) => {
                format!("{} to {}", fixed(*low, *digits), fixed(*high, *digits))
            }
            Self::Probability(p) if *p < 0.001 => "<.001".to_owned(),
            Self::Probability(p) => format!("{p:.3}"),
            Self::Mark(marked) => if *marked { "*" } else { "" }.to_owned(),
            Self::Nothing => "-".to_owned(),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ComparedNumber {
    pub(crate) value: f64,
    pub(crate) digits: usize,
    pub(crate) is_best: bool,
    /// Significantly better or worse than the baseline.
    pub(crate) direction: Option<Direction>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Better,
    Worse,
}

pub(crate) struct Sheet {
    /// A title, printed above the table if there are several.
    pub(crate) title: Option<String>,
    /// A caption, for forms that have one.
    pub(crate) caption: Option<String>,
    /// The groups of its columns, each with the number of columns, for forms that show them.
    pub(crate) groups: Vec<(String, usize)>,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Sheet {
    pub(crate) fn new<T: ToString>(header: &[T]) -> Self {
        let header = header.iter().map(ToString::to_string).collect();
        Self { title: None, caption: None, groups: Vec::new(), header, rows: Vec::new() }
    }

    /// A table of one row, each value under its name.
    pub(crate) fn of<const N: usize>(cells: [(&str, Cell); N]) -> Self {
        let (header, row): (Vec<&str>, Vec<Cell>) = cells.into_iter().unzip();
        Self { rows: vec![row], ..Self::new(&header) }
    }

    /// True if a column contains texts, which are aligned to the left.
    pub(super) fn is_text(&self, column: usize) -> bool {
        self.rows.iter().any(|row| matches!(row.get(column), Some(Cell::Text(_))))
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }
}

/// A negative zero as zero.
pub(super) fn without_sign(number: f64) -> f64 {
    number + 0.0
}
