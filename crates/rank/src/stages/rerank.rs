//! Stage `rerank`: which of the questions found so far fit the request best? And `cross_encode`, the same for the whole
//! bank. A cross-encoder reads request and question together (Nogueira and Cho, "Passage re-ranking with BERT", 2019).

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::dense::askable;
use crate::stages::{Build, ranked};
use clariq_collections::clariq::Topic;
use clariq_index::{Explanation, Hit};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Reorders the first questions of every ranking by a cross-encoder's logits; what comes after them stays behind them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rerank {
    /// The cross-encoder.
    model: String,
    /// How many questions are reordered.
    #[serde(default = "usual_depth")]
    depth: NonZeroUsize,
}

/// The reranking depth of the published baseline.
fn usual_depth() -> NonZeroUsize {
    const { NonZeroUsize::new(30).unwrap() }
}

/// Ranks the whole bank by a cross-encoder's logits.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CrossEncode {
    /// The cross-encoder.
    model: String,
    /// How many questions are kept.
    depth: NonZeroUsize,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>, Error> {
    Ok(Box::new(build.table.read::<Rerank>()?))
}

pub(super) fn build_cross_encode(build: Build) -> Result<Box<dyn Stage>, Error> {
    Ok(Box::new(build.table.read::<CrossEncode>()?))
}

/// Logits of some questions for each topic; all pairs are scored together, so that those of one length meet.
fn logits(
    context: &Context,
    model: &str,
    topics: &[Topic],
    questions: &[Vec<u32>],
    progress: Progress,
) -> Result<Vec<Vec<f32>>, Error> {
    let scorer = context.models().pair_scorer(model)?;
    let pairs: Vec<(&str, &str)> = topics
        .iter()
        .zip(questions)
        .flat_map(|(topic, questions)| {
            questions.iter().map(|&question| (topic.request.as_str(), context.bank.text(question)))
        })
        .collect();
    // Topics are what is counted: each is done when its share of the pairs is.
    let total = pairs.len().max(1) as u64;
    let done = std::sync::Mutex::new((0_u64, 0_u64));
    let count = |pairs: u64| {
        let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        done.0 += pairs;
        let finished = done.0 * topics.len() as u64 / total;
        progress(finished - done.1);
        done.1 = finished;
    };
    let mut scores = scorer.score(&pairs, &count)?.into_iter();
    Ok(questions.iter().map(|questions| scores.by_ref().take(questions.len()).collect()).collect())
}

fn logit(
    context: &Context,
    model: &str,
    topic: &Topic,
    question: u32,
) -> Result<Explanation, Error> {
    let scored = logits(context, model, std::slice::from_ref(topic), &[vec![question]], &|_| {})?;
    let score = scored.concat().first().copied().unwrap_or_default();
    Ok(Explanation::value(f64::from(score), format!("logit of `{model}` for request and question")))
}

impl Stage for Rerank {
    fn name(&self) -> &'static str {
        "rerank"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn models(&self) -> Vec<String> {
        vec![self.model.clone()]
    }

    fn apply(
        &self,
        context: &Context,
        topics: &[Topic],
        rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let head = |ranking: &Ranking| {
            ranking.iter().take(self.depth.get()).map(|hit| hit.question).collect()
        };
        let heads: Vec<Vec<u32>> = rankings.iter().map(head).collect();
        let scores = logits(context, &self.model, topics, &heads, progress)?;
        let answer = |((head, scores), ranking): ((&Vec<u32>, Vec<f32>), Ranking)| {
            let mut answer = ranked(head, scores.into_iter(), usize::MAX);
            let least = answer.last().map_or(0.0, |hit| hit.score);
            // The rest keeps its order, below the lowest logit.
            let rest = ranking.into_iter().skip(answer.len());
            answer.extend(
                (1..).zip(rest).map(|(place, hit)| Hit { score: least - f64::from(place), ..hit }),
            );
            answer
        };
        Ok(heads.iter().zip(scores).zip(rankings).map(answer).collect())
    }

