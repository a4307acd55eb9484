//! How do stages make a system? One after the other.

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use clariq_corpus::Topic;
use clariq_corpus::conversation::Conversation;
use clariq_index::Explanation;
use serde_json::{Value, json};

/// Stages in the order in which they are applied.
pub struct Pipeline {
    /// The stages.
    pub stages: Vec<Box<dyn Stage>>,
}

/// What one stage did to one question.
pub struct StageTrace {
    /// The stage's name.
    pub stage: &'static str,
    /// The question's rank after the stage, from 1; `None` if it is not in the ranking.
    pub rank: Option<usize>,
    /// Its score after the stage.
    pub score: Option<f64>,
    /// How many questions the ranking has after the stage.
    pub length: usize,
    /// Where the score comes from.
    pub explanation: Option<Explanation>,
}

impl StageTrace {
    fn new(stage: &'static str, ranking: &Ranking, question: u32) -> Self {
        let place = ranking.iter().position(|hit| hit.question == question);
        Self {
            stage,
            rank: place.map(|place| place + 1),
            score: place.map(|place| ranking[place].score),
            length: ranking.len(),
            explanation: None,
        }
    }
}

impl Pipeline {
    /// Ranks the bank for every topic, in the order of `topics`.
    pub fn run(&self, context: &Context, topics: &[Topic]) -> Result<Vec<Ranking>, Error> {
        self.run_with_progress(context, topics, vec![Vec::new(); topics.len()], &|_| {})
    }

    /// The same, beginning with given rankings; `progress` is called with the number of (topic, stage) pairs finished
    /// since the last call.
    pub fn run_with_progress(
        &self,
        context: &Context,
        topics: &[Topic],
        rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        // A labelled file also has what is to be found out: the need, and what the user meant. No stage may see it.
        let unlabelled = |topic: &Topic| Topic { need: None, description: String::new(), ..topic.clone() };
        let topics: Vec<Topic> = topics.iter().map(unlabelled).collect();
        self.stages.iter().try_fold(rankings, |rankings, stage| stage.apply(context, &topics, rankings, progress))
    }

    /// Ranks the bank for the next turn of every conversation, in their order.
    pub fn run_conversations(
        &self,
        context: &Context,
        conversations: &[Conversation],
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        self.continue_conversations(context, conversations, vec![Vec::new(); conversations.len()], progress)
    }

    /// The same, beginning with given rankings.
    pub(crate) fn continue_conversations(
        &self,
        context: &Context,
        conversations: &[Conversation],
        rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        self.stages.iter().try_fold(rankings, |rankings, stage| {
            stage.apply_to_conversations(context, conversations, rankings, progress)
        })
    }

    /// Follows one question through all stages.
    pub fn explain(&self, context: &Context, topic: &Topic, question: u32) -> Result<Vec<StageTrace>, Error> {
        let mut rankings = vec![Vec::new()];
        let mut traces = Vec::with_capacity(self.stages.len());
        for stage in &self.stages {
            let before = rankings.clone();
            rankings = stage.apply(context, std::slice::from_ref(topic), rankings, &|_| {})?;
            let explanation = stage.explain_ranked(context, topic, question, &before[0])?;
            traces.push(StageTrace { explanation, ..StageTrace::new(stage.name(), &rankings[0], question) });
        }
        Ok(traces)
    }

    /// Follows one question through all stages of a conversation.
    pub fn explain_conversation(
        &self,
        context: &Context,
        conversation: &Conversation,
        question: u32,
    ) -> Result<Vec<StageTrace>, Error> {
        let one = std::slice::from_ref(conversation);
        let mut rankings = vec![Vec::new()];
        let mut traces = Vec::with_capacity(self.stages.len());
        for stage in &self.stages {
            let before = rankings.clone();
            rankings = stage.apply_to_conversations(context, one, rankings, &|_| {})?;
            let explanation = stage.explain_conversation(context, conversation, question, &before[0])?;
            traces.push(StageTrace { explanation, ..StageTrace::new(stage.name(), &rankings[0], question) });
        }
        Ok(traces)
    }

    /// All stages with their parameters, as they are written beside a run.
    pub fn parameters(&self) -> Value {
        let describe = |stage: &dyn Stage| {
            let mut stage_first = json!({ "stage": stage.name() });
            if let (Value::Object(all), Value::Object(parameters)) = (&mut stage_first, stage.parameters()) {
                all.extend(parameters);
            }
            stage_first
        };
        Value::Array(self.stages.iter().map(|stage| describe(stage.as_ref())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_corpus::{Need, QuestionBank};

    struct Looks;

    impl Stage for Looks {
        fn name(&self) -> &'static str {
            "looks"
        }

        fn parameters(&self) -> Value {
            Value::Null
        }

        fn apply(
            &self,
            _context: &Context,
            topics: &[Topic],
            rankings: Vec<Ranking>,
            _progress: Progress,
        ) -> Result<Vec<Ranking>, Error> {
            assert!(
                topics.iter().all(|topic| topic.request == "r" && topic.need.is_none() && topic.description.is_empty())
            );
            Ok(rankings)
        }
    }

    #[test]
    fn no_stage_sees_the_labels_of_a_request() {
        let bank = QuestionBank::from_rows(Vec::new());
        let context = Context::new(&bank, |_, _| unreachable!("no index is asked for"));
        let topic =
            Topic { id: "1".into(), request: "r".into(), description: "what I meant".into(), need: Need::new(1) };
        let pipeline = Pipeline { stages: vec![Box::new(Looks)] };
        assert_eq!(pipeline.run(&context, &[topic]).unwrap().len(), 1);
    }
}
