//! A list of documents at a time, which the model permutes: the sliding window of `RankGPT` (Sun et
//! al., "Is `ChatGPT` Good at Search? Investigating Large Language Models as Re-Ranking Agents", EMNLP 2023).
//!
//! The window begins at the last documents and moves towards the first ones by `step`, so that good
//! documents move up with it.

use super::reader::{Reader, variable};
use crate::chat::{ChatDefaults, ChatUse};
use crate::context::Context;
use clariq_core::{
    Answer, AnswerForm, ChatRequest, Completion, DocumentOrder, Explanation, Hit, Location,
    Ranking, Request, Result, bail, count_of, one_or, positive,
};
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::Range;

/// The keys of the method, with the defaults of `RankGPT`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listwise {
    /// Documents that are read together.
    #[serde(default = "positive::<20>")]
    window: NonZeroUsize,
    /// How far the window moves.
    #[serde(default = "positive::<10>")]
    step: NonZeroUsize,
}

pub(super) const DEFAULTS: ChatDefaults = ChatDefaults {
    prompt: "rerank-list",
    variables: &["query", "passages", "form"],
    max_tokens: NonZeroU32::new(300).unwrap(),
};

const REPAIRED: &str = "chat_rerank: {count} repairs of orders of {all} documents by the model: unknown and \
                        repeated numbers are left out, missing ones follow in their old order";
const UNREAD: &str = "chat_rerank: {count} of {all} answers named no document, or less than half of them; \
                      their documents keep their order";

/// A window, and the order in which the model put its documents.
struct Permuted {
    window: Range<usize>,
    /// For each new place in the window, the place before.
    order: Vec<usize>,
    text: String,
    /// See [`DocumentOrder::repairs`].
    repairs: usize,
}

/// The documents of a request while they are reordered.
struct Reordering<'b> {
    request: &'b Request,
    docs: Vec<Hit>,
    windows: Vec<Range<usize>>,
    permuted: Vec<Permuted>,
}

impl Listwise {
    pub(super) fn check(&self, at: Location) -> Result<()> {
        if self.window.get() < 2 || self.step > self.window {
            let expected = "a window of at least 2, and a step that is no longer";
            let found = format!("window {} and step {}", self.window, self.step);
            bail!(at, expected, found, "RankGPT's are 20 and 10")
        }
        Ok(())
    }

    /// The windows over so many documents, in the order in which they are read: the last one reaches
    /// the first document, however long it is.
    fn windows(&self, count: usize) -> Vec<Range<usize>> {
        let mut windows = Vec::new();
        let mut end = count;
        while end > 1 {
            let start = end.saturating_sub(self.window.get());
            windows.push(start..end);
            if start == 0 {
                break;
            }
            end -= self.step.get();
        }
        windows
    }

    /// Moves the windows of all requests in step, so that the model reads one of each at a time.
    fn permute<'b>(
        &self,
        reader: Reader,
        context: &Context,
        batch: &[(&'b Request, &[Hit])],
    ) -> Result<Vec<Reordering<'b>>> {
        let mut all: Vec<Reordering> = Vec::with_capacity(batch.len());
        for &(request, hits) in batch {
            let windows = self.windows(hits.len());
            all.push(Reordering { request, docs: hits.to_vec(), windows, permuted: Vec::new() });
        }
        let rounds = all.iter().map(|one| one.windows.len()).max().unwrap_or_default();
        for round in 0..rounds {
            let mut moving: Vec<&mut Reordering> =
                all.iter_mut().filter(|one| one.windows.len() > round).collect();
            let asked = moving.iter().map(|one| one.ask(reader, context, round));
            let asked = asked.collect::<Result<Vec<_>>>()?;
            let most = batch.iter().map(|(request, _)| reader.depth(request)).max().unwrap_or(0);
            let usage = ChatUse { answers: self.windows(most).len(), ..ChatUse::new(UNREAD) };
            let completions = reader.chat.complete(context, usage, &asked)?;
            for ((one, asked), completion) in moving.iter_mut().zip(&asked).zip(completions) {
                let (repairs, count) = one.apply(round, completion);
                context.tallies.add(REPAIRED, &asked.messages, repairs, count);
            }
        }
        Ok(all)
    }

