//! Whether to ask: a request is underspecified or not, and the reference response to one that is asks
//! a clarifying question.
//!
//! A run decides by the score of its best passage: below a threshold, the system asks. The threshold of
//! a domain is the one with the highest balanced accuracy on the other domains, so that no domain
//! chooses its own. A need file decides by itself: from 2 on, it asks. So do responses: one that ends with
//! a question asks it.

use crate::domains::Domain;
use crate::submission::GivenResponse;
use crate::tasks::{Answerability, MtragTask};
use clariq_collections::evaluation::{ASKS_FROM, DECISION_COLUMNS, ScoreTable, decision_rows};
use clariq_core::RequestId;
use clariq_eval::{Decision, best_threshold};
use std::collections::{BTreeMap, HashMap, HashSet};

const ALL: &str = "all";
const ENDS_WITH_A_QUESTION: &str = "response ends with ?";

/// A label with what speaks for asking.
struct Scored {
    label: bool,
    score: f64,
}

/// The requests with labels by domain. Every request has the score that `score` gives it.
fn by_domain(
    tasks: &[MtragTask],
    score: impl Fn(&RequestId) -> f64,
) -> BTreeMap<Domain, Vec<Scored>> {
    let mut domains: BTreeMap<Domain, Vec<Scored>> = BTreeMap::new();
    for task in tasks {
        if let Some(answerability) = task.answerability {
            let score = score(&task.id);
            let label = answerability == Answerability::Underspecified;
            domains.entry(task.domain).or_default().push(Scored { label, score });
        }
    }
    if domains.values().flatten().any(|scored| scored.label) { domains } else { BTreeMap::new() }
}

/// The decisions of a run by the scores of its best passages, in the domains that it answers; a request
/// without a passage is below every score. `None` if no request is underspecified, or only one domain is
/// answered.
pub(crate) fn by_best_score(
    tasks: &[MtragTask],
    best: &HashMap<&RequestId, f64>,
) -> Option<ScoreTable> {
    let answered: HashSet<Domain> =
        tasks.iter().filter(|task| best.contains_key(&task.id)).map(|task| task.domain).collect();
    let lowest = best.values().copied().fold(f64::INFINITY, f64::min);
    let mut domains = by_domain(tasks, |id| -best.get(id).copied().unwrap_or(lowest - 1.0));
    domains.retain(|domain, _| answered.contains(domain));
    if domains.len() < 2 {
        return None;
    }
    let rule = |domain: Domain| {
        let others = domains.iter().filter(|(other, _)| **other != domain);
        let others: Vec<(bool, f64)> =
            others.flat_map(|(_, scored)| scored).map(|it| (it.label, it.score)).collect();
        let threshold = best_threshold(&others);
        let name = if threshold.is_infinite() {
            "best score, never".to_owned()
        } else if threshold > -lowest {
            "nothing found".to_owned()
        } else {
            format!("best score up to {:.3}", -threshold)
        };
        (name, threshold)
    };
    Some(table(&domains, "best score", rule))
}

/// The decisions of a need file.
pub(crate) fn by_need(tasks: &[MtragTask], needs: &HashMap<&RequestId, f64>) -> ScoreTable {
    let domains = by_domain(tasks, |id| needs.get(id).copied().unwrap_or(0.0));
    table(&domains, "need file", |_| ("need file".to_owned(), ASKS_FROM))
}

/// True if a response ends with a question. The organisers have a language model decide whether it asks
/// for clarification, which finds `Please say which one you mean.` as well.
pub fn asks(response: &str) -> bool {
    response
        .trim_end_matches(|sign: char| sign.is_whitespace() || "\"')]*”’".contains(sign))
        .ends_with('?')
}

/// The decisions of responses, in the domains that have some; a request without one is not asked about.
/// `None` if there are no responses, or no request is underspecified.
pub(crate) fn by_response(
    tasks: &[MtragTask],
    responses: &HashMap<RequestId, GivenResponse>,
) -> Option<ScoreTable> {
    let with_response = tasks.iter().filter(|task| responses.contains_key(&task.id));
    let answered: HashSet<Domain> = with_response.map(|task| task.domain).collect();
    let score =
        |id: &RequestId| f64::from(u8::from(responses.get(id).is_some_and(|it| asks(&it.text))));
    let mut domains = by_domain(tasks, score);
    domains.retain(|domain, _| answered.contains(domain));
    let table = table(&domains, ENDS_WITH_A_QUESTION, |_| (ENDS_WITH_A_QUESTION.to_owned(), 1.0));
    (!domains.is_empty()).then_some(ScoreTable { name: "responses", ..table })
}

fn decide(scored: &[Scored], threshold: f64) -> Vec<Decision> {
    let decide =
        |it: &Scored| Decision { label: it.label, decided: it.score >= threshold, score: it.score };
    scored.iter().map(decide).collect()
}

/// The decisions in each domain by the rule that it has, and those of all domains. A rule has a name, and the
/// lowest score that asks.
fn table(
    domains: &BTreeMap<Domain, Vec<Scored>>,
    name_of_all: &str,
    rule: impl Fn(Domain) -> (String, f64),
) -> ScoreTable {
    let mut rows = Vec::new();
    let mut pooled = Vec::new();
    for (domain, scored) in domains {
        let (name, threshold) = rule(*domain);
        let decisions = decide(scored, threshold);
        rows.extend(decision_rows(domain.name(), &name, &decisions));
        pooled.extend(decisions);
    }
    rows.extend(decision_rows(ALL, name_of_all, &pooled));
    let header = [&["domain", "ask"][..], &DECISION_COLUMNS].concat();
    ScoreTable { name: "asking", header, rows }
}
