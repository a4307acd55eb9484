//! Clarifying questions that a chat model writes. In a pipeline, documents are ranked by their likeness
//! to the question.

use super::{Chat, ChatDefaults, Conversation};
use crate::context::Context;
use crate::pipeline::Pipeline;
use crate::rewrite::{Rewriter, Rewritten};
use crate::stage::{About, Batch};
use clariq_core::{ChatRequest, Request, Result, Utterance};
use std::num::NonZeroU32;
use std::sync::Arc;

/// The name by which descriptions and explanations know it.
const ASK: &str = "ask";

const MISSING: &str = "ask: the model wrote no question for {count} of {all} requests";

/// The defaults of a table that has a chat model write questions.
pub const QUESTION: ChatDefaults =
    ChatDefaults { prompt: "ask", variables: &[], max_tokens: NonZeroU32::new(60).unwrap() };

/// The table `[ask]` of a system that ranks.
struct QuestionWriter(Chat);

impl Rewriter for QuestionWriter {
    fn about(&self) -> About {
        self.0.about(ASK, &self.0)
    }

    /// The requests of a batch as what was written for them alone. Where the model writes nothing, a
    /// request stays as it is.
    fn apply(&self, batch: &Batch) -> Result<Rewritten> {
        let questions = write_questions(&self.0, batch.context, batch.requests)?;
        let mut requests = batch.requests.to_vec();
        for (request, question) in requests.iter_mut().zip(questions) {
            if !question.is_empty() {
                request.said = vec![Utterance::user(question)];
            }
        }
        Ok(Rewritten { requests, queries: None })
    }

    fn question(&self, one: &Batch) -> Result<Option<String>> {
        let question = write_questions(&self.0, one.context, one.requests)?.pop();
        Ok(question.filter(|question| !question.is_empty()))
    }
}

impl Pipeline {
    /// The pipeline with requests in the form of clarifying questions that a chat model writes; `None`
    /// if a model rewrites them already.
    pub fn with_questions(self, chat: Chat) -> Option<Self> {
        let rewrite: Arc<dyn Rewriter> = Arc::new(QuestionWriter(chat));
        self.rewrite.is_none().then_some(Self { rewrite: Some(rewrite), ..self })
    }

    /// The clarifying question for a batch of one request, if a chat model writes one.
    pub fn question(&self, one: &Batch) -> Result<Option<String>> {
        self.rewrite.as_ref().map_or(Ok(None), |rewrite| rewrite.question(one))
    }
}

/// Has a chat model write a clarifying question for each request. A note counts those for which it
/// writes none, which are empty.
pub fn write_questions(
    chat: &Chat,
    context: &Context,
    requests: &[Request],
) -> Result<Vec<String>> {
    let ask = |request: &Request| {
        let about = format!("question for request {}", request.id);
        chat.request(about, &Conversation::of(request))
    };
    let asked: Vec<ChatRequest> = requests.iter().map(ask).collect::<Result<_>>()?;
    let completions = chat.complete(context, &asked)?;
    let mut questions = Vec::with_capacity(requests.len());
    for (asked, completion) in asked.iter().zip(completions) {
        let question = read_question(&completion.text);
        context.tallies.add(MISSING, &asked.messages, usize::from(question.is_empty()), 1);
        questions.push(question);
    }
    Ok(questions)
}

/// The first line of a text, without quotation marks.
fn read_question(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    line.trim_matches(['"', '“', '”']).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_one_line() {
        assert_eq!(read_question("\n \"Do you mean bees?\"\nOr wasps?"), "Do you mean bees?");
        assert_eq!(read_question(" \n"), "");
    }
}
