//! Long names are shortened in the middle: names of runs differ at their beginnings and ends.

use super::Format;
use super::sheet::{Cell, Sheet};

/// The columns of a terminal that a table may fill.
const WIDTH: usize = 80;

/// The minimum length of a shortened text.
const MIN_WIDTH: usize = 8;

impl Sheet {
    /// The sheet with the texts of one column shortened so that lines fit a terminal of 80 columns;
    /// unchanged in formats for programs.
    pub(crate) fn fit(mut self, column: usize, format: Option<Format>) -> Self {
        if !matches!(format, None | Some(Format::Table)) {
            return self;
        }
        let width = |index: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            let cells = cells.map(|cell| cell.shown().chars().count());
            cells.chain([self.header[index].chars().count()]).max().unwrap_or(0)
        };
        let columns = self.header.len();
        let others: usize = (0..columns).filter(|&index| index != column).map(width).sum();
        let room = WIDTH.saturating_sub(others + 2 * (columns - 1)).max(MIN_WIDTH);
        for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            if let Cell::Text(text) = cell {
                *text = shorten(text, room);
            }
        }
        self
    }
}

/// At most `width` characters of a text, with `…` in place of its middle.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= width {
        return text.to_owned();
    }
    let length = width.saturating_sub(1);
    let first = length.div_ceil(2);
    let last = length / 2;
    characters[..first]
        .iter()
        .chain(['…'].iter())
        .chain(&characters[characters.len() - last..])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shortened_in_the_middle() {
        assert_eq!(shorten("dense-feedback.dev", 10), "dense….dev");
        assert_eq!(shorten("übermaß", 7), "übermaß");
        assert_eq!(shorten("übermaß", 3), "ü…ß");
        assert_eq!(shorten("übermaß", 1), "…");
    }

    #[test]
    fn a_table_fits_a_terminal() {
        let mut sheet = Sheet::new(&["run", "a rather long name of a figure", "n"]);
        sheet.row(vec![Cell::text("x".repeat(90)), Cell::Figure(0.5, 4), Cell::count(12)]);
        sheet.row(vec![Cell::text("y"), Cell::Nothing, Cell::Nothing]);
        let sheet = sheet.fit(0, None);
        let width = |column: usize| {
            let cells = sheet.rows.iter().map(|row| row[column].shown().chars().count());
            cells.chain([sheet.header[column].chars().count()]).max().unwrap()
        };
        let widths: Vec<usize> = (0..3).map(width).collect();
        assert_eq!(widths.iter().sum::<usize>() + 2 * 2, WIDTH, "{widths:?}");
    }
}
