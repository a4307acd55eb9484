//! Run files: `<topic> 0 <document> <rank> <score> <run>`, or a table with a header that names its columns.

use crate::columns::Role;
use crate::fields::{IgnoredLines, Line, LineForm, for_each_line};
use crate::named::{NamedColumns, NamedForm, first_line};
use crate::sink::{Sink, quoted, read_strictly};
use crate::source::{FileContent, MOST_OF_A_RUN, Source};
use clariq_core::{
    DocId, Hit, Problem, ProblemKind, Ranking, RequestId, Result, count_of, problem,
};
use std::{fmt, io};

const FORM: LineForm = LineForm {
    names: "<topic> 0 <document> <rank> <score> <run>",
    // The name of the run.
    optional: 1,
    // Ranks are not read otherwise.
    unlike_comment: Some(|fields| fields[3].parse::<f64>().is_ok() && score(fields[4]).is_some()),
    trailing_words: true,
    kind: ProblemKind::NotARun,
};

/// A run with a header, as frames are written.
const NAMED: NamedForm = NamedForm {
    roles: [Role::Topic, Role::Document, Role::Score],
    what: "topics, documents and scores",
    hint: "a header such as `qid`, `docno`, `score` names one column for each of them, and may name more; a \
           run of TREC has none",
    is_value: |field| score(field).is_some(),
};

/// The score that replaces a score equal to 0 after another: so close to 0 that negative scores
/// after it are not lowered.
const JUST_BELOW_ZERO: f32 = -1e-30;

/// A line of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLine {
    pub topic: RequestId,
    pub document: DocId,
    /// The score; higher is better. Ranks are not read.
    pub score: f64,
    /// The line of the file.
    pub line: u64,
}

/// The content of a run file. Lines keep their order, because ClariQ's scorer keeps the first of
/// equal scores.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// The file, for messages.
    pub name: String,
    /// All lines.
    pub lines: Vec<RunLine>,
    /// Comments, and lines with words after the last field.
    pub ignored: IgnoredLines,
    /// The sign of exchanged or reversed columns, if there is one.
    pub rank_doubt: Option<&'static str>,
}

/// Compares ranks, which are not read otherwise, with scores.
#[derive(Default)]
struct RankOrder {
    /// The topic, the rank and the score of the line before.
    last: Option<(RequestId, f64, f64)>,
    agree: bool,
    disagree: bool,
    has_fraction: bool,
}

impl RankOrder {
    fn add(&mut self, rank: &str, line: &RunLine) {
        let Ok(rank) = rank.parse::<f64>() else { return };
        self.has_fraction |= rank.fract() != 0.0;
        if let Some((topic, rank_before, score_before)) = &self.last
            && *topic == line.topic
            && rank != *rank_before
            && line.score != *score_before
        {
            let rises = (rank > *rank_before) == (line.score > *score_before);
            self.agree |= !rises;
            self.disagree |= rises;
        }
        self.last = Some((line.topic.clone(), rank, line.score));
    }

    fn doubt(&self) -> Option<&'static str> {
        if self.has_fraction {
            return Some("a rank is not a whole number: are rank and score in each other's place?");
        }
        (self.disagree && !self.agree).then_some(
            "the scores rise with the ranks, and the order is that of the scores: are they distances?",
        )
    }
}

/// Reads a run. Ranks and the constant second field are ignored.
pub fn read_run(source: &Source) -> Result<Run> {
    read_strictly(source, MOST_OF_A_RUN, parse_run)
}

/// Reads a run, reports every problem to `sink`, and leaves lines with problems out.
pub fn parse_run(input: &FileContent, sink: Sink) -> Run {
    let mut run = Run { name: input.name.clone(), ..Run::default() };
    let (number, first) = first_line(input);
    match NamedColumns::of((&input.name, number), first, &NAMED) {
        Ok(Some(columns)) => return parse_named(run, &columns, input, sink),
        Ok(None) => {}
        Err(problem) => {
            sink(problem);
            return run;
        }
    }
    let lines = &mut run.lines;
    let mut order = RankOrder::default();
    run.ignored =
        for_each_line(input, FORM, sink, |line, sink| match parse_line(line, lines.last()) {
            Ok(read) => {
                order.add(line.fields[3], &read);
                lines.push(read);
            }
            Err(problem) => sink(*problem),
        });
    run.rank_doubt = order.doubt();
    if let Some(doubt) = run.rank_doubt {
        let hint = "runs are ordered by their scores, best first, and ranks are not read";
        let expected = "whole ranks, and scores that fall with them";
        sink(problem!((&*input.name, 1), expected, doubt, hint).warning());
    }
    if let Some(&first) = run.ignored.trailing_words.first() {
        let count = run.ignored.trailing_words.len();
        let hint = "trec_eval ignores them, too: was a tag with blanks written?";
        let found = format!("words after the last field, on {} in all", count_of(count, "line"));
        sink(problem!((&*input.name, first), "6 fields", found, hint).warning());
    }
    run
}

/// Reads a run whose header names its columns.
fn parse_named(mut run: Run, columns: &NamedColumns, input: &FileContent, sink: Sink) -> Run {
    run.ignored = columns.for_each(input, sink, |at, [topic, document, written], sink| {
        let Some(score) = score(written) else {
            return sink(problem!(at, "a finite score", (quoted(written)), (score_hint(written))));
        };
        let document = document.into();
        run.lines.push(RunLine { topic: topic.into(), document, score, line: at.1 });
    });
    run
}