    fn explain(
        &self,
        context: &Context,
        topic: &Topic,
        question: u32,
    ) -> Result<Option<Explanation>, Error> {
        logit(context, &self.model, topic, question).map(Some)
    }
}

impl Stage for CrossEncode {
    fn name(&self) -> &'static str {
        "cross_encode"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn models(&self) -> Vec<String> {
        vec![self.model.clone()]
    }

    fn apply(
        &self,
        context: &Context,
        topics: &[Topic],
        _rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let questions = askable(context);
        let scores =
            logits(context, &self.model, topics, &vec![questions.clone(); topics.len()], progress)?;
        Ok(scores
            .into_iter()
            .map(|scores| ranked(&questions, scores.into_iter(), self.depth.get()))
            .collect())
    }

    fn explain(
        &self,
        context: &Context,
        topic: &Topic,
        question: u32,
    ) -> Result<Option<Explanation>, Error> {
        logit(context, &self.model, topic, question).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learned::{Encoder, Models, PairScorer};
    use clariq_collections::clariq::{QuestionBank, QuestionRow};
    use clariq_files::strictly_decreasing;
    use std::sync::Arc;

    struct Lengths;

    impl PairScorer for Lengths {
        fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>, Error> {
            progress(pairs.len() as u64);
            Ok(pairs.iter().map(|(_, question)| question.len() as f32).collect())
        }

        fn checksum(&self) -> &'static str {
            "lengths"
        }
    }

    impl Models for Lengths {
        fn encoder(&self, _name: &str) -> Result<Arc<dyn Encoder>, Error> {
            unreachable!("no encoder is asked for")
        }

        fn pair_scorer(&self, _name: &str) -> Result<Arc<dyn PairScorer>, Error> {
            Ok(Arc::new(Lengths))
        }
    }

    fn bank() -> QuestionBank {
        let row = |(id, text): (&str, &str)| QuestionRow { id: id.into(), text: text.to_owned() };
        QuestionBank::from_rows(
            [("Q1", ""), ("Q2", "a"), ("Q3", "abc"), ("Q4", "ab"), ("Q5", "abcd")]
                .map(row)
                .to_vec(),
        )
    }

    fn topic() -> Topic {
        Topic { id: "1".into(), request: "r".into(), description: String::new(), need: None }
    }

    #[test]
    fn what_is_below_the_depth_stays_below() {
        let bank = bank();
        let context =
            Context::new(&bank, |_, _| unreachable!("no index is asked for")).with_models(&Lengths);
        let before: Ranking = (1..)
            .zip([9.0, 8.0, 7.0, 6.0])
            .map(|(question, score)| Hit { question, score })
            .collect();
        let stage = Rerank { model: "m".to_owned(), depth: 2.try_into().unwrap() };
        let counted = std::sync::atomic::AtomicU64::new(0);
        let progress = |steps| {
            counted.fetch_add(steps, std::sync::atomic::Ordering::Relaxed);
        };
        let after = stage.apply(&context, &[topic()], vec![before], &progress).unwrap().remove(0);
        assert_eq!(after.iter().map(|hit| hit.question).collect::<Vec<_>>(), [2, 1, 3, 4]);
        let scores: Vec<f64> = after.iter().map(|hit| hit.score).collect();
        assert_eq!(strictly_decreasing(&scores), scores);
        assert_eq!(counted.into_inner(), 1);
    }

    #[test]
    fn the_whole_bank_is_the_bank_without_the_empty_question() {
        let bank = bank();
        let context =
            Context::new(&bank, |_, _| unreachable!("no index is asked for")).with_models(&Lengths);
        let stage = CrossEncode { model: "m".to_owned(), depth: 3.try_into().unwrap() };
        let answer =
            stage.apply(&context, &[topic()], vec![Vec::new()], &|_| {}).unwrap().remove(0);
        assert_eq!(answer.iter().map(|hit| hit.question).collect::<Vec<_>>(), [4, 2, 3]);
    }
}
