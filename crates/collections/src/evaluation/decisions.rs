//! Tables of decisions between yes and no, and need files that are scored against labels by name.

use super::{ScoreCell, ScoreTable};
use clariq_core::{Error, ProblemKind, RequestId, bail, counted, problem};
use clariq_eval::{Decision, DecisionReport};
use clariq_files::fields::{LineForm, for_each_line};
use clariq_files::{FileContent, IgnoredLines, strictly};
use std::collections::{BTreeMap, BTreeSet};

/// The columns behind those that name a row.
pub const DECISION_COLUMNS: [&str; 8] =
    ["requests", "positive", "predicted", "precision", "recall", "F1", "balanced accuracy", "AUC"];

/// From this need on, a system asks: 1 needs no clarification.
pub const ASKS_FROM: f64 = 2.0;

const NEED_LINE: LineForm = LineForm {
    names: "<request> <need>",
    optional: 0,
    unlike_comment: Some(|fields| fields[0] != "#"),
    trailing_words: false,
    kind: ProblemKind::Other,
};

/// The rows of decisions: their scores, below those of always deciding no and always deciding yes,
/// which every prediction has to beat. `part` names what is decided.
pub fn decision_rows(part: &str, name: &str, decisions: &[Decision]) -> Vec<Vec<ScoreCell>> {
    let labels = || decisions.iter().map(|decision| decision.label);
    let reports = [
        ("never", DecisionReport::of_constant(labels(), false)),
        ("always", DecisionReport::of_constant(labels(), true)),
        (name, DecisionReport::of(decisions)),
    ];
    let mut rows = Vec::with_capacity(reports.len());
    for (name, report) in reports {
        let mut row = vec![ScoreCell::Text(part.to_owned()), ScoreCell::Text(name.to_owned())];
        row.extend([report.count, report.positives, report.decided].map(ScoreCell::Count));
        let figures = [report.precision, report.recall, report.f1, report.balanced_accuracy];
        row.extend(figures.map(|figure| ScoreCell::Score(figure, 4)));
        let area = report.area_under_curve;
        row.push(area.map_or(ScoreCell::Empty, |area| ScoreCell::Score(area, 4)));
        rows.push(row);
    }
    rows
}

/// The needs of a file.
#[derive(Debug, Default)]
pub struct ReadNeeds {
    /// The need of each request, a number or a name.
    pub needs: BTreeMap<RequestId, String>,
    /// The lines that are not read.
    pub ignored: IgnoredLines,
}

/// True for a need file: the first line that is no comment has two fields.
pub fn is_need_file(input: &FileContent) -> bool {
    let lines = || input.filled_lines().map(|(_, line)| line);
    let plain = lines().find(|line| !line.starts_with(b"#"));
    let first = plain.or_else(|| lines().next()).unwrap_or_default();
    first.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).count() == 2
}

/// Reads a need file. Two needs for a request are an error.
pub fn parse_needs(input: &FileContent) -> Result<ReadNeeds, Error> {
    let mut needs: BTreeMap<RequestId, String> = BTreeMap::new();
    let ignored = strictly(|sink| {
        for_each_line(input, NEED_LINE, sink, |line, sink| {
            let [request, need] = [line.fields[0], line.fields[1]];
            if let Some(first) = needs.insert(request.into(), need.to_owned())
                && first != need
            {
                let found = format!("`{need}` for `{request}`, and `{first}` before");
                let hint = "leave the line out that is not meant";
                sink(problem!(line.at, "one need for every request", found, hint));
            }
        })
    })?;
    Ok(ReadNeeds { needs, ignored })
}

