//! What is a stage? The one idea of this crate.

use crate::config::Uses;
use crate::context::Context;
use crate::error::Error;
use clariq_collections::clariq::Topic;
use clariq_collections::clariq::conversation::Conversation;
use clariq_index::{Explanation, Hit};

/// The questions proposed for one topic, best first: score descending, equal scores by descending question number.
pub type Ranking = Vec<Hit>;

/// Told how far a stage is; called from any thread.
pub type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// A step of a pipeline: all topics of a batch with their rankings so far go in, new rankings come out, in the same order
/// and as many.
pub trait Stage: Send + Sync {
    /// The name in configurations.
    fn name(&self) -> &'static str;

    /// The parameters with their defaults filled in, as they are written beside a run.
    fn parameters(&self) -> serde_json::Value;

    /// What the stage looks at beyond one request and the bank.
    fn uses(&self) -> Vec<Uses> {
        Vec::new()
    }

    /// The learned models that it asks for.
    fn models(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether it looks at the need that a model predicted for a topic; without such a look nothing is predicted first.
    fn looks_at_need(&self) -> bool {
        false
    }

    /// Ranks. What a topic has as its need is a prediction, never its label. `progress` is called with the number of topics that were finished since the last call.
    fn apply(
        &self,
        context: &Context,
        topics: &[Topic],
        rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error>;

    /// Ranks for the next turn of conversations. A stage that says nothing else takes everything that was said for one
    /// request, put together as the published baseline does.
    fn apply_to_conversations(
        &self,
        context: &Context,
        conversations: &[Conversation],
        rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let topics: Vec<Topic> = conversations.iter().map(Conversation::as_topic).collect();
        self.apply(context, &topics, rankings, progress)
    }

    /// Where the score that this stage gave a question comes from; `None` where there is nothing to tell beyond the rank.
    fn explain(
        &self,
        _context: &Context,
        _topic: &Topic,
        _question: u32,
    ) -> Result<Option<Explanation>, Error> {
        Ok(None)
    }

    /// The same, for stages whose score depends on the ranking that came in.
    fn explain_ranked(
        &self,
        context: &Context,
        topic: &Topic,
        question: u32,
        _before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        self.explain(context, topic, question)
    }

    /// The same for the next turn of a conversation. A stage that says nothing else explains what it makes of everything
    /// that was said.
    fn explain_conversation(
        &self,
        context: &Context,
        conversation: &Conversation,
        question: u32,
        before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        self.explain_ranked(context, &conversation.as_topic(), question, before)
    }
}
