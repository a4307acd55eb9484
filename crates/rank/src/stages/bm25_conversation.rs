//! Stage `bm25_conversation`: which questions share words with a conversation? The request, the questions and the answers
//! count differently, older turns count less, and what the user said "no" to counts against a question.

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::Build;
use crate::stages::bm25::Parameters as Bm25Parameters;
use crate::stages::said::{Part, Said, Weights};
use crate::stages::ties::{Order, Ties};
use clariq_collections::clariq::Topic;
use clariq_collections::clariq::conversation::Conversation;
use clariq_index::{Analyzer, Bm25, Explanation, Scorer, Scratch};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::HashSet;
use std::num::NonZeroUsize;

/// Retrieves: whatever ranking comes in is replaced.
#[derive(Serialize)]
struct Retrieve {
    analyzer: Analyzer,
    #[serde(flatten)]
    model: Bm25,
    depth: NonZeroUsize,
    pad: bool,
    ties: Ties,
    #[serde(flatten)]
    weights: Weights,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>, Error> {
    let at = build.table.at("weights");
    let weights = build.table.take_part::<Weights>("weights")?;
    weights.check(at)?;
    let Bm25Parameters { analyzer, depth, pad, ties, model } = Bm25Parameters::read(build.table)?;
    Ok(Box::new(Retrieve { analyzer, model, depth, pad, ties, weights }))
}

impl Retrieve {
    /// The tokens of everything that was said. Of a question that was answered "no", only those count that neither the
    /// request nor an answer has.
    fn tokens<'a>(&self, conversation: &'a Conversation) -> Vec<(Said<'a>, Vec<String>)> {
        let mut said: Vec<(Said, Vec<String>)> = self
            .weights
            .said(conversation)
            .into_iter()
            .map(|said| {
                let tokens = self.analyzer.tokens(said.text);
                (said, tokens)
            })
            .collect();
        let of_user = said.iter().filter(|(said, _)| said.part != Part::Question);
        let wanted: HashSet<String> = of_user.flat_map(|(_, tokens)| tokens).cloned().collect();
        for (said, tokens) in &mut said {
            if said.refused && said.part == Part::Question {
                tokens.retain(|token| !wanted.contains(token));
            }
        }
        said
    }

    /// The same as one query with a weight for each token.
    fn query(&self, conversation: &Conversation) -> (Vec<String>, Vec<f64>) {
        let (mut all, mut weights) = (Vec::new(), Vec::new());
        for (said, tokens) in self.tokens(conversation) {
            weights.extend(std::iter::repeat_n(said.weight, tokens.len()));
            all.extend(tokens);
        }
        (all, weights)
    }
}

impl Stage for Retrieve {
    fn name(&self) -> &'static str {
        "bm25_conversation"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// A request is a conversation without turns.
    fn apply(
        &self,
        context: &Context,
        topics: &[Topic],
        rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let conversation = |topic: &Topic| Conversation::new(0, topic.request.as_str());
        let conversations: Vec<_> = topics.iter().map(conversation).collect();
        self.apply_to_conversations(context, &conversations, rankings, progress)
    }

    fn apply_to_conversations(
        &self,
        context: &Context,
        conversations: &[Conversation],
        _rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let index = context.index(self.analyzer)?;
        let scorer = Scorer::new(&index, self.model)?;
        let order = Order::new(self.ties, self.analyzer, context.bank);
        let depth = order.depth(self.depth, self.pad);
        let rank = |scratch: &mut Scratch, conversation: &Conversation| {
            let (tokens, weights) = self.query(conversation);
            let hits = scorer.top_weighted(&tokens, &weights, depth, scratch)?;
            progress(1);
            Ok(order.apply(hits, self.depth))
        };
        conversations.par_iter().map_init(Scratch::default, rank).collect()
    }

    fn explain(
        &self,
        context: &Context,
        topic: &Topic,
        question: u32,
    ) -> Result<Option<Explanation>, Error> {
        let conversation = Conversation::new(0, topic.request.as_str());
        self.explain_conversation(context, &conversation, question, &Ranking::new())
    }

    /// Which words of the conversation the question shares, and where they were said.
    fn explain_conversation(
        &self,
        context: &Context,
        conversation: &Conversation,
        question: u32,
        _before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        let index = context.index(self.analyzer)?;
        let scorer = Scorer::new(&index, self.model)?;
        let mut parts = Vec::new();
        for (said, tokens) in self.tokens(conversation) {
            let mut words = scorer.explain(&tokens, question)?.parts;
            words.retain(|word| word.value != 0.0);
            if !words.is_empty() {
                let sum = words.iter().map(|word| word.value).sum::<f64>();
                parts.push(Explanation::of(
                    said.weight * sum,
                    format!("{said}: {:.3} × {sum:.6}", said.weight),
                    words,
                ));
            }
        }
        let score = parts.iter().map(|part| part.value).sum();
        Ok(Some(Explanation::of(
            score,
            "sum over what was said, of the words that the question has",
            parts,
        )))
    }
}