/// Refuses needs that cannot be compared with labels: names beside numbers, names that no label has, and
/// those of other requests alone. Returns warnings.
pub fn check_needs(
    file: &str,
    labels: &BTreeMap<RequestId, String>,
    needs: &BTreeMap<RequestId, String>,
) -> Result<Vec<String>, Error> {
    let numbers: Option<Vec<f64>> = labels.values().map(|label| label.parse().ok()).collect();
    let names: BTreeSet<&String> = labels.values().collect();
    let hint = "the needs of a file are of the same kind as the labels of the requests";
    if !needs.keys().any(|request| labels.contains_key(request)) {
        let hint = "is it the file of another split? --split names it";
        let expected = format!("needs of the {} requests with a label", labels.len());
        bail!(file, expected, "none of them", hint);
    }
    let mut outside = 0;
    for (request, need) in needs {
        match (&numbers, need.parse::<f64>()) {
            (Some(numbers), Ok(number)) if number.is_finite() => {
                let most = numbers.iter().copied().fold(f64::MIN, f64::max);
                outside += usize::from(number < 0.0 || number > most);
            }
            (Some(_), _) => bail!(file, "a number as the need of `{request}`", "`{need}`", hint),
            (None, _) if !names.contains(need) => outside += 1,
            (None, _) => {}
        }
    }
    if numbers.is_none() && outside == needs.len() {
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        let expected = format!("one of {} as a need", names.join(", "));
        bail!(file, expected, "other needs alone", hint);
    }
    let missing = labels.keys().filter(|id| !needs.contains_key(*id)).count();
    let unknown = needs.keys().filter(|id| !labels.contains_key(*id)).count();
    let mut warnings = counted(&[
        (
            missing,
            "request with a label has no need in the file",
            "requests with a label have no need in the file",
        ),
        (
            unknown,
            "need is of a request without a label, and is ignored",
            "needs are of requests without a label, and are ignored",
        ),
        (outside, "need is none that a label has", "needs are none that a label has"),
    ]);
    if numbers.is_some() {
        let numbers: Vec<f64> = needs.values().filter_map(|need| need.parse().ok()).collect();
        warnings.extend(other_scale(&numbers));
    }
    Ok(warnings)
}

/// A warning about needs that look like probabilities, or like labels of 0 and 1: by them, no request
/// would be asked about.
pub fn other_scale(needs: &[f64]) -> Option<String> {
    let is_other =
        needs.iter().all(|need| (0.0..=1.0).contains(need)) && needs.iter().any(|need| *need < 1.0);
    is_other.then(|| {
        format!(
            "all needs of the file are between 0 and 1, and a system asks from {ASKS_FROM} on: are they \
             probabilities, or labels of 0 and 1?"
        )
    })
}

