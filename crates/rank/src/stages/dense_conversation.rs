//! Stage `dense_conversation`: which questions are nearest to what was said in a conversation? The weighted mean of the
//! similarities to the request, the questions and the answers, where older turns count less, and where a question that was
//! answered "no" may count against others like it.
//!
//! A mean of similarities is the similarity to the mean of the vectors, but for its length. The sums are made of one row of
//! similarities per text, because few texts make many conversations: a file of 1.7 million has some 12,000 of them.

use crate::context::Context;
use crate::error::Error;
use crate::space::SpaceConfig;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::dense::askable;
use crate::stages::said::{Part, Said, Weights};
use crate::stages::{Build, ranked};
use clariq_collections::clariq::Topic;
use clariq_collections::clariq::conversation::Conversation;
use clariq_index::{Explanation, Hit};
use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::num::NonZeroUsize;

/// So many similarities of texts to questions are kept at a time: 32 MB.
const ROOM: usize = 1 << 23;

/// Retrieves: whatever ranking comes in is replaced.
#[derive(Serialize)]
struct DenseConversation {
    #[serde(flatten)]
    parameters: Parameters,
    weights: Weights,
    space: SpaceConfig,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// How many questions are kept; all if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<NonZeroUsize>,
    /// Where nothing that the user said is as near as this to any question, there is nothing to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_likeness: Option<f32>,
    /// A question as near as this to one that was asked is the same in other words, and left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<f32>,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>, Error> {
    let space = build.space()?;
    let at = build.table.at("weights");
    let weights = build.table.take_part::<Weights>("weights")?;
    weights.check(at)?;
    Ok(Box::new(DenseConversation { parameters: build.table.read()?, weights, space }))
}

/// The texts of some conversations, each once, and for each conversation their places and weights.
#[derive(Default)]
struct Texts<'a> {
    distinct: Vec<&'a str>,
    places: HashMap<&'a str, usize>,
    conversations: Vec<Vec<Placed>>,
}

/// A text of a conversation: its place, its share of the weights, and whether it is a question that was asked; else it is
/// the user's.
struct Placed {
    place: usize,
    share: f32,
    asked: bool,
}

impl<'a> Texts<'a> {
    /// Takes a conversation, unless it would bring more than `most` texts together.
    fn take(&mut self, said: &[Said<'a>], most: usize) -> bool {
        let new = said.iter().filter(|said| !self.places.contains_key(said.text)).count();
        if !self.conversations.is_empty() && self.distinct.len() + new > most {
            return false;
        }
        let whole: f64 = said.iter().map(|said| said.weight.max(0.0)).sum();
        let placed = said.iter().map(|said| {
            let place = *self.places.entry(said.text).or_insert_with(|| {
                self.distinct.push(said.text);
                self.distinct.len() - 1
            });
            Placed {
                place,
                share: (said.weight / whole) as f32,
                asked: said.part == Part::Question,
            }
        });
        let placed = placed.collect();
        self.conversations.push(placed);
        true
    }
}

/// How near each text (row) is to its nearest question (column).
fn highest(likeness: &Array2<f32>) -> Vec<f32> {
    likeness
        .rows()
        .into_iter()
        .map(|row| row.iter().copied().fold(f32::NEG_INFINITY, f32::max))
        .collect()
}

impl DenseConversation {
    /// What counts of a conversation. Where nothing was asked, or answered, nothing was said.
    fn said<'a>(&self, conversation: &'a Conversation) -> Vec<Said<'a>> {
        let mut said = self.weights.said(conversation);
        let counts = |said: &Said| {
            said.weight != 0.0 || (self.parameters.repeat.is_some() && said.part == Part::Question)
        };
        said.retain(|said| counts(said) && !said.text.trim().is_empty());
        said
    }

    fn rank(
        &self,
        texts: &Texts,
        likeness: &Array2<f32>,
        questions: &[u32],
        progress: Progress,
    ) -> Vec<Ranking> {
        let depth = self.parameters.depth.map_or(usize::MAX, NonZeroUsize::get);
        let nearest = highest(likeness);
        let rank = |scores: &mut Vec<f32>, parts: &Vec<Placed>| {
            progress(1);
            let near = |part: &Placed| {
                self.parameters.min_likeness.is_none_or(|least| nearest[part.place] >= least)
            };
            if !parts.iter().any(|part| !part.asked && near(part)) {
                return Ranking::new();
            }
            scores.clear();
            scores.resize(questions.len(), 0.0);
            for &Placed { place, share, .. } in parts {
                scores
                    .iter_mut()
                    .zip(likeness.row(place))
                    .for_each(|(score, &likeness)| *score += share * likeness);
            }
            let mut ranking = ranked(questions, scores.iter().copied(), depth);
            if let Some(same) = self.parameters.repeat {
                let asked: Vec<_> = parts
                    .iter()
                    .filter(|part| part.asked)
                    .map(|part| likeness.row(part.place))
                    .collect();
                // The columns are in the order of the questions' numbers.
                let column = |hit: &Hit| questions.binary_search(&hit.question).unwrap_or_default();
                ranking.retain(|hit| asked.iter().all(|row| row[column(hit)] < same));
            }
            ranking
        };
        texts.conversations.par_iter().map_init(Vec::new, rank).collect()
    }
}

