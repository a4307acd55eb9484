//! Statistics of a folder.

use crate::domains::Domain;
use crate::ids::parts;
use crate::opened::{Mtrag, PASSAGES};
use crate::tasks::{Answerability, MtragTask};
use clariq_collections::statistics::{Statistics, StatisticsFigure, WordCounts, mean};
use clariq_collections::{Collection, Split};
use clariq_core::{Error, Speaker};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// Counts of a split.
struct SplitFigures {
    requests: usize,
    conversations: usize,
    /// The mean number of the user's utterances in a request.
    turns: f64,
    words: f64,
    rewritten: usize,
    /// Requests with relevant passages, and these passages.
    judged: Option<(usize, usize)>,
    domains: BTreeMap<Domain, usize>,
    answerability: BTreeMap<Answerability, usize>,
    question_types: BTreeMap<String, usize>,
    relations: BTreeMap<String, usize>,
}

impl SplitFigures {
    fn of(mtrag: &Mtrag, split: Split, tasks: &[MtragTask]) -> Result<Self, Error> {
        let conversations: HashSet<&str> =
            tasks.iter().map(|task| parts(task.id.as_str()).map_or("", |it| it.0)).collect();
        let utterances = tasks.iter().map(|task| task.said.iter());
        let turns: Vec<usize> = utterances
            .map(|said| said.filter(|said| said.speaker == Speaker::User).count())
            .collect();
        let last = tasks.iter().filter_map(|task| task.said.last());
        let judged = mtrag.qrels(split, PASSAGES)?.map(|qrels| {
            let passages = qrels.topics().map(|(_, judged)| judged.relevant(1));
            (qrels.topics().count(), passages.sum())
        });
        Ok(Self {
            requests: tasks.len(),
            conversations: conversations.len(),
            turns: mean(&turns),
            words: WordCounts::of(last.map(|last| &*last.text)).mean,
            rewritten: tasks.iter().filter(|task| task.rewritten.is_some()).count(),
            judged,
            domains: count(tasks.iter().map(|task| task.domain)),
            answerability: count(tasks.iter().filter_map(|task| task.answerability)),
            question_types: count(tasks.iter().flat_map(|task| task.question_types.clone())),
            relations: count(tasks.iter().flat_map(|task| task.relations.clone())),
        })
    }

    fn to_json(&self) -> Value {
        let named = |names: Vec<(&str, usize)>| -> Map<String, Value> {
            names.into_iter().map(|(name, count)| (name.to_owned(), count.into())).collect()
        };
        let domains = self.domains.iter().map(|(domain, count)| (domain.name(), *count));
        let answerability = self.answerability.iter().map(|(label, count)| (label.name(), *count));
        json!({
            "requests": self.requests,
            "conversations": self.conversations,
            "user_utterances": self.turns,
            "words_of_last_utterance": self.words,
            "rewritten": self.rewritten,
            "judged_requests": self.judged.map(|(requests, _)| requests),
            "relevant_passages": self.judged.map(|(_, passages)| passages),
            "domains": named(domains.collect()),
            "answerability": named(answerability.collect()),
            "question_types": self.question_types,
            "multi_turn": self.relations,
        })
    }
}

fn count<T: Ord>(labels: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for label in labels {
        *counts.entry(label).or_default() += 1;
    }
    counts
}

/// The row of a label; the split has none of these labels if it has none at all.
macro_rules! answerability {
    ($name:literal, $label:ident) => {
        ($name, |counts| {
            let all = &counts.answerability;
            let count = all.get(&Answerability::$label).copied().unwrap_or(0);
            (!all.is_empty()).then(|| count.into())
        })
    };
}

macro_rules! question_type {
    ($name:literal) => {
        (concat!("questions: ", $name), |counts| {
            let all = &counts.question_types;
            (!all.is_empty()).then(|| all.get($name).copied().unwrap_or(0).into())
        })
    };
}

macro_rules! relation {
    ($name:literal) => {
        (concat!("turns: ", $name), |counts| {
            let all = &counts.relations;
            (!all.is_empty()).then(|| all.get($name).copied().unwrap_or(0).into())
        })
    };
}

const FIGURES: &[StatisticsFigure<SplitFigures>] = &[
    ("requests", |counts| Some(counts.requests.into())),
    ("conversations", |counts| Some(counts.conversations.into())),
    ("utterances of the user per request, mean", |counts| Some(counts.turns.into())),
    ("words of the last utterance, mean", |counts| Some(counts.words.into())),
    ("rewritten by people", |counts| Some(counts.rewritten.into())),
    ("judged requests", |counts| Some(counts.judged?.0.into())),
    ("relevant passages of all requests", |counts| Some(counts.judged?.1.into())),
    answerability!("answerable", Answerable),
    answerability!("partially answerable", Partial),
    answerability!("unanswerable", Unanswerable),
    answerability!("underspecified", Underspecified),
    answerability!("conversational", Conversational),
    question_type!("Comparative"),
    question_type!("Composite"),
    question_type!("Conversational"),
    question_type!("Explanation"),
    question_type!("Factoid"),
    question_type!("How-To"),
    question_type!("Keyword"),
    question_type!("Non-Question"),
    question_type!("Opinion"),
    question_type!("Summarization"),
    question_type!("Troubleshooting"),
    relation!("Follow-up"),
    relation!("Clarification"),
    relation!("N/A"),
];

/// Computes the statistics of the splits and the passages.
pub(crate) fn statistics(mtrag: &Mtrag) -> Result<Statistics, Error> {
    let mut counts = Vec::new();
    for (split, tasks) in mtrag.splits.available() {
        counts.push((split.name(), SplitFigures::of(mtrag, split, tasks)?));
    }
    let words = WordCounts::of_documents(&mtrag.passages)?;
    let of_passages =
        [("passages", words.texts.into()), ("words per passage, mean", words.mean.into())];
    let by_domain: Map<String, Value> = mtrag
        .passages
        .domains
        .iter()
        .map(|part| {
            let sha256 = part.documents.checksum();
            let count = part.documents.len();
            let of_domain =
                json!({ "count": count, "sha256": sha256, "substitute": part.is_substitute });
            (part.domain.name().to_owned(), of_domain)
        })
        .collect();
    let by_split: Map<String, Value> =
        counts.iter().map(|(name, counts)| ((*name).to_owned(), counts.to_json())).collect();
    let named = json!({ "splits": by_split, "passages": by_domain });
    Ok(Statistics::new(&counts, FIGURES, ("passages", &of_passages), named))
}
