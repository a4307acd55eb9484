//! Tables that are wider than a terminal: comfy-table wraps their texts, and columns without room stand
//! below each other.

use super::sheet::{Cell, Sheet};
use super::terminal::LEAST_ROOM;
use std::mem;

/// The columns between two columns.
pub(super) const GAP: u16 = 2;

/// The texts of a table.
pub(super) struct TextGrid {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// True for columns of texts.
    pub(super) is_text: Vec<bool>,
}

impl TextGrid {
    pub(super) fn of(sheet: &Sheet) -> Self {
        Self {
            header: sheet.header.clone(),
            rows: sheet.rows.iter().map(|row| row.iter().map(Cell::shown).collect()).collect(),
            is_text: (0..sheet.header.len()).map(|column| sheet.is_text(column)).collect(),
        }
    }

    /// The table, or several that all begin with its first texts, so that each has room in `width` columns
    /// with its texts wrapped.
    pub(super) fn within(self, width: usize) -> Vec<Self> {
        let columns: Vec<usize> = (0..self.header.len()).collect();
        if self.least(&columns) <= width {
            return vec![self];
        }
        let mut first = Vec::new();
        for column in columns.iter().copied().take_while(|&column| self.is_text[column]) {
            first.push(column);
            if self.least(&first) > width / 2 {
                first.pop();
                break;
            }
        }
        let mut parts = Vec::new();
        let mut part = first.clone();
        for &column in &columns[first.len()..] {
            part.push(column);
            if self.least(&part) > width && part.len() > first.len() + 1 {
                part.pop();
                parts.push(mem::replace(&mut part, first.clone()));
                part.push(column);
            }
        }
        parts.push(part);
        parts.iter().map(|part| self.part(part)).collect()
    }

    /// The least width of some columns: texts can be wrapped.
    fn least(&self, columns: &[usize]) -> usize {
        let width = |&column: &usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let cells = cells.chain([&self.header[column]]);
            let whole = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            if self.is_text[column] { whole.min(LEAST_ROOM) } else { whole }
        };
        let gaps = usize::from(GAP) * columns.len().saturating_sub(1);
        columns.iter().map(width).sum::<usize>() + gaps
    }

    fn part(&self, columns: &[usize]) -> Self {
        let take = |row: &Vec<String>| -> Vec<String> {
            columns.iter().filter_map(|&column| row.get(column).cloned()).collect()
        };
        Self {
            header: take(&self.header),
            rows: self.rows.iter().map(take).collect(),
            is_text: columns.iter().map(|&column| self.is_text[column]).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::*;

    fn written(sheet: &Sheet, width: usize) -> String {
        let mut bytes = Vec::new();
        table::write_within(sheet, width, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        text
    }

    #[test]
    fn a_long_text_is_wrapped_beside_the_other_columns() {
        let mut sheet = Sheet::new(&["what", "state", "found"]);
        sheet.row(["a", "ok", "one two three four five six"].map(Cell::text).to_vec());
        sheet.row(["b", "ok", "/a/path/that/is/longer/than/its/column"].map(Cell::text).to_vec());
        assert_eq!(
            written(&sheet, 33),
            "what  state  found\na     ok     one two three four\n             five six\n\
             b     ok     /a/path/that/is/long\n             er/than/its/column\n"
        );
    }

    #[test]
    fn columns_without_room_are_below_each_other_with_the_first_texts() {
        let mut sheet = Sheet::new(&["by", "run", "mean", "diff", "p", ""]);
        let row = |run, mark| {
            let figures = [0.25, 0.5, 0.75].map(|figure| Cell::Number(figure, 4));
            let mut row = vec![Cell::text("R@5"), Cell::text(run)];
            row.extend(figures);
            row.push(Cell::Mark(mark));
            row
        };
        sheet.row(row("bm25", false));
        sheet.row(row("dense", true));
        assert_eq!(
            written(&sheet, 28),
            "by   run      mean    diff\nR@5  bm25   0.2500  0.5000\nR@5  dense  0.2500  0.5000\n\n\
             by   run         p\nR@5  bm25   0.7500\nR@5  dense  0.7500  *\n"
        );
    }
}
