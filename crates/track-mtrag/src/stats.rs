//! Statistics of a folder.

use crate::domains::Domain;
use crate::ids::parts;
use crate::opened::{Mtrag, PASSAGES};
use crate::tasks::{Answerability, MtragTask};
use clariq_collections::statistics::{Figure, Statistics, WordCounts, figure, mean};
use clariq_collections::{Collection, Split};
use clariq_core::{Error, Speaker};
use serde_json::{Map, Value, json};
use std::borrow::Borrow;
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

    fn figures(&self) -> Vec<Figure> {
        let (judged, relevant) = self.judged.unzip();
        let mut figures = vec![
            figure("requests", Some(self.requests)),
            figure("conversations", Some(self.conversations)),
            figure("utterances of the user per request, mean", Some(self.turns)),
            figure("words of the last utterance, mean", Some(self.words)),
            figure("rewritten by people", Some(self.rewritten)),
            figure("judged requests", judged),
            figure("relevant passages of all requests", relevant),
        ];
        for (name, label) in ANSWERABILITY {
            figures.push(figure(name, labelled(&self.answerability, &label)));
        }
        for name in QUESTION_TYPES {
            let count = labelled(&self.question_types, name);
            figures.push(figure(format!("questions: {name}"), count));
        }
        for name in RELATIONS {
            let count = labelled(&self.relations, name);
            figures.push(figure(format!("turns: {name}"), count));
        }
        figures
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

/// The number of a label; `None` if the split has no label of its kind.
fn labelled<K: Borrow<Q> + Ord, Q: Ord + ?Sized>(
    counts: &BTreeMap<K, usize>,
    label: &Q,
) -> Option<usize> {
    (!counts.is_empty()).then(|| counts.get(label).copied().unwrap_or(0))
}

const ANSWERABILITY: [(&str, Answerability); 5] = [
    ("answerable", Answerability::Answerable),
    ("partially answerable", Answerability::Partial),
    ("unanswerable", Answerability::Unanswerable),
    ("underspecified", Answerability::Underspecified),
    ("conversational", Answerability::Conversational),
];

const QUESTION_TYPES: [&str; 11] = [
    "Comparative",
    "Composite",
    "Conversational",
    "Explanation",
    "Factoid",
    "How-To",
    "Keyword",
    "Non-Question",
    "Opinion",
    "Summarization",
    "Troubleshooting",
];

const RELATIONS: [&str; 3] = ["Follow-up", "Clarification", "N/A"];

/// Computes the statistics of the splits and the passages.
pub(crate) fn statistics(mtrag: &Mtrag) -> Result<Statistics, Error> {
    let mut columns = Vec::new();
    let mut by_split = Map::new();
    for (split, tasks) in mtrag.splits.available() {
        let counts = SplitFigures::of(mtrag, split, tasks)?;
        columns.push((split.name(), counts.figures()));
        by_split.insert(split.name().to_owned(), counts.to_json());
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
    let named = json!({ "splits": by_split, "passages": by_domain });
    Ok(Statistics::new(&columns, ("passages", &of_passages), named))
}