fn parse_line(line: &Line, last: Option<&RunLine>) -> Result<RunLine, Box<Problem>> {
    let Some(score) = score(line.fields[4]) else { return Err(Box::new(no_score(line))) };
    if has_row_number(line) {
        let hint = "write the run without them (`index=False` in pandas, `row.names = FALSE` in R)";
        return Err(Box::new(
            line.problem("the topic in the first field, and no row numbers", hint),
        ));
    }
    let topic = line.fields[0];
    Ok(RunLine {
        // The lines of a topic are usually consecutive.
        topic: match last {
            Some(last) if last.topic.as_str() == topic => last.topic.clone(),
            _ => topic.into(),
        },
        document: line.fields[2].into(),
        score,
        line: line.at.1,
    })
}

/// True for a line with a number before the topic, as frames of pandas and R have it.
fn has_row_number(line: &Line) -> bool {
    let is_constant = |field: &str| field.eq_ignore_ascii_case("Q0");
    line.has_more
        && is_constant(line.fields[2])
        && !is_constant(line.fields[1])
        && line.fields[0].bytes().all(|byte| byte.is_ascii_digit())
}

/// The problem of a line whose fifth field is no score, with the usual reason.
fn no_score(line: &Line) -> Problem {
    if line.fields.len() == 5 {
        let hint = "the line has 5 fields: is the rank, the score or the `Q0` missing?";
        return line.wrong_count(FORM, hint);
    }
    line.problem("a finite score in the fifth field", score_hint(line.fields[4]))
}

/// The hint on a field that is no score.
fn score_hint(field: &str) -> &'static str {
    if score(&field.replacen(',', ".", 1)).is_some() {
        "decimals have a point: write 12.5, not 12,5"
    } else if field.parse::<f64>().is_ok() {
        "what is infinite or not a number has no place among the scores of a topic"
    } else {
        "write scores as 12.5 or 1.25e1"
    }
}

fn score(field: &str) -> Option<f64> {
    field.parse().ok().filter(|score: &f64| score.is_finite())
}

/// Writes the ranking of a topic as lines of a run, best first, ranks from 1, scores [strictly
/// decreasing](strictly_decreasing). A tag with white space in it is written with `_` instead.
pub fn put_run_lines<D: fmt::Display>(
    out: &mut dyn io::Write,
    topic: impl fmt::Display,
    ranking: impl IntoIterator<Item = (D, f64)>,
    tag: &str,
) -> io::Result<()> {
    let tag = tag.replace(char::is_whitespace, "_");
    let (documents, scores): (Vec<_>, Vec<_>) = ranking.into_iter().unzip();
    for (rank, (document, score)) in (1..).zip(documents.iter().zip(strictly_decreasing(&scores))) {
        if !score.is_finite() {
            let found = format!("a score is not finite: {score}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, found));
        }
        writeln!(out, "{topic} 0 {document} {rank} {} {tag}", show_score(score))?;
    }
    Ok(())
}

/// A ranking with its scores [lowered where needed](strictly_decreasing): readers order it by these.
pub fn as_written(ranking: &[Hit]) -> Ranking {
    let scores: Vec<f64> = ranking.iter().map(|hit| hit.score).collect();
    let written = ranking.iter().zip(strictly_decreasing(&scores));
    written.map(|(hit, score)| Hit { score, ..*hit }).collect()
}

/// The scores of a ranking, lowered where needed so that they strictly decrease, in order. Finite
/// scores stay finite.
///
/// Readers order a run by its scores and not by its ranks: the official scorer of `ClariQ` keeps
/// one line for each distinct score; `trec_eval` up to 9 and `pytrec_eval` compare scores in single
/// precision, and order equal ones by id. So a score that is not below its predecessor *in single
/// precision* is lowered to the next number that is. It keeps its sign. The last of `n` equal scores is
/// lowered by at most `n` × 2⁻²³ of its value: 800 equal scores keep four digits. A score that needs no
/// change keeps all digits.
pub fn strictly_decreasing(scores: &[f64]) -> Vec<f64> {
    let mut lowered = Vec::with_capacity(scores.len());
    let mut previous: Option<f64> = None;
    for &score in scores {
        let score = match previous {
            Some(previous) if !is_below(score, previous) => just_below(previous).min(score),
            _ => score,
        };
        lowered.push(score);
        previous = Some(score);
    }
    // Nothing is below the lowest number: the scores before it are raised.
    let mut least = f64::MIN;
    for (score, original) in lowered.iter_mut().zip(scores).rev() {
        if *score >= least || !original.is_finite() {
            break;
        }
        *score = least;
        least = least.next_up();
    }
    lowered
}

fn is_below(score: f64, previous: f64) -> bool {
    let single = score as f32;
    let before = previous as f32;
    // Beyond the single range both are infinite, and only double precision can tell them apart.
    if single.is_finite() && before.is_finite() { single < before } else { score < previous }
}

fn just_below(previous: f64) -> f64 {
    let single = previous as f32;
    let lower = if single == 0.0 { JUST_BELOW_ZERO } else { single.next_down() };
    if !lower.is_finite() {
        return previous.next_down();
    }
    // Through its text, which has fewer digits than the same number in double precision.
    lower.to_string().parse().unwrap_or_else(|_| f64::from(lower))
}

/// A score as it is written. A negative zero is zero.
pub fn show_score(score: f64) -> String {
    let score = score + 0.0;
    if score != 0.0 && score.abs() < 1e-6 { format!("{score:e}") } else { score.to_string() }
}

#[cfg(test)]
mod tests;
