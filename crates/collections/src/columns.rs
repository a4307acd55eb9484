//! Tables of ids and texts. With a header, its names say which column is which; otherwise a row is an id,
//! a tab, and a text.

use clariq_core::{Location, Problem, problem};
use clariq_files::fields::{WITHOUT_QUOTES, is_quoted};
use clariq_files::shorten;
use clariq_files::table::TextColumns;

/// The columns of a table, known from its first line.
#[derive(Debug, Clone, Default)]
pub struct IdTextTable(Option<TextColumns>);

impl IdTextTable {
    /// Takes the first line of a file that is not JSON: a header, which is `true`, or a row.
    ///
    /// # Errors
    ///
    /// A header with two texts, and several columns without a header.
    pub fn begin(&mut self, at: impl Into<Location>, line: &str) -> Result<bool, Box<Problem>> {
        let fields: Vec<&str> = line.split('\t').collect();
        match TextColumns::named(&fields) {
            Some(Ok(columns)) => {
                self.0 = Some(columns);
                Ok(true)
            }
            Some(Err([one, other])) => {
                let found = format!("`{one}` and `{other}`");
                let hint = "leave the one that is meant";
                Err(Box::new(problem!(at, "one column with a text", found, hint)))
            }
            None if fields.len() > 2 => {
                let found = format!("{} columns, `{}`", fields.len(), shorten(line));
                let expected = "an id, a tab and a text, or a first line that names more columns";
                let hint = "name them, such as `id`, `title` and `text`, each behind a tab";
                Err(Box::new(problem!(at, expected, found, hint)))
            }
            None => Ok(false),
        }
    }

    /// The id and the text of a row; `None` for a line that has not the columns.
    pub fn row<'a>(
        &self,
        at: impl Into<Location>,
        line: &'a str,
    ) -> Result<Option<(&'a str, String)>, Box<Problem>> {
        let picked = match &self.0 {
            None => line.split_once('\t').map(|(id, text)| (id, text.to_owned())),
            Some(columns) => {
                let fields: Vec<&str> = line.split('\t').collect();
                if fields.len() > columns.width() {
                    let expected = format!("{} columns, as in the header", columns.width());
                    let hint = "row numbers have no name in a header, and texts have no tabs";
                    let found = fields.len().to_string();
                    return Err(Box::new(problem!(at, expected, found, hint)));
                }
                columns.pick(&fields)
            }
        };
        match picked {
            Some((id, _)) if is_quoted(id) => {
                let found = format!("`{}`", shorten(id));
                Err(Box::new(problem!(at, "an id without quotes around it", found, WITHOUT_QUOTES)))
            }
            picked => Ok(picked),
        }
    }
}
