//! Judgements and runs whose columns a header names, in any order and beside others, or that are a JSON object
//! on each line, whose keys do.

use crate::columns::{DELIMITERS, Role, is_header};
use crate::fields::{IgnoredLines, without_quotes_around};
use crate::records::Records;
use crate::sink::{
    MOST_LINES, Sink, has_few_lines, not_utf8, quoted, shorten, until_too_many_errors,
};
use crate::source::FileContent;
use clariq_core::{DistinctKeys, Problem, ProblemKind, parse_json, problem};
use serde_json::{Map, Value};
use std::ops::ControlFlow;

/// The kind of a file with such a header.
pub(crate) struct NamedForm {
    /// The roles of the columns that are read.
    pub(crate) roles: [Role; 3],
    /// The columns, for messages.
    pub(crate) what: &'static str,
    /// A hint on the header.
    pub(crate) hint: &'static str,
    /// True for a value of the last role. A line that begins with `#` and has none is a comment.
    pub(crate) is_value: fn(&str) -> bool,
}

/// The sign or the blanks between the values of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowForm {
    Delimited(u8),
    Blanks,
    /// A row is a JSON object.
    Objects,
}

/// The columns that a header names.
pub(crate) struct NamedColumns<'f> {
    form: &'f NamedForm,
    rows: RowForm,
    places: [usize; 3],
    width: usize,
    /// The line of the header; 0 for objects, which need none.
    header: u64,
}

impl<'f> NamedColumns<'f> {
    /// The columns that a line names; `None` if it is neither a header nor an object with these keys.
    ///
    /// # Errors
    ///
    /// A header in which one of the columns is missing, or is there twice.
    pub(crate) fn of(
        at: (&str, u64),
        line: &str,
        form: &'f NamedForm,
    ) -> Result<Option<Self>, Problem> {
        if let Ok(object) = serde_json::from_str::<Map<String, Value>>(line)
            && form.roles[..2].iter().any(|role| role.place_in(&names(&object)) != Ok(None))
        {
            let places = [0, 1, 2];
            return Ok(Some(Self { form, rows: RowForm::Objects, places, width: 3, header: 0 }));
        }
        for rows in DELIMITERS.map(RowForm::Delimited).into_iter().chain([RowForm::Blanks]) {
            let fields = split(line, rows);
            let found = form.roles.map(|role| role.place_in(&fields));
            // No line without a header has two fields.
            if fields.len() == 2 && matches!(found, [Ok(Some(_)), Ok(Some(_)), Ok(None)]) {
                return Err(missing(at, line, form));
            }
            if fields.len() < form.roles.len() {
                continue;
            }
            if let [Ok(Some(topic)), Ok(Some(document)), Ok(Some(value))] = found {
                let places = [topic, document, value];
                let width = fields.len();
                return Ok(Some(Self { form, rows, places, width, header: at.1 }));
            }
            let twice = found.iter().find_map(|place| place.err());
            if let Some([one, other]) = twice.filter(|_| !found.contains(&Ok(None))) {
                let expected = format!("one column each for {}", form.what);
                let found = format!("`{}` and `{}`", fields[one], fields[other]);
                return Err(problem!(at, expected, found, "leave the one that is meant"));
            }
            if is_header(&fields) {
                return Err(missing(at, line, form));
            }
        }
        Ok(None)
    }

    /// Calls `each` with the fields of the rows below the header, in the order of the roles.
    pub(crate) fn for_each(
        &self,
        input: &FileContent,
        sink: Sink,
        mut each: impl FnMut((&str, u64), [&str; 3], Sink),
    ) -> IgnoredLines {
        let mut ignored = IgnoredLines::default();
        if !has_few_lines(input, MOST_LINES, sink) {
            return ignored;
        }
        let mut any = false;
        for_each_row(input, self.rows, self.form, sink, |at, fields, sink| {
            let is_below = at.1 > self.header;
            any |= is_below;
            if at.1 == self.header {
            } else if is_below && fields.len() == self.width {
                let row = self.places.map(|place| fields[place]);
                let is_id = |id: &str| !id.is_empty() && !id.contains(char::is_whitespace);
                if fields[0].starts_with('#') && !(self.form.is_value)(row[2]) {
                    ignored.comments.push(at.1);
                } else if let Some(id) = row[..2].iter().find(|id| !is_id(id)) {
                    let found = quoted(id);
                    let hint = "the fields of run files are separated by blanks";
                    sink(problem!(at, "ids of topics and documents without blanks", found, hint));
                } else {
                    each(at, row, sink);
                }
            } else if fields[0].starts_with('#') {
                ignored.comments.push(at.1);
            } else {
                sink(self.wrong_count(at, fields));
            }
        });
        if !any {
            let hint = "nothing can be scored by it: was the program that wrote it interrupted?";
            let at = (&*input.name, self.header + 1);
            let problem = problem!(at, "a line below the header", "none", hint);
            sink(problem.kind(ProblemKind::Empty));
        }
        ignored.report_comments(&input.name, sink);
        ignored
    }

