//! Responses that people assessed: which nuggets they hold, and how they are rated.
//!
//! Nothing here is judged by a program: the files have the decisions. Nugget recall is that of CONE-RAG
//! (arXiv 2503.09902): the nuggets of a turn that the response holds, divided by all nuggets of the turn,
//! and its mean over the turns.

use crate::qrels::check_turns;
use crate::topics::TopicFile;
use clariq_collections::entries::UniqueEntries;
use clariq_core::{Error, RequestId, bail, count_of, parse_json, problem};
use clariq_eval::{Score, exact_mean, mean_interval};
use clariq_files::records::Records;
use clariq_files::{MOST_OF_A_TABLE, Source, not_utf8, quoted, shorten};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

const FORM: &str = "matches are lines `SHEET_TURN_NUGGET_RUN<TAB>0 or 1` as of the study of 2024, or an \
                    object `{\"0_8\": {\"RUN\": {\"nuggets\": {\"matched\": […], \"not-matched\": […]}}}}`";
const ONCE: &str = "a nugget of a turn has one decision for each run; sheets may repeat it";

/// The nuggets of the turns, and which of them a response holds.
#[derive(Default)]
struct Matches {
    /// By run, turn and nugget.
    runs: BTreeMap<String, BTreeMap<String, BTreeMap<String, NuggetDecision>>>,
}

struct NuggetDecision {
    sheet: String,
    /// True if the response holds the nugget.
    is_match: bool,
}

#[derive(Deserialize)]
struct AnyRun {
    nuggets: Option<Nuggets>,
}

#[derive(Deserialize)]
struct Nuggets {
    matched: Vec<String>,
    #[serde(rename = "not-matched", alias = "not_matched")]
    not_matched: Vec<String>,
}

impl Matches {
    fn read(source: &Source) -> Result<Self, Error> {
        let input = source.read_at_most(MOST_OF_A_TABLE)?;
        let mut matches = Self::default();
        if input.bytes.trim_ascii_start().first() == Some(&b'{') {
            let turns: UniqueEntries<UniqueEntries<AnyRun>> =
                parse_json(&*input.name, &input.bytes).map_err(|problem| problem.hint(FORM))?;
            for (turn, runs) in turns.0 {
                for (run, AnyRun { nuggets }) in runs.0 {
                    let Some(nuggets) = nuggets else { continue };
                    for (texts, is_match) in [(nuggets.matched, true), (nuggets.not_matched, false)]
                    {
                        for text in texts {
                            let name =
                                StudyName { sheet: "", turn: &turn, nugget: &text, run: &run };
                            let before = matches.add(&name, is_match);
                            if before.is_some_and(|before| before.is_match != is_match) {
                                let found = format!("`{}` again", shorten(&text));
                                bail!(&*input.name, "every nugget of {turn} once", found, ONCE);
                            }
                        }
                    }
                }
            }
            return Ok(matches);
        }
        for (number, line) in (1_u64..).zip(input.bytes.split(|&byte| byte == b'\n')) {
            let at = (&*input.name, number);
            let line = str::from_utf8(line).map_err(|_| not_utf8(at, "nugget", line))?;
            if line.trim().is_empty() {
                continue;
            }
            let Some((name, is_match)) = study_line(line) else {
                bail!(at, "a nugget of a turn with 0 or 1", (quoted(line)), FORM);
            };
            let before = matches.add(&name, is_match);
            if before.is_some_and(|it| it.sheet == name.sheet || it.is_match != is_match) {
                let found = format!("`{}` again", shorten(line));
                bail!(at, "every nugget once", found, ONCE);
            }
        }
        Ok(matches)
    }

    /// Adds a decision, and returns the earlier one.
    fn add(&mut self, name: &StudyName, is_match: bool) -> Option<NuggetDecision> {
        let turns = self.runs.entry(name.run.to_owned()).or_default();
        let nuggets = turns.entry(name.turn.to_owned()).or_default();
        let decision = NuggetDecision { sheet: name.sheet.to_owned(), is_match };
        nuggets.insert(name.nugget.to_owned(), decision)
    }
}

