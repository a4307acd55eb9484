//! Clarifying questions that a chat model writes. In a pipeline, documents are ranked by their likeness
//! to the question.

use crate::chat::{Chat, ChatDefaults, ChatUse, Conversation};
use crate::context::Context;
use crate::stage::{About, Batch};
use clariq_core::{Answer, AnswerForm, ChatRequest, Request, Result, Utterance};
use std::num::NonZeroU32;

/// The name by which descriptions and explanations know it.
const ASK: &str = "ask";

const MISSING: &str = "ask: {count} of {all} answers of the model were no question";

/// The defaults of a table that has a chat model write questions.
pub const QUESTION: ChatDefaults =
    ChatDefaults { prompt: "ask", variables: &["form"], max_tokens: NonZeroU32::new(100).unwrap() };

/// Describes a model that writes clarifying questions.
pub(crate) fn describe_questions(chat: &Chat) -> About {
    chat.about(ASK, chat)
}

/// The requests of a batch as the questions that were written for them alone. Where the model writes
/// nothing, a request stays as it is.
pub(crate) fn in_questions(chat: &Chat, batch: &Batch) -> Result<Vec<Request>> {
    let questions = write_questions(chat, batch.context, batch.requests)?;
    let mut requests = batch.requests.to_vec();
    for (request, question) in requests.iter_mut().zip(questions) {
        if !question.is_empty() {
            request.said = vec![Utterance::user(question)].into();
        }
    }
    Ok(requests)
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
        chat.request(context, about, Some(AnswerForm::Question), &Conversation::of(request))
    };
    let asked: Vec<ChatRequest> = requests.iter().map(ask).collect::<Result<_>>()?;
    let completions = chat.complete(context, ChatUse::new(MISSING), &asked)?;
    let question = |answer| match answer {
        Some(Answer::Text(question)) => question,
        _ => String::new(),
    };
    Ok(completions.into_iter().map(|completion| question(completion.answer)).collect())
}
