//! Tab-separated tables with a header.
//!
//! Tables are CSV with tabs: a quoted field may contain tabs, line ends and doubled quotes.
//! Columns are found by name, so their order does not matter and further columns are ignored.

use crate::records::Records;
use crate::sink::{MOST_LINES, Sink, has_few_lines, not_utf8, shorten, until_too_many_errors};
use crate::source::FileContent;
use clariq_core::{Problem, ProblemKind, problem};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::str;

/// A column by its names: the first is the usual one, the others occur in released files.
pub type ColumnNames = &'static [&'static str];

/// Names of columns with ids, in tables that usually have no header.
const IDS: [&str; 22] = [
    "id",
    "qid",
    "queryid",
    "query",
    "docid",
    "docno",
    "did",
    "pid",
    "corpusid",
    "documentid",
    "passageid",
    "questionid",
    "requestid",
    "topic",
    "topicid",
    "topicnumber",
    "turnid",
    "turn",
    "number",
    "doc",
    "document",
    "passage",
];
/// Names of columns with texts, but for `title`.
const TEXTS: [&str; 15] = [
    "text",
    "query",
    "querytext",
    "question",
    "contents",
    "content",
    "passage",
    "passagetext",
    "body",
    "document",
    "documenttext",
    "request",
    "initialrequest",
    "utterance",
    "rewrite",
];
const GRADES: [&str; 5] = ["score", "relevance", "rel", "label", "grade"];

/// The letters and digits of the name of a column, in lower case.
fn plain_name(field: &str) -> String {
    field.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// True for the header of judgements that may have none, such as `query-id`, `corpus-id`, `score`: a
/// name of ids, and behind it a name of grades or texts.
pub fn is_header(fields: &[&str]) -> bool {
    let names: Vec<String> = fields.iter().map(|field| plain_name(field)).collect();
    let [id, values @ ..] = &names[..] else { return false };
    let is_value =
        |name: &String| name == "title" || TEXTS.contains(&&**name) || GRADES.contains(&&**name);
    IDS.contains(&&**id) && values.iter().any(is_value)
}

/// Names of columns with topics, and of those with documents, in judgements.
const TOPICS: [&str; 8] =
    ["qid", "queryid", "query", "topic", "topicid", "requestid", "turnid", "turn"];
const DOCUMENTS: [&str; 9] =
    ["docid", "docno", "did", "pid", "corpusid", "documentid", "passageid", "doc", "document"];

/// The columns of judgements that their header names, in any order: `topic`, `document`, `grade`.
/// `None` if it does not name each of them once.
pub(crate) fn judgement_columns(header: &[&str]) -> Option<[usize; 3]> {
    let names: Vec<String> = header.iter().map(|field| plain_name(field)).collect();
    let only = |known: &[&str]| {
        let mut places = (0..names.len()).filter(|place| known.contains(&&*names[*place]));
        let first = places.next()?;
        places.next().is_none().then_some(first)
    };
    Some([only(&TOPICS)?, only(&DOCUMENTS)?, only(&GRADES)?])
}

/// The columns of a table of ids and texts that its header names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextColumns {
    id: usize,
    /// The title, if there is one beside the text, and the text.
    texts: Vec<usize>,
    width: usize,
}

impl TextColumns {
    /// The columns that the fields of a header name; `None` if they are no header. Names of two texts
    /// are returned in place of the columns: it is not clear which is meant.
    pub fn named(fields: &[&str]) -> Option<Result<Self, [String; 2]>> {
        let names: Vec<String> = fields.iter().map(|field| plain_name(field)).collect();
        let id = names.iter().position(|name| IDS.contains(&&**name))?;
        let others = (0..names.len()).filter(|place| *place != id);
        let texts: Vec<usize> = others.filter(|place| TEXTS.contains(&&*names[*place])).collect();
        if let [one, other, ..] = texts[..] {
            return Some(Err([one, other].map(|place| fields[place].to_owned())));
        }
        let title = names.iter().position(|name| name == "title");
        let texts: Vec<usize> = title.into_iter().chain(texts).collect();
        (!texts.is_empty()).then_some(Ok(Self { id, texts, width: fields.len() }))
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The id and the text of a row, a title before it; `None` if the row has more fields than the
    /// header, or none for one of these.
    pub fn pick<'a>(&self, fields: &[&'a str]) -> Option<(&'a str, String)> {
        if fields.len() > self.width {
            return None;
        }
        let texts = self.texts.iter().map(|&place| fields.get(place).copied());
        let texts: Vec<&str> = texts.collect::<Option<_>>()?;
        Some((fields.get(self.id)?, texts.join(" ")))
    }
}

/// A row with the requested columns, in the requested order.
pub struct Row<'a> {
    /// The fields of the wanted columns, in their order.
    pub fields: Vec<&'a str>,
    at: (&'a str, u64),
}

