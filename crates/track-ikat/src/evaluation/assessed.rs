//! Responses that people assessed: which nuggets they hold, and how they are rated.
//!
//! Nothing here is judged by a program: the files have the decisions. Nugget recall is that of CONE-RAG
//! (arXiv 2503.09902): the nuggets of a turn that the response holds, divided by all nuggets of the turn,
//! and its mean over the turns.

use crate::qrels::check_turns;
use crate::topics::TopicFile;
use clariq_core::{Error, RequestId, bail, parse_json, problem};
use clariq_eval::{Column, bootstrap_interval, exact_mean};
use clariq_files::{MOST_OF_A_TABLE, Source, shorten};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

const FORM: &str = "matches are lines `SHEET_TURN_NUGGET_RUN<TAB>0 or 1` as of the study of 2024, or an \
                    object `{\"0_8\": {\"RUN\": {\"nuggets\": {\"matched\": […], \"not-matched\": […]}}}}`";
/// Rounds of the bootstrap.
const ROUNDS: u32 = 10_000;

/// The nuggets of the turns, and which of them a response holds.
#[derive(Default)]
struct Matches {
    /// For each run, turn and nugget: true if the response holds it.
    runs: BTreeMap<String, BTreeMap<String, BTreeMap<String, bool>>>,
}

#[derive(Deserialize)]
struct AnyRun {
    nuggets: Option<Nuggets>,
}

#[derive(Deserialize)]
struct Nuggets {
    #[serde(default)]
    matched: Vec<String>,
    #[serde(default, rename = "not-matched", alias = "not_matched")]
    not_matched: Vec<String>,
}

impl Matches {
    fn read(source: &Source) -> Result<Self, Error> {
        let input = source.read_at_most(MOST_OF_A_TABLE)?;
        let mut matches = Self::default();
        if input.bytes.trim_ascii_start().first() == Some(&b'{') {
            let turns: BTreeMap<String, BTreeMap<String, AnyRun>> =
                parse_json(&*input.name, &input.bytes).map_err(|problem| problem.hint(FORM))?;
            for (turn, runs) in turns {
                for (run, AnyRun { nuggets }) in runs {
                    let Some(nuggets) = nuggets else { continue };
                    for (texts, is_match) in [(nuggets.matched, true), (nuggets.not_matched, false)]
                    {
                        for text in texts {
                            matches.add(&run, &turn, &text, is_match);
                        }
                    }
                }
            }
            return Ok(matches);
        }
        for (number, line) in (1_u64..).zip(input.bytes.split(|&byte| byte == b'\n')) {
            let line = str::from_utf8(line).unwrap_or("\u{fffd}").trim_end_matches('\r');
            if line.trim().is_empty() {
                continue;
            }
            let Some((name, is_match)) = study_line(line) else {
                let found = format!("`{}`", shorten(line));
                bail!((&*input.name, number), "a nugget of a turn with 0 or 1", found, FORM);
            };
            if matches.add(name.run, &name.turn, name.nugget, is_match) {
                let found = format!("`{}` again", shorten(line));
                let hint = "a nugget of a turn has one decision for each run";
                bail!((&*input.name, number), "every nugget once", found, hint);
            }
        }
        Ok(matches)
    }

    /// Adds a decision; true if there was one.
    fn add(&mut self, run: &str, turn: &str, nugget: &str, is_match: bool) -> bool {
        let turns = self.runs.entry(run.to_owned()).or_default();
        turns.entry(turn.to_owned()).or_default().insert(nugget.to_owned(), is_match).is_some()
    }
}

/// A nugget in the study of 2024: `1_0_8_4_run-1` is sheet 1, turn `0_8`, nugget 4, and the run.
struct StudyName<'l> {
    turn: String,
    nugget: &'l str,
    run: &'l str,
}