    fn wrong_count(&self, at: (&str, u64), fields: &[&str]) -> Problem {
        let expected = format!("{} fields, as in the header", self.width);
        let found = format!("{} in `{}`", fields.len(), shorten(&fields.join(" ")));
        let hint = match self.rows {
            RowForm::Delimited(b'\t') => {
                "the header has tabs between its names, and so has every row"
            }
            RowForm::Delimited(_) => {
                "a text with a comma or a semicolon in it stands in double quotes"
            }
            _ => "where a text has blanks, tabs separate the columns, in the header, too",
        };
        problem!(at, expected, found, hint)
    }
}

/// The problem of a header in which a column is missing.
fn missing(at: (&str, u64), line: &str, form: &NamedForm) -> Problem {
    let expected = format!("names of the columns of {}", form.what);
    problem!(at, expected, (quoted(line)), (form.hint)).kind(ProblemKind::MissingColumn)
}

fn names(object: &Map<String, Value>) -> Vec<&str> {
    object.keys().map(String::as_str).collect()
}

/// The values of an object with the roles of a form.
fn values(at: (&str, u64), line: &[u8], form: &NamedForm) -> Result<[String; 3], Box<Problem>> {
    let DistinctKeys(Value::Object(object)) = parse_json(at, line)? else {
        return Err(Box::new(no_values(at, line, form)));
    };
    let value_of = |role: Role| {
        let names = names(&object);
        let place = role.place_in(&names).map_err(|[one, other]| {
            let expected = format!("one key each for {}", form.what);
            let found = format!("`{}` and `{}`", names[one], names[other]);
            Box::new(problem!(at, expected, found, "leave the one that is meant"))
        })?;
        match place.and_then(|place| object.get(names[place])) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            _ => Err(Box::new(no_values(at, line, form))),
        }
    };
    let [topic, document, value] = form.roles.map(value_of);
    Ok([topic?, document?, value?])
}

fn no_values(at: (&str, u64), line: &[u8], form: &NamedForm) -> Problem {
    let found = quoted(&String::from_utf8_lossy(line));
    problem!(at, (format!("keys with {}", form.what)), found, (form.hint))
}

/// Calls `each` with the fields of every record, line or object that is not blank.
fn for_each_row(
    input: &FileContent,
    rows: RowForm,
    form: &NamedForm,
    sink: Sink,
    mut each: impl FnMut((&str, u64), &[&str], Sink),
) {
    let mut records = match rows {
        RowForm::Delimited(delimiter) => Some(Records::of_table(input, delimiter)),
        _ => None,
    };
    let mut lines = (1..).zip(input.bytes.split(|&byte| byte == b'\n'));
    let mut object = Default::default();
    until_too_many_errors(&input.name, sink, |sink| {
        let next = match &mut records {
            Some(records) => records.next(),
            None => lines.next().map(|(number, line)| {
                let at = (&*input.name, number);
                if rows == RowForm::Blanks || line.trim_ascii().is_empty() {
                    let fields = line.split(u8::is_ascii_whitespace).filter(|it| !it.is_empty());
                    return (at, Ok(fields.collect()));
                }
                let read = values(at, line, form).map(|values| object = values);
                (at, read.map(|()| object.iter().map(String::as_bytes).collect()))
            }),
        };
        let Some((at, fields)) = next else { return ControlFlow::Break(()) };
        match fields {
            Ok(fields) => {
                let texts = fields.iter().map(|field| str::from_utf8(field.trim_ascii()));
                match texts.collect::<Result<Vec<&str>, _>>() {
                    Ok(texts) if texts.iter().all(|text| text.is_empty()) => {}
                    Ok(texts) => each(at, &texts, sink),
                    Err(_) => sink(not_utf8(at, "line", &fields.concat())),
                }
            }
            Err(problem) => sink(*problem),
        }
        ControlFlow::Continue(())
    });
}

/// The fields of a header, without blanks and quotes around them.
fn split(line: &str, rows: RowForm) -> Vec<&str> {
    match rows {
        RowForm::Delimited(delimiter) => {
            let fields = line.split(char::from(delimiter)).map(str::trim);
            fields.map(without_quotes_around).collect()
        }
        _ => line.split_ascii_whitespace().collect(),
    }
}

/// The first line that is not blank and no comment, with its number. A tab before the names is that of a
/// column without one, such as the index of a frame.
pub(crate) fn first_line(input: &FileContent) -> (u64, &str) {
    let lines = (1..).zip(input.bytes.split(|&byte| byte == b'\n'));
    let mut lines = lines.filter(|(_, line)| {
        let text = line.trim_ascii();
        !text.is_empty() && !text.starts_with(b"#")
    });
    let (number, line) = lines.next().unwrap_or((1, b""));
    (number, str::from_utf8(line).unwrap_or_default())
}