impl Stage for DenseConversation {
    fn name(&self) -> &'static str {
        "dense_conversation"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn models(&self) -> Vec<String> {
        self.space.models.keys().cloned().collect()
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
        let space = context.space(&self.space)?;
        let questions = askable(context);
        let most = ROOM / questions.len().max(1);
        let mut rankings = Vec::with_capacity(conversations.len());
        while rankings.len() < conversations.len() {
            let mut texts = Texts::default();
            let left = conversations[rankings.len()..].iter();
            let _ =
                left.take_while(|conversation| texts.take(&self.said(conversation), most)).count();
            let likeness = space.of_texts(context, &texts.distinct, &questions)?;
            rankings.extend(self.rank(&texts, &likeness, &questions, progress));
        }
        Ok(rankings)
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

    /// What each part of the conversation adds: its share of the weights times its similarity to the question.
    fn explain_conversation(
        &self,
        context: &Context,
        conversation: &Conversation,
        question: u32,
        _before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        let space = context.space(&self.space)?;
        let said = self.said(conversation);
        let whole: f64 = said.iter().map(|said| said.weight.max(0.0)).sum();
        let mut parts = Vec::new();
        for said in &said {
            let channels = space.parts(context, said.text, question)?;
            let likeness: f64 = channels.iter().map(|(_, weight, cosine)| weight * cosine).sum();
            let channels = channels.into_iter().map(|(name, weight, cosine)| {
                Explanation::value(weight * cosine, format!("{name}: {weight:.3} × {cosine:.6}"))
            });
            let share = said.weight / whole;
            let what = format!("{said}: {share:.3} × {likeness:.6} {:?}", said.text);
            let mut below: Vec<Explanation> = channels.collect();
            let same = self
                .parameters
                .repeat
                .filter(|&same| said.part == Part::Question && likeness >= f64::from(same));
            below.extend(same.map(|same| {
                Explanation::value(likeness, format!("taken out: from {same}, it is the same"))
            }));
            parts.push(Explanation::of(share * likeness, what, below));
        }
        let score = parts.iter().map(|part| part.value).sum();
        let mut sum = Explanation::of(
            score,
            "sum over what was said, share of the weights × similarity",
            parts,
        );
        if let Some(least) = self.parameters.min_likeness {
            let user: Vec<&str> = said
                .iter()
                .filter(|said| said.part != Part::Question)
                .map(|said| said.text)
                .collect();
            let nearest = highest(&space.of_texts(context, &user, &askable(context))?);
            let nearest = nearest.into_iter().fold(f32::NEG_INFINITY, f32::max);
            let what = format!(
                "nearness of what the user said to the nearest question, asks from {least}"
            );
            sum.parts.push(Explanation::value(nearest.into(), what));
        }
        Ok(Some(sum))
    }
}
