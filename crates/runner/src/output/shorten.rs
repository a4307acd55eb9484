//! Long names are shortened to what tells them apart, and long texts in the middle.

use super::Format;
use super::sheet::{Cell, Sheet};
use super::terminal;

/// The minimum length of a shortened text.
const MIN_WIDTH: usize = 8;

impl Sheet {
    /// The sheet with the names of one column shortened so that lines fit the terminal; unchanged
    /// elsewhere, and in formats for programs.
    pub(crate) fn fit_names(self, column: usize, format: Option<Format>) -> Self {
        if terminal::is_terminal() && is_table(format) {
            self.with_names(column, terminal::width())
        } else {
            self
        }
    }

    /// The sheet with the texts of one column shortened likewise.
    pub(crate) fn fit(self, column: usize, format: Option<Format>) -> Self {
        if terminal::is_terminal() && is_table(format) {
            self.with_texts(column, terminal::width())
        } else {
            self
        }
    }

    fn with_names(mut self, column: usize, width: usize) -> Self {
        let room = self.room(column, width);
        let names: Vec<String> = self.rows.iter().map(|row| row[column].shown()).collect();
        for (row, name) in self.rows.iter_mut().zip(shorten_names(&names, room)) {
            row[column] = Cell::Text(name);
        }
        self
    }

    fn with_texts(mut self, column: usize, width: usize) -> Self {
        let room = self.room(column, width);
        for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            if let Cell::Text(text) = cell {
                *text = shorten(text, room);
            }
        }
        self
    }

    /// The characters that the other columns leave for one.
    fn room(&self, column: usize, width: usize) -> usize {
        let columns = self.header.len();
        let mut others = 0;
        for index in (0..columns).filter(|&index| index != column) {
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            let widths = cells.map(|cell| cell.shown().chars().count());
            others += widths.chain([self.header[index].chars().count()]).max().unwrap_or(0);
        }
        width.saturating_sub(others + 2 * (columns - 1)).max(MIN_WIDTH)
    }
}

/// True for tables that a person reads.
fn is_table(format: Option<Format>) -> bool {
    matches!(format, None | Some(Format::Table))
}

/// At most `width` characters of each name: without what all begin and end with, if that does, or
/// else shortened in the middle. Names that this would make equal stay as they are.
pub(crate) fn shorten_names(names: &[String], width: usize) -> Vec<String> {
    if names.iter().all(|name| name.chars().count() <= width) {
        return names.to_vec();
    }
    let distinct = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    let telling = without_common_ends(names);
    let cut: Vec<String> = telling.iter().map(|name| shorten(name, width)).collect();
    if distinct(&cut) == distinct(names) { cut } else { telling }
}

/// Names without the words that all begin with, and those that all end with.
fn without_common_ends(names: &[String]) -> Vec<String> {
    let words: Vec<Vec<&str>> =
        names.iter().map(|name| name.split_inclusive(['-', '.', '_', '/']).collect()).collect();
    let Some(first) = words.first() else { return Vec::new() };
    let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
    let is_common =
        |at: &dyn Fn(&[&str]) -> Option<String>| words.iter().all(|words| at(words) == at(first));
    let begin = (0..shortest)
        .take_while(|&index| is_common(&|words| words.get(index).map(ToString::to_string)))
        .count();
    let from_end = |words: &[&str], back: usize| {
        words.len().checked_sub(back + 1).map(|index| words[index].to_owned())
    };
    let end = (0..shortest - begin).take_while(|&back| is_common(&|words| from_end(words, back)));
    let end = end.count();
    // One name, or several equal ones, have nothing that tells them apart.
    if begin + end >= shortest {
        return names.to_vec();
    }
    let before = if begin > 0 { "…" } else { "" };
    let after = if end > 0 { "…" } else { "" };
    let middle = |words: &Vec<&str>| {
        let middle = words[begin..words.len() - end].concat();
        format!("{before}{}{after}", middle.trim_end_matches(['-', '.', '_', '/']))
    };
    words.iter().map(middle).collect()
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
    fn names_keep_what_tells_them_apart() {
        let short = |names: &[&str], width| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            shorten_names(&names, width)
        };
        assert_eq!(
            short(&["ikat-bm25-english.2023-test", "ikat-dense-tuned.2023-test"], 18),
            ["…bm25-english…", "…dense-tuned…"]
        );
        assert_eq!(short(&["bm25.dev", "dense.dev"], 9), ["bm25.dev", "dense.dev"]);
        assert_eq!(
            short(&["ikat-a-long-name-1.test", "ikat-a-long-name-2.test"], 8),
            ["…1…", "…2…"]
        );
        assert_eq!(
            short(&["aaaaaaaaaaaaaaaaaaaaXbbbbbbbbbbb", "aaaaaaaaaaaaaaaaaaaaYbbbbbbbbbbb"], 9),
            ["aaaaaaaaaaaaaaaaaaaaXbbbbbbbbbbb", "aaaaaaaaaaaaaaaaaaaaYbbbbbbbbbbb"],
            "shortened, they would be equal"
        );
        assert_eq!(short(&["one-alone-has-no-other"], 8), ["one-…her"]);
    }

    #[test]
    fn tables_fit_terminals_of_60_and_80_columns() {
        for width in [60, 80] {
            let table = |first: &str| {
                let mut sheet = Sheet::new(&["run", "a rather long name of a score", "n"]);
                sheet.row(vec![Cell::text(first), Cell::Number(0.5, 4), Cell::count(12)]);
                sheet.row(vec![Cell::text("y"), Cell::Nothing, Cell::Nothing]);
                sheet
            };
            let long = "x".repeat(90);
            for sheet in [table(&long).with_texts(0, width), table(&long).with_names(0, width)] {
                let mut bytes = Vec::new();
                super::super::table::write(&sheet, &mut bytes).unwrap();
                let text = String::from_utf8(bytes).unwrap();
                assert_eq!(text.lines().map(|line| line.chars().count()).max(), Some(width));
            }
        }
    }
}