impl Row<'_> {
    /// The line on which the row starts.
    pub fn line(&self) -> u64 {
        self.at.1
    }

    /// Refuses an id that is empty or contains a blank: run files separate ids by blanks.
    pub fn check_id(&self, column: &str, id: &str) -> Result<(), Box<Problem>> {
        // Nearly all ids are of letters and digits.
        if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(());
        }
        let found = match id {
            "" => "an empty field".to_owned(),
            _ if id.contains(|c: char| c.is_whitespace() || c.is_control()) => {
                format!("`{}`", shorten(id))
            }
            _ => return Ok(()),
        };
        let hint = "the fields of run files are separated by blanks";
        Err(Box::new(problem!(self.at, "an id without blanks in `{column}`", found, hint)))
    }
}

/// The positions of the wanted columns in a file.
struct ColumnPositions {
    columns: &'static [ColumnNames],
    positions: Vec<usize>,
    width: usize,
}

/// Calls `each` with every row of `input`, and reports rows with problems to `sink`.
pub fn for_each_row(
    input: &FileContent,
    columns: &'static [ColumnNames],
    sink: Sink,
    mut each: impl FnMut(&Row, Sink),
) {
    if !has_few_lines(input, MOST_LINES / 2, sink) {
        return;
    }
    let mut records = Records::new(input, b'\t');
    let Some((at, record)) = records.next() else {
        let names: Vec<_> = columns.iter().map(|names| names[0]).collect();
        let expected = format!("a header with the columns {}", names.join(", "));
        return sink(empty(input, 1, &expected));
    };
    let header = match record.and_then(|record| ColumnPositions::find(columns, record, at)) {
        Ok(header) => header,
        Err(problem) => return sink(*problem),
    };
    let mut any = false;
    until_too_many_errors(&input.name, sink, |sink| {
        let Some((at, record)) = records.next() else { return ControlFlow::Break(()) };
        any = true;
        match record.and_then(|record| header.pick(record, at)) {
            Ok(row) => each(&row, sink),
            Err(problem) => sink(*problem),
        }
        ControlFlow::Continue(())
    });
    if !any {
        sink(empty(input, 2, "at least one row below the header"));
    }
}

fn empty(input: &FileContent, line: u64, expected: &str) -> Problem {
    let hint = "the file was probably cut short: fetch it again";
    problem!((&*input.name, line), expected, "nothing", hint).kind(ProblemKind::Empty)
}

impl ColumnPositions {
    fn find(
        columns: &'static [ColumnNames],
        header: &[Cow<[u8]>],
        at: (&str, u64),
    ) -> Result<Self, Box<Problem>> {
        let position = |names: &ColumnNames| {
            let mut fields =
                header.iter().map(|field| str::from_utf8(field).unwrap_or_default().trim());
            let found = fields.position(|field| names.contains(&field));
            found.ok_or_else(|| Box::new(missing_column(header, names, columns, at)))
        };
        let positions = columns.iter().map(position).collect::<Result<_, _>>()?;
        Ok(Self { columns, positions, width: header.len() })
    }

    /// The wanted fields of a record.
    fn pick<'a>(
        &self,
        record: &'a [Cow<[u8]>],
        at: (&'a str, u64),
    ) -> Result<Row<'a>, Box<Problem>> {
        let width = self.width;
        let found = record.len();
        if found != width {
            return Err(Box::new(problem!(
                at,
                "{width} tab-separated fields, as in the header",
                "{found}",
                "a field with a tab or a line end in it must stand in double quotes"
            )));
        }
        let mut fields = Vec::with_capacity(self.positions.len());
        for (&position, names) in self.positions.iter().zip(self.columns) {
            let bytes = &*record[position];
            let text = str::from_utf8(bytes);
            fields.push(text.map_err(|_| Box::new(not_utf8(at, names[0], bytes)))?);
        }
        Ok(Row { fields, at })
    }
}

