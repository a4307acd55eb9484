//! Tables of ids and texts. With a header, its names say which column is which, and it may be of CSV; otherwise
//! a row is an id, a tab, and a text.

use clariq_core::{Location, Problem, count_of, problem};
use clariq_files::columns::{DELIMITERS, Role, TextColumns};
use clariq_files::fields::{WITHOUT_QUOTES, is_quoted};
use clariq_files::records::Records;
use clariq_files::{FileContent, quoted, shorten};
use std::borrow::Cow;

const TAB: u8 = b'\t';

/// The columns of a table, known from its first line that is not blank.
#[derive(Debug, Clone)]
pub struct IdTextTable {
    /// The role of the ids.
    id: Role,
    has_begun: bool,
    columns: Option<TextColumns>,
    delimiter: u8,
}

impl IdTextTable {
    /// A table of documents.
    pub(crate) fn of_documents() -> Self {
        Self { id: Role::DocumentId, has_begun: false, columns: None, delimiter: TAB }
    }

    /// A table of requests.
    pub fn of_requests() -> Self {
        Self { id: Role::RequestId, has_begun: false, columns: None, delimiter: TAB }
    }

    /// Takes a line that is not blank, before it is read as a row; true for a header, which only the
    /// first of them can be.
    ///
    /// # Errors
    ///
    /// A header with two ids or texts, and several columns without a header.
    pub fn begin(&mut self, at: impl Into<Location>, line: &str) -> Result<bool, Box<Problem>> {
        if std::mem::replace(&mut self.has_begun, true) || begins_as_json_object(line.as_bytes()) {
            return Ok(false);
        }
        if line.starts_with("sep=") {
            let found = format!("`{}`, an instruction for Excel", shorten(line));
            let hint = "leave this line out, and write tabs between the columns";
            return Err(Box::new(problem!(at, "an id, a tab and a text", found, hint)));
        }
        let at = at.into();
        for delimiter in DELIMITERS {
            // A line that is no CSV is no header of it.
            let Ok(fields) = fields(at.clone(), line, delimiter) else { continue };
            match TextColumns::named(&fields, self.id) {
                Some(Ok(columns)) => {
                    self.columns = Some(columns);
                    self.delimiter = delimiter;
                    return Ok(true);
                }
                Some(Err([one, other])) => {
                    let found = format!("`{one}` and `{other}`");
                    let hint = "leave the one that is meant";
                    let expected = "one column with an id, and one with a text";
                    return Err(Box::new(problem!(at, expected, found, hint)));
                }
                None => {}
            }
        }
        let columns = line.split('\t').count();
        if columns > 2 {
            let found = format!("{}, `{}`", count_of(columns, "column"), shorten(line));
            let expected = "an id, a tab and a text, or a first line that names more columns";
            let hint = "name them, such as `id`, `title` and `text`, each behind a tab";
            return Err(Box::new(problem!(at, expected, found, hint)));
        }
        Ok(false)
    }

    /// The id and the text of a row; `None` for a line that has not the columns.
    pub fn row(
        &self,
        at: impl Into<Location>,
        line: &str,
    ) -> Result<Option<(String, String)>, Box<Problem>> {
        let at = at.into();
        let picked = match &self.columns {
            None => line.split_once('\t').map(|(id, text)| (id.to_owned(), text.to_owned())),
            Some(columns) => {
                let fields = fields(at.clone(), line, self.delimiter)?;
                if fields.len() > columns.width() {
                    let expected = format!("{} columns, as in the header", columns.width());
                    let hint = match self.delimiter {
                        TAB => "row numbers have no name in a header, and texts have no tabs",
                        _ => "a text with a comma in it stands in double quotes",
                    };
                    let found = fields.len().to_string();
                    return Err(Box::new(problem!(at, expected, found, hint)));
                }
                let texts: Vec<&str> = fields.iter().map(AsRef::as_ref).collect();
                columns.pick(&texts).map(|(id, text)| (id.to_owned(), text))
            }
        };
        match picked {
            Some((id, _)) if is_quoted(&id) => {
                let found = quoted(&id);
                Err(Box::new(problem!(at, "an id without quotes around it", found, WITHOUT_QUOTES)))
            }
            picked => Ok(picked),
        }
    }
}

/// The fields of a line. A text of CSV that goes on in the next line is a problem.
fn fields(at: Location, line: &str, delimiter: u8) -> Result<Vec<Cow<'_, str>>, Box<Problem>> {
    if !line.contains('"') {
        return Ok(line.split(char::from(delimiter)).map(Cow::Borrowed).collect());
    }
    let input = FileContent { name: String::new(), bytes: line.as_bytes().to_vec().into() };
    match Records::of_table(&input, delimiter).next() {
        Some((_, Ok(record))) => {
            let texts =
                record.iter().map(|field| String::from_utf8_lossy(field).into_owned().into());
            Ok(texts.collect())
        }
        Some((_, Err(problem))) => Err(Box::new(Problem { at, ..*problem })),
        None => Ok(Vec::new()),
    }
}

/// True if a line may be a JSON object: an id in a table may begin with `{`, too.
pub(crate) fn begins_as_json_object(line: &[u8]) -> bool {
    let Some(rest) = line.trim_ascii_start().strip_prefix(b"{") else { return false };
    matches!(rest.trim_ascii_start().first(), None | Some(b'"' | b'}'))
}