/// The figures of a need file against labels. If all labels are numbers, a request is positive from 2
/// on; otherwise each name is a class of its own against the others.
pub fn need_table(
    labels: &BTreeMap<RequestId, String>,
    needs: &BTreeMap<RequestId, String>,
) -> ScoreTable {
    let header = [&["need", "by"][..], &DECISION_COLUMNS].concat();
    let mut rows = Vec::new();
    let number = |text: &String| text.parse::<f64>().ok();
    if labels.values().all(|label| number(label).is_some()) {
        let mut decisions = Vec::with_capacity(labels.len());
        for (request, label) in labels {
            let score = needs.get(request).and_then(number).unwrap_or(0.0);
            let label = number(label).is_some_and(|label| label >= ASKS_FROM);
            decisions.push(Decision { label, decided: score >= ASKS_FROM, score });
        }
        rows.extend(decision_rows("2 and above", "need file", &decisions));
    } else {
        let names: BTreeSet<&String> = labels.values().collect();
        for name in names {
            let mut decisions = Vec::with_capacity(labels.len());
            for (request, label) in labels {
                let decided = needs.get(request) == Some(name);
                let score = f64::from(u8::from(decided));
                decisions.push(Decision { label: label == name, decided, score });
            }
            rows.extend(decision_rows(name, "need file", &decisions));
        }
    }
    ScoreTable { name: "needs", header, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(pairs: &[(&str, &str)]) -> BTreeMap<RequestId, String> {
        pairs.iter().map(|(id, need)| ((*id).into(), (*need).to_owned())).collect()
    }

    fn rows(table: &ScoreTable) -> Vec<String> {
        let cell = |cell: &ScoreCell| match cell {
            ScoreCell::Text(text) => text.clone(),
            ScoreCell::Count(count) => count.to_string(),
            ScoreCell::Score(figure, _) => format!("{figure:.3}"),
            ScoreCell::Empty => "-".to_owned(),
        };
        table.rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn numbers_are_needs_of_clariq_and_names_are_classes() {
        let table = need_table(
            &needs(&[("1", "1"), ("2", "4"), ("3", "2"), ("4", "1")]),
            &needs(&[("1", "1"), ("2", "3"), ("3", "1.5"), ("9", "4")]),
        );
        assert_eq!(
            rows(&table),
            [
                "2 and above never 4 2 0 0.000 0.000 0.000 0.500 0.500",
                "2 and above always 4 2 4 0.500 1.000 0.667 0.500 0.500",
                "2 and above need file 4 2 1 1.000 0.500 0.667 0.750 1.000",
            ]
        );
        let table = need_table(
            &needs(&[("1", "clear"), ("2", "vague"), ("3", "vague")]),
            &needs(&[("1", "clear"), ("2", "vague"), ("3", "clear")]),
        );
        assert_eq!(rows(&table)[2], "clear need file 3 1 2 0.500 1.000 0.667 0.750 0.750");
        assert_eq!(rows(&table)[5], "vague need file 3 2 1 1.000 0.500 0.667 0.750 0.750");
    }

    #[test]
    fn needs_that_cannot_be_compared_are_refused() {
        let numbers = needs(&[("1", "1"), ("2", "4")]);
        let names = needs(&[("1", "clear"), ("2", "vague")]);
        let check = |labels, pairs: &[(&str, &str)]| {
            check_needs("a.need", labels, &needs(pairs)).map_err(|error| error.to_string())
        };
        for (labels, pairs, found) in [
            (&numbers, &[("1", "clear")][..], "a number as the need of `1`, found `clear`"),
            (&numbers, &[("1", "nan")], "a number as the need of `1`, found `nan`"),
            (&names, &[("1", "3")], "one of clear, vague as a need, found other needs alone"),
            (&names, &[("9", "clear")], "needs of the 2 requests with a label, found none of them"),
        ] {
            let refused = check(labels, pairs).unwrap_err();
            assert!(refused.contains(found), "{refused}");
        }
        assert_eq!(check(&numbers, &[("1", "1.5"), ("2", "4")]), Ok(vec![]));
        let warnings = check(&numbers, &[("1", "5"), ("9", "0")]).unwrap();
        assert_eq!(
            warnings,
            [
                "1 request with a label has no need in the file",
                "1 need is of a request without a label, and is ignored",
                "1 need is none that a label has",
            ]
        );
        for of_another_scale in [[("1", "0"), ("2", "1")], [("1", "0.3"), ("2", "0.9")]] {
            let warnings = check(&numbers, &of_another_scale).unwrap();
            assert!(warnings[0].contains("between 0 and 1"), "{warnings:?}");
        }
        assert_eq!(check(&numbers, &[("1", "1"), ("2", "1")]), Ok(vec![]));
        let twice = |text: &str| {
            let bytes = text.as_bytes().to_vec().into();
            parse_needs(&FileContent { name: "a.need".to_owned(), bytes })
                .map(|read| read.needs.len())
        };
        assert_eq!(twice("1 2\n1 2\n").unwrap(), 1);
        let text = "# made by me\n#1 2\n1 2\n# and 4 more\n#\tx\n";
        let input = FileContent { name: "a.need".to_owned(), bytes: text.as_bytes().into() };
        assert!(is_need_file(&input));
        let read = parse_needs(&input).unwrap();
        assert_eq!(read.needs, needs(&[("#1", "2"), ("1", "2")]));
        assert_eq!(read.ignored.comments, [1, 4, 5]);
        assert!(
            twice("1 2\n1 3\n").unwrap_err().to_string().contains("`3` for `1`, and `2` before")
        );
    }
}
