//! Stage `bm25_conversation`: which questions share words with a conversation? The request, the questions and the answers
//! count differently, older turns count less, and what the user said "no" to counts against a question.

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::Build;
use crate::stages::bm25::Parameters as Bm25Parameters;
use clariq_corpus::Topic;
use clariq_corpus::conversation::Conversation;
use clariq_index::{Analyzer, Bm25, Depth, Scorer, Scratch};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
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
    #[serde(flatten)]
    weights: Weights,
}

/// What a word counts where the request's count 1.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Weights {
    /// In a question that was not answered "no".
    question: f64,
    /// In such an answer.
    answer: f64,
    /// In a question that was answered "no", where neither the request nor an answer has the word: usually below 0.
    refused_question: f64,
    /// In an answer that begins with "no": what follows often says what is wanted instead.
    refused_answer: f64,
    /// What all of these are multiplied by for each turn that has come since.
    decay: f64,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>, Error> {
    let weights = build.table.take_part::<Weights>("weights")?;
    let Bm25Parameters { analyzer, depth, pad, model } = Bm25Parameters::read(build.table)?;
    Ok(Box::new(Retrieve { analyzer, model, depth, pad, weights }))
}

impl Retrieve {
    /// Every token of a conversation with its weight.
    fn query(&self, conversation: &Conversation) -> (Vec<String>, Vec<f64>) {
        let mut tokens = self.analyzer.tokens(&conversation.request);
        let mut weights = vec![1.0; tokens.len()];
        let turns: Vec<_> = conversation.turns.iter().map(|turn| self.turn(&turn.question, &turn.answer)).collect();
        let wanted: HashSet<String> =
            tokens.iter().chain(turns.iter().flat_map(|(_, answer)| answer)).cloned().collect();
        let ages = std::iter::successors(Some(1.0), |age| Some(age * self.weights.decay));
        let mut ages: Vec<f64> = ages.take(turns.len()).collect();
        ages.reverse();
        for (((question, answer), turn), age) in turns.into_iter().zip(&conversation.turns).zip(ages) {
            let refused = turn.is_refused();
            let question: Vec<String> =
                question.into_iter().filter(|token| !refused || !wanted.contains(token)).collect();
            let (of_question, of_answer) = if refused {
                (self.weights.refused_question, self.weights.refused_answer)
            } else {
                (self.weights.question, self.weights.answer)
            };
            weights.extend(std::iter::repeat_n(age * of_question, question.len()));
            weights.extend(std::iter::repeat_n(age * of_answer, answer.len()));
            tokens.extend(question.into_iter().chain(answer));
        }
        (tokens, weights)
    }

    fn turn(&self, question: &str, answer: &str) -> (Vec<String>, Vec<String>) {
        (self.analyzer.tokens(question), self.analyzer.tokens(answer))
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
        let depth = Depth { limit: self.depth.get(), pad: self.pad };
        let rank = |scratch: &mut Scratch, conversation: &Conversation| {
            let (tokens, weights) = self.query(conversation);
            let hits = scorer.top_weighted(&tokens, &weights, depth, scratch)?;
            progress(1);
            Ok(hits)
        };
        conversations.par_iter().map_init(Scratch::default, rank).collect()
    }
}
