//! Runs and need files as the official scorer reads them: by pandas, as tables whose fields are
//! separated by one blank and may stand in quotes. It compares topics as numbers if all of a file
//! are, so that `101.0`, `0101` and `+101` are topic 101, and whole scores without rounding.

use crate::need_file::{NeedLine, parse_need_file};
use crate::official_scores::{ScoreColumn, score_column};
use clariq_core::{Error, Problem, RequestId, one_or, problem};
use clariq_files::fields::in_json;
use clariq_files::records::Records;
use clariq_files::{FileContent, Run, parse_run, quoted, strictly};
use std::collections::{BTreeSet, HashMap};

/// The fields of a run that the official scorer uses: the topic, the question and the score.
pub(crate) const FIELDS_OF_A_RUN: usize = 5;
/// The fields of a need file.
pub(crate) const FIELDS_OF_NEEDS: usize = 2;

/// Up to this number, every whole number is a floating-point number.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// The texts that pandas reads as a missing number (`na_values` of `read_csv`).
const MISSING: [&str; 18] = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "null",
];

/// Reads files of answers to the topics of some labels.
pub(crate) struct OfficialReader {
    /// The topics by their numbers; `None` if not all of them are numbers.
    topics: Option<HashMap<i64, RequestId>>,
}

impl OfficialReader {
    pub(crate) fn new<'t>(topics: impl Iterator<Item = &'t RequestId>) -> Self {
        let numbered = topics.map(|topic| Some((number(topic.as_str())?, topic.clone())));
        Self { topics: numbered.collect() }
    }

    /// Reads a run.
    pub(crate) fn run(&self, input: &FileContent) -> Result<Run, Error> {
        self.parse(&without_quotes(input)?)
    }

    /// Reads a run whose scores are compared as the official scorer does. Where they are whole and too
    /// large for floating-point numbers, their ranks take their place.
    pub(crate) fn run_in_order(&self, input: &FileContent) -> Result<Run, Error> {
        let input = without_quotes(input)?;
        let mut run = self.parse(&input)?;
        if run.lines.iter().any(|line| line.score.abs() >= WHOLE)
            && let ScoreColumn::Whole(scores) = score_column(&run, &input)?
        {
            let distinct: BTreeSet<i128> = scores.iter().copied().collect();
            let ranks: HashMap<i128, usize> = distinct.into_iter().zip(0..).collect();
            for (line, score) in run.lines.iter_mut().zip(scores) {
                line.score = ranks.get(&score).map_or(0.0, |&rank| rank as f64);
            }
        }
        Ok(run)
    }

    fn parse(&self, input: &FileContent) -> Result<Run, Error> {
        let mut run = strictly(|sink| parse_run(input, sink))?;
        for line in &mut run.lines {
            line.topic = self.topic(&line.topic);
        }
        Ok(run)
    }

    /// Reads a need file.
    pub(crate) fn needs(&self, input: &FileContent) -> Result<Vec<NeedLine>, Error> {
        let input = without_quotes(input)?;
        let mut lines = strictly(|sink| parse_need_file(&input, sink))?;
        for line in &mut lines {
            line.topic = self.topic(&line.topic);
        }
        Ok(lines)
    }

    /// A warning about lines for which the official scorer stops, or scores 0 for all topics.
    pub(crate) fn warning(&self, input: &FileContent, least: usize) -> Option<String> {
        let problems = self.check(input, least);
        let Problem { at, expected, found, hint, .. } = problems.first()?;
        let count = problems.len();
        Some(format!(
            "{} as the official scorer needs them; the first is {at}: expected {expected}, found \
             {found}; {hint}",
            one_or(count, "1 line is not", &format!("{count} lines are not"))
        ))
    }

    /// The topic of the labels that an id in a file means; any other id stays.
    pub(crate) fn topic(&self, id: &RequestId) -> RequestId {
        let topics = self.topics.as_ref();
        let known = topics.and_then(|topics| topics.get(&number(id.as_str())?));
        known.unwrap_or(id).clone()
    }

    /// The problems for which the official scorer stops, or scores 0 for all topics. `least` is the
    /// number of fields that it uses.
    pub(crate) fn check(&self, input: &FileContent, least: usize) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut records = Records::new(input, b' ');
        let mut width = 0;
        while let Some((at, record)) = records.next() {
            let fields = match record {
                Ok(fields) => fields,
                Err(problem) => {
                    problems.push(*problem);
                    continue;
                }
            };
            if fields.iter().all(|field| field.is_empty()) {
                // A line of blanks: a topic that is no number, and no question.
                width = width.max(fields.len());
                continue;
            }
            let used = fields.get(..least).unwrap_or(&fields);
            let stops = "the official scorer stops here";
            if used.iter().any(|field| field.contains(&b'\t')) {
                let expected = "one blank between fields";
                problems.push(problem!(at, expected, "a tab", stops));
            } else if used.iter().any(|field| field.contains(&b'\x0c')) {
                let expected = "one blank between fields";
                let hint = "for the official scorer it is a part of the field";
                problems.push(problem!(at, expected, "a form feed", hint));
            } else if used.iter().any(|field| field.is_empty()) {
                let hint = "the official scorer counts an empty field there, and scores 0";
                problems.push(problem!(
                    at,
                    "one blank between fields",
                    "two, or one before them",
                    hint
                ));
            } else if width > 0 && fields.len() > width {
                let expected = format!("{width} fields, as in the first line");
                let found = fields.len().to_string();
                problems.push(problem!(at, expected, found, stops));
            } else if let Some(topic) = fields.first().filter(|topic| !self.is_topic(topic)) {
                let found = quoted(&String::from_utf8_lossy(topic));
                let hint =
                    "next to a text, the official scorer takes all topics for texts, and scores 0";
                problems.push(problem!(at, "a topic that is a number", found, hint));
            }
            width = width.max(fields.len());
        }
        problems
    }

    /// True if a topic leaves the others numbers for pandas.
    fn is_topic(&self, field: &[u8]) -> bool {
        self.topics.is_none()
            || str::from_utf8(field)
                .is_ok_and(|id| id.parse::<f64>().is_ok() || MISSING.contains(&id))
    }
}

