//! Oracles: the best or worst question of each topic or context by an evaluation table.

use super::table_stem;
use crate::{
    BEST, ClariQ, ContextId, ContextScores, EvalTable, Labelled, NO_QUESTION, WORST,
    put_text_run_line,
};
use clariq_collections::{Collection, Split};
use clariq_core::{Documents, Error, IoAction, Problem, RequestId, Result, bail, problem};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// The question that an oracle chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The question with the highest score.
    Best,
    /// The question with the lowest score.
    Worst,
}

/// The question of every topic with facets in the table, in file order. A topic's score is the mean
/// over its facets, where a question that is not a candidate counts as the facet's worst, as in the
/// official scorer. Of equal scores, the higher id is chosen. The worst question is [`WORST`], which
/// is the worst of each facet by itself, as in the published run.
fn oracle_of_topics(
    table: &EvalTable,
    metric: &str,
    labels: &Labelled,
    choice: Choice,
) -> Option<Vec<(RequestId, String)>> {
    let metric = table.metric(metric)?;
    let mut facets: Vec<Vec<ContextScores>> = vec![Vec::new(); labels.topics.len()];
    for facet in &labels.facets {
        let context = ContextId::Facet(facet.id.clone());
        facets[facet.topic].extend(metric.context(&context));
    }
    let topics = labels.topics.iter().zip(facets).filter(|(_, facets)| !facets.is_empty());
    let chosen = topics.filter_map(|(topic, facets)| {
        let question = match choice {
            Choice::Worst => WORST.to_owned(),
            Choice::Best => best_of(&facets)?,
        };
        Some((topic.id.clone(), question))
    });
    Some(chosen.collect())
}

fn best_of(facets: &[ContextScores]) -> Option<String> {
    let candidates = facets.iter().flat_map(|facet| facet.questions());
    let candidates: BTreeSet<&str> = candidates.map(|(question, _)| question).collect();
    let score = |facet: &ContextScores, question: &str| {
        facet.score(question).or_else(|| facet.score(WORST)).unwrap_or(0.0)
    };
    let sum = |question: &str| facets.iter().map(|facet| score(facet, question)).sum::<f64>();
    let questions = candidates.into_iter().filter(|question| ![BEST, WORST].contains(question));
    // Ids ascend, and `max_by` keeps the last of equals.
    questions.max_by(|a, b| sum(a).total_cmp(&sum(b))).map(str::to_owned)
}

/// The question of every context of a multi-turn table, in its order. Of equal scores, the higher id
/// is chosen.
fn oracle_of_contexts(
    table: &EvalTable,
    metric: &str,
    choice: Choice,
) -> Option<Vec<(i64, String)>> {
    let metric = table.metric(metric)?;
    let mut chosen = Vec::new();
    for (id, context) in metric.contexts() {
        let ContextId::Number(number) = id else { continue };
        let scores = context.questions().filter(|(id, _)| ![BEST, WORST].contains(id));
        let scores: BTreeMap<&str, f64> =
            scores.filter_map(|(question, score)| Some((question, score?))).collect();
        let sign = if choice == Choice::Best { 1.0 } else { -1.0 };
        let best = scores.into_iter().max_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
        chosen.extend(best.map(|(question, _)| (*number, question.to_owned())));
    }
    Some(chosen)
}

/// An oracle run: the best or the worst that a system could reach.
pub struct OracleRun {
    /// The lines of the run file.
    pub lines: Vec<u8>,
    /// The name of the table that decides.
    pub table: String,
}

/// The options of an oracle run.
pub struct OracleRequest<'a> {
    /// The chosen questions; `None` if no question is asked.
    pub choice: Option<Choice>,
    /// The name of the run.
    pub name: &'a str,
    /// The split whose topics or contexts are answered.
    pub split: Split,
    /// The metric of the table that decides.
    pub metric: &'a str,
    /// Contexts of the multi-turn table in place of topics.
    pub multi_turn: bool,
}

/// Makes the run of an oracle.
///
/// # Errors
///
/// A collection without evaluation tables, a metric that its table does not have, a table without a
/// topic or context of the split, and a question that is not in the bank.
pub fn oracle_run(collection: &dyn Collection, request: &OracleRequest) -> Result<OracleRun> {
    let clariq = ClariQ::of(collection)?;
    let split = request.split;
    let stem = table_stem(split, request.multi_turn);
    let table = EvalTable::open(&clariq.data, &stem)?;
    let choice = request.choice.unwrap_or(Choice::Best);
    let mut lines = Vec::new();
    let written = |question: String| match request.choice {
        Some(_) => question,
        None => NO_QUESTION.to_owned(),
    };
    let name = request.name;
    let write = Error::io(IoAction::Write, "run");
    if request.multi_turn {
        let chosen = oracle_of_contexts(&table, request.metric, choice);
        for (context, question) in chosen.ok_or_else(|| no_metric(request.metric, &table))? {
            let question = written(question);
            let hint = "the table and the bank must be of one release";
            let Some(number) = clariq.bank.find(&question) else {
                bail!(stem, "question ids of question_bank.tsv", "`{question}`", hint)
            };
            let text = clariq.bank.text(number);
            put_text_run_line(&mut lines, context, text, 1, 1.0, name).map_err(&write)?;
        }
    } else {
        let labels = clariq.labelled(split)?;
        let chosen = oracle_of_topics(&table, request.metric, &labels, choice);
        for (topic, question) in chosen.ok_or_else(|| no_metric(request.metric, &table))? {
            writeln!(lines, "{topic} 0 {} 1 1 {name}", written(question)).map_err(&write)?;
        }
    }
    if lines.is_empty() {
        let expected = format!("scores for the contexts of {}", request.split);
        bail!(stem, expected, "none", "the table and the labels must be of one release");
    }
    Ok(OracleRun { lines, table: stem })
}

fn no_metric(metric: &str, table: &EvalTable) -> Problem {
    let names: Vec<String> = table.metrics().map(|table| format!("`{}`", table.name)).collect();
    let names = names.join(", ");
    let hint = "leave --metric out to choose by MRR100";
    problem!("--metric", "a metric of the table, one of {names}", "`{metric}`", hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::tests::{labels, table};

    #[test]
    fn a_topic_gets_the_question_that_is_best_over_its_facets() {
        let labels = labels(&[("1", &["Q1"]), ("2", &["Q2"])]);
        let scores = [("Q1", 0.5), ("Q2", 0.5), ("Q3", 0.4), ("MIN", 0.1), ("MAX", 0.9)];
        let table = table(&[("F0".into(), &scores)]);
        let chosen = |choice| oracle_of_topics(&table, "P1", &labels, choice).unwrap();
        assert_eq!(
            chosen(Choice::Best),
            [("1".into(), "Q2".to_owned())],
            "the higher id; topic 2 has no facet there"
        );
        assert_eq!(chosen(Choice::Worst), [("1".into(), "MIN".to_owned())]);
        assert!(oracle_of_topics(&table, "P3", &labels, Choice::Best).is_none());
    }

    #[test]
    fn a_context_gets_its_best_or_worst_question() {
        let table = table(&[
            (968.into(), &[("Q1", 0.5), ("Q2", 0.6), ("MIN", 0.1), ("MAX", 0.9)]),
            (7.into(), &[("MIN", 0.1)]),
        ]);
        let chosen = |choice| oracle_of_contexts(&table, "P1", choice).unwrap();
        assert_eq!(chosen(Choice::Best), [(968, "Q2".to_owned())]);
        assert_eq!(chosen(Choice::Worst), [(968, "Q1".to_owned())]);
    }
}
