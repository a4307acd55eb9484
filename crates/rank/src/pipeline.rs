//! How do stages make a system? One after the other.

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use clariq_collections::clariq::Topic;
use clariq_collections::clariq::conversation::Conversation;
use clariq_core::Need;
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

/// A topic as stages may see it. A labelled file also has what is to be found out: the need, and what the user meant. Neither
/// is shown; what a model predicted of the need is.
fn shown(topic: &Topic, predicted: Option<Need>) -> Topic {
    Topic { need: predicted, description: String::new(), ..topic.clone() }
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
        self.run_with_needs(context, topics, None, &|_| {})
    }

    /// The same with the need that a model predicted for each topic, in their order. `progress` is called with the number of
    /// (topic, stage) pairs finished since the last call.
    pub fn run_with_needs(
        &self,
        context: &Context,
        topics: &[Topic],
        needs: Option<&[Need]>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let predicted = |place: usize| needs.and_then(|needs| needs.get(place)).copied();
        let topics: Vec<Topic> = topics
            .iter()
            .enumerate()
            .map(|(place, topic)| shown(topic, predicted(place)))
            .collect();
        self.go_on(context, &topics, vec![Vec::new(); topics.len()], progress)
    }

    /// Applies all stages to rankings of topics that may be shown to them.
    pub(crate) fn go_on(
        &self,
        context: &Context,
        topics: &[Topic],
        rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        self.stages
            .iter()
            .try_fold(rankings, |rankings, stage| stage.apply(context, topics, rankings, progress))
    }

    /// Whether a stage looks at predicted needs.
    pub fn looks_at_need(&self) -> bool {
        self.stages.iter().any(|stage| stage.looks_at_need())
    }

    /// Ranks the bank for the next turn of every conversation, in their order.
    pub fn run_conversations(
        &self,
        context: &Context,
        conversations: &[Conversation],
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        self.continue_conversations(
            context,
            conversations,
            vec![Vec::new(); conversations.len()],
            progress,
        )
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

    /// Follows one question through all stages, for a topic and the need that was predicted for it.
    pub fn explain(
        &self,
        context: &Context,
        topic: &Topic,
        need: Option<Need>,
        question: u32,
    ) -> Result<Vec<StageTrace>, Error> {
        let topic = &shown(topic, need);
        let mut rankings = vec![Vec::new()];
        let mut traces = Vec::with_capacity(self.stages.len());
        for stage in &self.stages {
            let before = rankings.clone();
            rankings = stage.apply(context, std::slice::from_ref(topic), rankings, &|_| {})?;
            let explanation = stage.explain_ranked(context, topic, question, &before[0])?;
            traces.push(StageTrace {
                explanation,
                ..StageTrace::new(stage.name(), &rankings[0], question)
            });
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
            let explanation =
                stage.explain_conversation(context, conversation, question, &before[0])?;
            traces.push(StageTrace {
                explanation,
                ..StageTrace::new(stage.name(), &rankings[0], question)
            });
        }
        Ok(traces)
    }

    /// All stages with their parameters, as they are written beside a run.
    pub fn parameters(&self) -> Value {
        let describe = |stage: &dyn Stage| {
            let mut stage_first = json!({ "stage": stage.name() });
            if let (Value::Object(all), Value::Object(parameters)) =
                (&mut stage_first, stage.parameters())
            {
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
    use crate::config::System;
    use clariq_collections::clariq::{NO_QUESTION, QuestionBank, QuestionRow};

    /// Checks what it is shown of a topic.
    struct Looks(Option<Need>);

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
            assert!(topics.iter().all(|topic| topic.request == "r"
                && topic.need == self.0
                && topic.description.is_empty()));
            Ok(rankings)
        }
    }

    fn labelled() -> Topic {
        Topic {
            id: "1".into(),
            request: "r".into(),
            description: "what I meant".into(),
            need: Need::new(1),
        }
    }

    fn looks(need: Option<Need>) -> Pipeline {
        Pipeline { stages: vec![Box::new(Looks(need))] }
    }

    #[test]
    fn no_stage_sees_the_labels_of_a_request() {
        let bank = QuestionBank::from_rows(Vec::new());
        let context = Context::new(&bank, |_, _| unreachable!("no index is asked for"));
        assert_eq!(looks(None).run(&context, &[labelled()]).unwrap().len(), 1);
        assert_eq!(looks(None).explain(&context, &labelled(), None, 0).unwrap().len(), 1);
    }

    #[test]
    fn a_prediction_takes_the_place_of_the_label_and_where_there_is_none_nothing_does() {
        let bank = QuestionBank::from_rows(Vec::new());
        let context = Context::new(&bank, |_, _| unreachable!("no index is asked for"));
        let predicted = Need::new(3);
        let needs: Vec<Need> = predicted.into_iter().collect();
        let run = |pipeline: Pipeline, needs| {
            pipeline.run_with_needs(&context, &[labelled()], Some(needs), &|_| {})
        };
        assert_eq!(run(looks(predicted), &needs).unwrap().len(), 1);
        assert_eq!(run(looks(None), &[]).unwrap().len(), 1);
        assert_eq!(looks(predicted).explain(&context, &labelled(), predicted, 0).unwrap().len(), 1);
    }

    #[test]
    fn predictions_reach_the_stages_inside_a_stage_and_labels_do_not() {
        let empty = QuestionRow { id: NO_QUESTION.into(), text: String::new() };
        let bank = QuestionBank::from_rows(vec![empty]);
        let context = Context::new(&bank, |_, _| unreachable!("no index is asked for"));
        let fused = System::parse("f.toml", FUSED, &[]).unwrap().pipeline;
        assert!(fused.looks_at_need());
        let score = |needs: Option<u8>| {
            let needs: Option<Vec<Need>> = needs.map(|need| Need::new(need).into_iter().collect());
            fused.run_with_needs(&context, &[labelled()], needs.as_deref(), &|_| {}).unwrap()[0][0]
                .score
        };
        assert_eq!(score(None), 1.0 / 61.0, "its label is 1 and its need is not known");
        assert_eq!((score(Some(1)), score(Some(2))), (2.0 / 61.0, 1.0 / 61.0));
    }

    const FUSED: &str = r#"
        name = "fused"
        [need]
        model = "majority"
        [[stages]]
        stage = "fuse"
        method = "reciprocal-rank"
        depth = 9
        [[stages.inputs]]
        stages = [{ stage = "no_question", rank = 1 }]
        [[stages.inputs]]
        stages = [{ stage = "no_question", rank = 1, when_need = 1 }]
    "#;
}