/// The whole number that a field is, for pandas.
fn number(field: &str) -> Option<i64> {
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() < WHOLE;
    field.parse().ok().or_else(|| field.parse().ok().filter(whole).map(|number| number as i64))
}

/// The file without quotes around fields. Line numbers stay.
pub(crate) fn without_quotes(input: &FileContent) -> Result<FileContent, Error> {
    if let Some(problem) = in_json(input) {
        return Err(problem.into());
    }
    if !input.bytes.contains(&b'"') {
        return Ok(input.clone());
    }
    let mut bytes = Vec::with_capacity(input.bytes.len());
    let mut records = Records::new(input, b' ');
    let mut number = 1;
    while let Some(((_, line), record)) = records.next() {
        let fields = record.map_err(|problem| *problem)?;
        bytes.extend(std::iter::repeat_n(b'\n', usize::try_from(line - number).unwrap_or(0)));
        number = line;
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                bytes.push(b' ');
            }
            // A blank inside quotes separates no fields, and is in no id of the collection.
            bytes.extend(
                field.iter().map(|byte| if byte.is_ascii_whitespace() { b'_' } else { *byte }),
            );
        }
    }
    Ok(FileContent { name: input.name.clone(), bytes: bytes.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader() -> OfficialReader {
        OfficialReader::new(["13", "101"].map(RequestId::from).iter())
    }

    fn content(text: &str) -> FileContent {
        FileContent { name: "a.run".to_owned(), bytes: text.as_bytes().to_vec().into() }
    }

    #[test]
    fn json_is_named_as_such() {
        let error = reader().run(&content("{\"13\": {\"Q2\": 1.5}}")).unwrap_err();
        let found = error.to_problem().found;
        assert_eq!(found, "a JSON object, such as {\"topic\": {\"document\": score}}");
    }

    #[test]
    fn topics_are_numbers_and_quotes_are_removed() {
        for topic in ["101", "101.0", "101.", "0101", "+101", "1.01e2", "\"101\""] {
            let input = content(&format!("{topic} 0 \"Q 1\" 1 \"2.5\" t\n\n13 \"0\" Q2 1 2 t\n"));
            let run = reader().run(&input).unwrap();
            let lines: Vec<_> = run
                .lines
                .iter()
                .map(|line| (line.topic.as_str(), line.document.as_str(), line.score, line.line))
                .collect();
            assert_eq!(lines, [("101", "Q_1", 2.5, 1), ("13", "Q2", 2.0, 3)], "{topic}");
            assert!(reader().check(&input, 5).is_empty(), "{topic}");
        }
        assert_eq!(reader().topic(&"nan".into()).as_str(), "nan");
        let texts = OfficialReader::new(["a", "101"].map(RequestId::from).iter());
        assert_eq!(texts.topic(&"0101".into()).as_str(), "0101");
        assert!(texts.check(&content("b 0 Q1 1 2 t\n"), 5).is_empty());
    }

    #[test]
    fn whole_scores_are_compared_without_rounding_unless_one_has_a_fraction() {
        let run = |text: &str| reader().run_in_order(&content(text)).unwrap().lines;
        let large = "13 0 Q1 1 9007199254740993 t\n13 0 Q2 1 9007199254740992 t\n";
        let lines = run(large);
        assert!(lines[0].score > lines[1].score);
        let lines = run(&format!("{large}13 0 Q3 1 1.5 t\n"));
        assert_eq!(lines[0].score, lines[1].score);
        let lines = run("13 0 Q1 1 18446744073709551617 t\n13 0 Q2 1 18446744073709551616 t\n");
        assert!(lines[0].score > lines[1].score, "of more than 64 bits");
    }

    #[test]
    fn what_the_official_scorer_cannot_use_is_found() {
        let found = |text: &str, least| {
            let problems = reader().check(&content(text), least);
            problems.first().map(|problem| (problem.at.line.unwrap(), problem.found.clone()))
        };
        let line = "13 0 Q1 1 2 t\n";
        for (text, least, expected) in [
            ("13\t0\tQ1\t1\t2\tt\n".to_owned(), 5, Some((1, "a tab"))),
            ("13\t3\n".to_owned(), 2, Some((1, "a tab"))),
            (format!("{line}13  0 Q1 1 2 t\n"), 5, Some((2, "two, or one before them"))),
            (" 13 0 Q1 1 2 t\n".to_owned(), 5, Some((1, "two, or one before them"))),
            ("13  3\n".to_owned(), 2, Some((1, "two, or one before them"))),
            (format!("{line}{line}x 0 Q1 1 2 t\n"), 5, Some((3, "`x`"))),
            (format!("{line}13 0 Q1 1 2 t u\n"), 5, Some((2, "7"))),
            (format!("13 0 Q1 1 2 t u\n{line}"), 5, None),
            ("13 0 Q1 1 2\n".to_owned(), 5, None),
            ("13 3\n101 3\n".to_owned(), 2, None),
            ("# a\n13 3\n".to_owned(), 2, Some((1, "`#`"))),
            ("13 0 Q1\x0c 1 2 t\n".to_owned(), 5, Some((1, "a form feed"))),
            (format!("{line} \nnan 0 Q1 1 2 t\nNA 0 Q1 1 2 t\n13.5 0 Q1 1 2 t\n"), 5, None),
            (format!("{line}9223372036854775808 0 Q1 1 2 t\n"), 5, None),
            ("nan 3\n13 3\n13.5 3\n".to_owned(), 2, None),
        ] {
            let expected = expected.map(|(line, found)| (line, found.to_owned()));
            assert_eq!(found(&text, least), expected, "{text}");
        }
    }
}
