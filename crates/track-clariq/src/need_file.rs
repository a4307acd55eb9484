//! Need files: lines of `<topic_id> <label>`, the clarification need that a system predicts for each
//! request.

use clariq_core::{Error, ProblemKind, RequestId};
use clariq_files::fields::{LineForm, for_each_line};
use clariq_files::{FileContent, MOST_OF_A_TABLE, Sink, Source, read_strictly};

const FORM: LineForm = LineForm {
    names: "<topic_id> <label>",
    optional: 0,
    unlike_comment: None,
    trailing_words: false,
    kind: ProblemKind::Other,
};

/// A line of a need file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeedLine {
    pub topic: RequestId,
    /// The predicted label. Any whole number: the official scorer counts one outside 1 to 4 as
    /// wrong, not as an error.
    pub label: i64,
    /// The line of the file.
    pub line: u64,
}

/// Reads a need file in file order; the first problem is the error.
pub fn read_need_file(source: &Source) -> Result<Vec<NeedLine>, Error> {
    read_strictly(source, MOST_OF_A_TABLE, parse_need_file)
}

/// Reads the valid lines of a need file. Every problem goes to `sink`, and its line is left out.
pub fn parse_need_file(input: &FileContent, sink: Sink) -> Vec<NeedLine> {
    let mut lines = Vec::new();
    for_each_line(input, FORM, sink, |line, sink| {
        let [topic, label] = *line.fields else { return };
        match parse_label(label) {
            Some(label) => lines.push(NeedLine { topic: topic.into(), label, line: line.at.1 }),
            None => sink(line.problem(
                "a label from 1 to 4 in the second field",
                "a need file holds a topic id, a space and a whole number",
            )),
        }
    });
    lines
}

/// Parses a whole number, also if it is written as `2.0`, as by programs that keep labels as
/// floating-point numbers.
fn parse_label(field: &str) -> Option<i64> {
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() < 1e15;
    field.parse().ok().or_else(|| field.parse().ok().filter(whole).map(|number| number as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::put_need_lines;
    use clariq_core::Need;
    use clariq_files::Target;

    #[test]
    fn a_need_file_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.need.gz");
        let topics = [RequestId::from("9"), RequestId::from("3")];
        let labels = topics.iter().zip([Need::ALL[3], Need::ALL[0]]);
        Target::new(&path).write(|out| put_need_lines(out, labels)).unwrap();
        let lines = read_need_file(&Source::new(&path)).unwrap();
        assert_eq!(
            lines.iter().map(|line| (line.topic.as_str(), line.label)).collect::<Vec<_>>(),
            [("9", 4), ("3", 1)]
        );
    }

    #[test]
    fn whole_numbers_are_labels_however_they_are_written() {
        let labels = ["2", "-1", "+3", "2.0", "4e0"].map(parse_label);
        assert_eq!(labels, [Some(2), Some(-1), Some(3), Some(2), Some(4)]);
        assert_eq!(["2.5", "nan", "inf", "1e300", "two"].map(parse_label), [None; 5]);
    }

    #[test]
    fn a_label_that_is_not_a_number_is_a_problem() {
        let source = Source::memory("a.need", *b"1 2\n2 high\n");
        let error = read_need_file(&source).unwrap_err();
        assert!(error.to_string().starts_with("a.need:2: expected a label"), "{error}");
    }
}