/// A nugget in the study of 2024: `1_0_8_4_run-1` is sheet 1, turn `0_8`, nugget 4, and the run.
struct StudyName<'l> {
    sheet: &'l str,
    turn: &'l str,
    nugget: &'l str,
    run: &'l str,
}

fn study_line(line: &str) -> Option<(StudyName<'_>, bool)> {
    let (name, decision) = line.split_once('\t')?;
    let (sheet, rest) = name.split_once('_')?;
    let end = rest.match_indices('_').nth(1)?.0;
    let turn = &rest[..end];
    let rest = &rest[end + 1..];
    let (nugget, run) = rest.split_once('_')?;
    let is_match = match decision.trim() {
        "0" => false,
        "1" => true,
        _ => return None,
    };
    (!run.is_empty()).then_some((StudyName { sheet, turn, nugget, run }, is_match))
}

/// The nugget recall of a run in each assessed turn.
pub(super) fn nugget_recall(
    source: &Source,
    run: &str,
    topics: &TopicFile,
) -> Result<Score, Error> {
    let mut matches = Matches::read(source)?;
    let Some(turns) = matches.runs.remove(run) else {
        let known: BTreeSet<&String> = matches.runs.keys().collect();
        let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let hint = format!("--matched-run names it; the file has {known}");
        return Err(problem!(
            source.name(),
            "matches of the run",
            (format!("none of `{run}`")),
            hint
        )
        .into());
    };
    check_turns(&source.name(), turns.keys().map(String::as_str), topics)?;
    let values = turns.into_iter().map(|(turn, nuggets)| {
        let held = nuggets.values().filter(|decision| decision.is_match).count();
        (RequestId::from(turn.as_str()), held as f64 / nuggets.len() as f64)
    });
    Ok(Score::new("response", "nugget recall", values.collect()))
}

/// Names of the column of a table of ratings with the names of judges.
const JUDGES: [&str; 9] = [
    "judge",
    "judge_id",
    "assessor",
    "assessor_id",
    "annotator",
    "annotator_id",
    "rater",
    "worker",
    "worker_id",
];

fn is_judge(column: &str) -> bool {
    JUDGES.iter().any(|name| column.eq_ignore_ascii_case(name))
}

/// A rating by people, with the 95 % interval of its mean over turns.
pub(super) struct Rating {
    pub(super) name: String,
    pub(super) score: Score,
    pub(super) interval: (f64, f64),
}

const RATINGS: &str = "a table has a header such as `turn,relevance,conciseness`, and a row for each \
                    turn or for each turn and judge; a column `judge` names the judge";

/// Reads a table of ratings: a column `turn`, and numbers under the name of each rating, between tabs or
/// commas. A turn may have several rows, one for each judge, whose mean counts; a column `judge` has their
/// names, and no judge rates a turn twice.
pub(super) fn ratings(
    source: &Source,
    topics: &TopicFile,
    seed: u64,
) -> Result<Vec<Rating>, Error> {
    let input = source.read_at_most(MOST_OF_A_TABLE)?;
    let first = input.bytes.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let has_tabs = first.is_some_and(|line| line.contains(&b'\t'));
    let mut records = Records::new(&input, if has_tabs { b'\t' } else { b',' });
    let header = next_row(&mut records)?;
    let (_, names) = header.unwrap_or(((&*input.name, 1), Vec::new()));
    check_columns(&names, &input.name)?;
    let judge = names.iter().position(|name| is_judge(name));
    let mut rated: BTreeSet<(String, String)> = BTreeSet::new();
    let mut turns: Vec<BTreeMap<String, Vec<f64>>> = vec![BTreeMap::new(); names.len() - 1];
    while let Some((at, fields)) = next_row(&mut records)? {
        if fields.len() != names.len() {
            let expected = format!("{} fields, as in the header", names.len());
            let found = format!("{} in `{}`", fields.len(), shorten(&fields.join(",")));
            bail!(at, expected, found, RATINGS);
        }
        let by = judge.and_then(|place| fields.get(place)).filter(|judge| !judge.is_empty());
        if let Some(judge) = by
            && !rated.insert((fields[0].clone(), judge.clone()))
        {
            let expected = format!("one row for {} and the judge `{}`", fields[0], shorten(judge));
            bail!(at, expected, "another one", "remove one of the two: both would count");
        }
        for ((ratings, field), name) in turns.iter_mut().zip(&fields[1..]).zip(&names[1..]) {
            // A judge may leave a rating out.
            if field.is_empty() || is_judge(name) {
                continue;
            }
            let value = field.parse::<f64>().ok().filter(|value| value.is_finite());
            let Some(value) = value else {
                bail!(at, "a number in the column `{name}`", (quoted(field)), RATINGS)
            };
            ratings.entry(fields[0].clone()).or_default().push(value);
        }
    }
    let mut all = Vec::new();
    let all_ratings = names[1..].iter().zip(turns).filter(|(name, _)| !is_judge(name));
    for (name, turns) in all_ratings {
        if turns.is_empty() {
            bail!(&*input.name, "a rating in the column `{name}`", "none", RATINGS);
        }
        check_turns(&source.name(), turns.keys().map(String::as_str), topics)?;
        let mean = |values: &[f64]| exact_mean(values.iter().copied());
        let values: Vec<(RequestId, f64)> =
            turns.iter().map(|(turn, values)| (turn.as_str().into(), mean(values))).collect();
        let means: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let name = format!("rating {name}");
        let known_as = Some(format!("{name}, {}", count_of(means.len(), "turn")));
        all.push(Rating {
            score: Score { known_as, unit: "turn", ..Score::new("", &*name, values) },
            name,
            interval: mean_interval(&means, seed),
        });
    }
    Ok(all)
}