fn study_line(line: &str) -> Option<(StudyName<'_>, bool)> {
    let (name, decision) = line.split_once('\t')?;
    let mut fields = name.splitn(5, '_');
    let _sheet = fields.next()?;
    let turn = format!("{}_{}", fields.next()?, fields.next()?);
    let nugget = fields.next()?;
    let run = fields.next()?;
    let is_match = match decision.trim() {
        "0" => false,
        "1" => true,
        _ => return None,
    };
    (!run.is_empty()).then_some((StudyName { turn, nugget, run }, is_match))
}

/// The nugget recall of a run in each assessed turn.
pub(super) fn nugget_recall(
    source: &Source,
    run: &str,
    topics: &TopicFile,
) -> Result<Column, Error> {
    let mut matches = Matches::read(source)?;
    let Some(turns) = matches.runs.remove(run) else {
        let known: BTreeSet<&String> = matches.runs.keys().collect();
        let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
        let hint = format!("--matched-run names it; the file has {}", known.join(", "));
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
        let held = nuggets.values().filter(|held| **held).count();
        (RequestId::from(turn.as_str()), held as f64 / nuggets.len() as f64)
    });
    Ok(Column::new("response", "nugget recall", values.collect()))
}

/// A rating by people, with the 95 % interval of its mean over turns.
pub(super) struct Rating {
    pub(super) name: String,
    pub(super) turns: usize,
    pub(super) mean: f64,
    pub(super) interval: (f64, f64),
}

/// Reads a table of ratings: a column `turn`, and numbers under the name of each rating, between tabs or
/// commas. A turn may have several rows, one for each judge, whose mean counts.
pub(super) fn ratings(
    source: &Source,
    topics: &TopicFile,
    seed: u64,
) -> Result<Vec<Rating>, Error> {
    const FORM: &str = "a table has a header such as `turn,relevance,conciseness`, and a row for each \
                        turn or for each turn and judge";
    let input = source.read_at_most(MOST_OF_A_TABLE)?;
    let text = str::from_utf8(&input.bytes)
        .map_err(|_| problem!(&*input.name, "UTF-8", "other bytes", FORM))?;
    let mut lines = (1_u64..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let header = lines.next().map_or("", |(_, line)| line);
    let separator = if header.contains('\t') { '\t' } else { ',' };
    let names: Vec<&str> = header.split(separator).map(str::trim).collect();
    if names.first() != Some(&"turn") || names.len() < 2 {
        let found = format!("`{}`", shorten(header));
        bail!((&*input.name, 1), "a header `turn,RATING`", found, FORM);
    }
    let mut turns: Vec<BTreeMap<&str, Vec<f64>>> = vec![BTreeMap::new(); names.len() - 1];
    for (number, line) in lines {
        let fields: Vec<&str> = line.split(separator).map(str::trim).collect();
        let wrong = |expected: &str, found: &str| {
            problem!((&*input.name, number), expected, (format!("`{}`", shorten(found))), FORM)
        };
        if fields.len() != names.len() {
            return Err(wrong("as many fields as the header has", line).into());
        }
        for (ratings, field) in turns.iter_mut().zip(&fields[1..]) {
            // A judge may leave a rating out.
            if field.is_empty() {
                continue;
            }
            let value = field.parse::<f64>().ok().filter(|value| value.is_finite());
            let value = value.ok_or_else(|| wrong("a number", field))?;
            ratings.entry(fields[0]).or_default().push(value);
        }
    }
    let mut all = Vec::new();
    for (name, turns) in names[1..].iter().zip(turns) {
        if turns.is_empty() {
            bail!(&*input.name, "a rating in the column `{name}`", "none", FORM);
        }
        check_turns(&source.name(), turns.keys().copied(), topics)?;
        let means: Vec<f64> =
            turns.values().map(|values| exact_mean(values.iter().copied())).collect();
        let mean = |values: &[f64]| exact_mean(values.iter().copied());
        all.push(Rating {
            name: (*name).to_owned(),
            turns: means.len(),
            mean: mean(&means),
            interval: bootstrap_interval(&means, ROUNDS, seed, mean),
        });
    }
    Ok(all)
}