fn missing_column(
    header: &[Cow<[u8]>],
    names: ColumnNames,
    columns: &[ColumnNames],
    at: (&str, u64),
) -> Problem {
    let mut found: Vec<_> = header.iter().map(|name| String::from_utf8_lossy(name)).collect();
    // Unknown columns first: one of them may be a misspelling of the missing one.
    found.sort_by_key(|name| columns.concat().contains(&name.trim()));
    let hint = if header.len() == 1 {
        "columns are separated by tabs and named in the first line"
    } else {
        "the first line names the columns; the documentation describes the formats (reference, Formats)"
    };
    problem!(at, (format!("a column `{}`", names[0])), (shorten(&found.join(", "))), hint)
        .kind(ProblemKind::MissingColumn)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AB: &[ColumnNames] = &[&["a"], &["b", "b b"]];

    fn rows(text: &str) -> (Vec<(u64, Vec<String>)>, Vec<Problem>) {
        let input =
            FileContent { name: "t.tsv".to_owned(), bytes: Cow::Owned(text.as_bytes().to_vec()) };
        let mut rows = Vec::new();
        let mut problems = Vec::new();
        for_each_row(&input, AB, &mut |problem| problems.push(problem), |row, _| {
            rows.push((row.line(), row.fields.iter().map(ToString::to_string).collect()));
        });
        (rows, problems)
    }

    #[test]
    fn headers_are_recognised_by_their_names() {
        for header in [
            "qid query",
            "_id text",
            "docid contents",
            "#ID Title Text",
            "query-id corpus-id score",
        ] {
            assert!(is_header(&header.split(' ').collect::<Vec<_>>()), "{header}");
        }
        for row in ["id", "1 text", "q1 query", "text id", "", "id 17"] {
            assert!(!is_header(&row.split(' ').collect::<Vec<_>>()), "{row}");
        }
    }

    #[test]
    fn columns_of_ids_and_texts_are_found_by_name() {
        let row = ["0", "q1", "Tea", "green tea"];
        for (header, picked) in [
            ("\tqid\tscore\tquery", Some(("q1", "green tea"))),
            ("row\tdocid\ttitle\ttext", Some(("q1", "Tea green tea"))),
            ("text\t_id\turl\tlang", Some(("q1", "0"))),
            ("id\ttitle\tlang\tyear", Some(("0", "q1"))),
            ("id\ttext\tlang", None),
            ("1\tquery\t\t", None),
            ("id\t17\t\t", None),
        ] {
            let header: Vec<&str> = header.split('\t').collect();
            let columns = TextColumns::named(&header).map(Result::unwrap);
            let found = columns.and_then(|columns| columns.pick(&row));
            let picked = picked.map(|(id, text)| (id, text.to_owned()));
            assert_eq!(found, picked, "{header:?}");
        }
        let two = TextColumns::named(&["id", "text", "contents"]).unwrap().unwrap_err();
        assert_eq!(two, ["text", "contents"]);
    }

    #[test]
    fn quotes_line_ends_and_column_order_are_understood() {
        let (found, problems) =
            rows("b b\tx\ta\n1\t2\t\"say \"\"hi\"\"\tyou\nthere\"\n\n4\t5\t6\n");
        assert!(problems.is_empty());
        assert_eq!(found[0], (2, vec!["say \"hi\"\tyou\nthere".to_owned(), "1".to_owned()]));
        assert_eq!(found[1].0, 5, "an empty line and a quoted line end count");
    }

    #[test]
    fn line_numbers_hold_with_carriage_returns() {
        let (found, problems) = rows("a\tb\r\n1\t2\r\n3\r\n4\t5\r\n");
        assert_eq!(found.iter().map(|row| row.0).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(found[0].1, ["1", "2"]);
        assert_eq!(problems[0].at.line, Some(3));
        assert_eq!(problems[0].found, "1");
    }

    #[test]
    fn a_quote_that_is_never_closed_names_the_line_where_it_opened() {
        let (found, problems) = rows("a\tb\n1\t2\n3\t\"4\n5\t6\n7\t8\n");
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4, 5]);
        assert_eq!(problems[0].at.line, Some(3));
        assert!(problems[0].expected.contains("quoted field"), "{}", problems[0]);
        let (_, problems) = rows("a\tb\n1\t\"2\n3\t\"4\n5\t6\n");
        let lines: Vec<_> = problems.iter().map(|problem| problem.at.line).collect();
        assert_eq!(lines, [Some(2), Some(3)]);
        let (_, problems) = rows("\"a\tb\n1\t2\n");
        assert_eq!((problems.len(), problems[0].at.line), (1, Some(1)));
    }

    #[test]
    fn ids_with_blanks_are_refused() {
        let input =
            FileContent { name: "t.tsv".to_owned(), bytes: Cow::Borrowed(b"a\tb\nx y\t\nxy\t\n") };
        let mut expected = Vec::new();
        for_each_row(&input, AB, &mut |problem| panic!("{problem}"), |row, _| {
            expected.push(row.check_id("a", row.fields[0]).err().map(|problem| problem.expected));
            assert!(row.check_id("b", row.fields[1]).is_err());
        });
        assert_eq!(expected, [Some("an id without blanks in `a`".to_owned()), None]);
    }

    #[test]
    fn an_empty_file_and_a_missing_column_are_problems() {
        assert_eq!(rows("").1[0].kind, ProblemKind::Empty);
        assert_eq!(rows("a\tc\n").1[0].kind, ProblemKind::MissingColumn);
        let header_alone = &rows("a\tb\n").1[0];
        assert_eq!((header_alone.kind, header_alone.at.line), (ProblemKind::Empty, Some(2)));
    }
}