/// Refuses a header of ratings that cannot be read in one way alone.
fn check_columns(names: &[String], file: &str) -> Result<(), Error> {
    let at = (file, 1);
    if let Some((_, again)) =
        names.iter().enumerate().find(|(index, name)| names[..*index].contains(name))
    {
        bail!(at, "columns of different names", "`{again}` twice", RATINGS);
    }
    if names.first().is_none_or(|first| first != "turn") || names.len() < 2 {
        bail!(at, "a header `turn,RATING`", (quoted(&names.join(","))), RATINGS);
    }
    if names.iter().any(String::is_empty) {
        let hint = "are these row numbers? `to_csv(index=False)` leaves those of pandas out";
        let found = format!("a column without one in `{}`", shorten(&names.join(",")));
        bail!(at, "a name for every column", found, hint);
    }
    if names[1..].iter().all(|name| is_judge(name)) {
        bail!(at, "a column with ratings", "names of judges alone", RATINGS);
    }
    Ok(())
}

/// A line of a table, and its fields.
type TableRow<'a> = ((&'a str, u64), Vec<String>);

/// The next line with a text, without white space at the ends of fields.
fn next_row<'a>(records: &mut Records<'a>) -> Result<Option<TableRow<'a>>, Error> {
    while let Some((at, record)) = records.next() {
        let mut fields = Vec::new();
        for field in record.map_err(Error::Problem)? {
            let Ok(text) = str::from_utf8(field) else {
                bail!(at, "UTF-8", "other bytes", RATINGS)
            };
            fields.push(text.trim().to_owned());
        }
        if fields.iter().any(|field| !field.is_empty()) {
            return Ok(Some((at, fields)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_with_a_run_twice_or_without_a_list_are_refused() {
        let run = r#"{"nuggets": {"matched": ["a"], "not-matched": ["b"]}}"#;
        for (text, says) in [
            (
                format!(r#"{{"0_1": {{"r": {run}, "r": {run}}}}}"#),
                "m.json:1: expected `r` once at `0_1`, found it again",
            ),
            (
                format!(r#"{{"0_1": {{"r": {run}}}, "0_1": {{}}}}"#),
                "m.json: expected `0_1` once, found it again",
            ),
            (
                format!(r#"{{"0_1": {{"r": {}}}}}"#, run.replace("not-", "un")),
                "m.json:1: expected a field `not-matched` at `0_1.r.nuggets`, found none",
            ),
        ] {
            let read = Matches::read(&Source::memory("m.json", text.as_bytes()));
            assert_eq!(read.map(|_| ()).unwrap_err().to_string(), says);
        }
    }
}
