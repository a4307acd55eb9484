use super::*;
use std::borrow::Cow;

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
fn quotes_line_ends_and_column_order_are_understood() {
    let (found, problems) = rows("b b\tx\ta\n1\t2\t\"say \"\"hi\"\"\tyou\nthere\"\n\n4\t5\t6\n");
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

#[test]
fn tables_of_other_programs_are_refused_with_what_to_do() {
    let fault = |text: &str| {
        let (found, problems) = rows(text);
        assert!(found.is_empty(), "{text:?}");
        (problems[0].to_string(), problems[0].hint.clone())
    };
    let (says, hint) = fault("a\tb\tb b\n1\t2\t3\n");
    assert_eq!(says, "t.tsv:1: contradiction: expected one column `b`, found two");
    assert_eq!(hint, "remove the one that is not meant, or give it another name");
    let (says, hint) = fault("\"a\"\t\"b\"\n\"1\"\t\"x\"\t\"y\"\n");
    assert_eq!(says, "t.tsv:2: expected 2 tab-separated fields, as in the header, found 3");
    assert!(hint.contains("`row.names = FALSE`"), "{hint}");
    let (says, hint) = fault("sep=\t\na\tb\n1\t2\n");
    assert_eq!(says, "t.tsv:1: missing column: expected a column `a`, found sep=, ");
    assert_eq!(hint, "the first line is an instruction for Excel: remove it");
}