    /// Orders documents as the model does. Scores count down to 1.
    pub(super) fn reorder(
        &self,
        reader: Reader,
        context: &Context,
        batch: &[(&Request, &[Hit])],
    ) -> Result<Vec<Ranking>> {
        let mut reordered = Vec::with_capacity(batch.len());
        for Reordering { mut docs, .. } in self.permute(reader, context, batch)? {
            let count = docs.len();
            for (index, hit) in docs.iter_mut().enumerate() {
                hit.score = (count - index) as f64;
            }
            reordered.push(docs);
        }
        Ok(reordered)
    }

    /// Follows the document at `index` through the windows.
    pub(super) fn explain(
        &self,
        reader: Reader,
        context: &Context,
        request: &Request,
        hits: &[Hit],
        index: usize,
    ) -> Result<Explanation> {
        let all = self.permute(reader, context, &[(request, hits)])?;
        let mut place = index;
        let mut parts = Vec::new();
        for Permuted { window, order, text, repairs } in all.iter().flat_map(|one| &one.permuted) {
            if !window.contains(&place) {
                continue;
            }
            let before = place - window.start;
            let after = order.iter().position(|old| *old == before).unwrap_or(before);
            place = window.start + after;
            let first = window.start + 1;
            let last = window.end;
            let repaired = if *repairs > 0 { ", repaired" } else { "" };
            let what = format!(
                "rank after the window {first} to {last}, which the model ordered as {text:?}{repaired}"
            );
            parts.push(Explanation::value((place + 1) as f64, what));
        }
        let score = (hits.len() - place) as f64;
        let what = format!(
            "{} {} reordered, and this is at rank {}",
            count_of(hits.len(), "document"),
            one_or(hits.len(), "is", "are"),
            place + 1
        );
        Ok(Explanation::of(score, what, parts))
    }
}

impl Reordering<'_> {
    fn ask(&self, reader: Reader, context: &Context, round: usize) -> Result<ChatRequest> {
        let docs = &self.docs[self.windows[round].clone()];
        let passages = docs.iter().map(|hit| reader.text(context, hit.doc));
        let passages = passages.collect::<Result<Vec<_>>>()?;
        let form = AnswerForm::Order(passages.len());
        reader.ask(context, self.request, Some(form), variable("passages", &passages))
    }

    /// Permutes the documents of a window, in the order that the model gives them. The number of repairs of
    /// that order, and of the documents.
    fn apply(&mut self, round: usize, completion: Completion) -> (usize, usize) {
        let window = self.windows[round].clone();
        let count = window.len();
        let DocumentOrder { order, repairs } = match completion.answer {
            Some(Answer::Order(read)) => read,
            _ => DocumentOrder { order: (0..count).collect(), repairs: 0 },
        };
        let before = self.docs[window.clone()].to_vec();
        for (place, &old) in window.clone().zip(&order) {
            self.docs[place] = before[old];
        }
        self.permuted.push(Permuted { window, order, text: completion.text, repairs });
        (repairs, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listwise(window: usize, step: usize) -> Listwise {
        Listwise { window: window.try_into().unwrap(), step: step.try_into().unwrap() }
    }

    #[test]
    fn windows_move_from_the_last_documents_to_the_first() {
        let windows = |count, window, step| -> Vec<(usize, usize)> {
            let windows = listwise(window, step).windows(count).into_iter();
            windows.map(|window| (window.start, window.end)).collect()
        };
        assert!(windows(0, 4, 2).is_empty());
        assert!(windows(1, 4, 2).is_empty());
        assert_eq!(windows(3, 4, 2), [(0, 3)]);
        assert_eq!(windows(4, 4, 2), [(0, 4)]);
        assert_eq!(windows(8, 4, 2), [(4, 8), (2, 6), (0, 4)]);
        // The first documents are read where the step does not divide the number.
        assert_eq!(windows(7, 4, 2), [(3, 7), (1, 5), (0, 3)]);
        assert_eq!(windows(6, 4, 4), [(2, 6), (0, 2)]);
        // A window that ends behind one document changes nothing.
        assert_eq!(windows(5, 4, 4), [(1, 5)]);
        assert_eq!(windows(100, 20, 10).len(), 9);
    }

    #[test]
    fn a_step_that_skips_documents_is_refused() {
        assert!(listwise(20, 10).check(Location::file("x")).is_ok());
        assert!(listwise(10, 11).check(Location::file("x")).is_err());
        assert!(listwise(1, 1).check(Location::file("x")).is_err());
    }
}
