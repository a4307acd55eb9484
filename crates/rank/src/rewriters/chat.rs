//! Rewriting by a chat model: one query, or several that are retrieved separately and fused
//! (Abbasiantaeb and Aliannejadi, "Generate then Retrieve: Conversational Response Retrieval Using
//! LLMs as Answer and Query Generators", 2024: MQ4CS).

use crate::chat::{Chat, ChatDefaults, ChatUse, Conversation};
use crate::context::Context;
use crate::rewrite::{REWRITE, Rewriter, Rewritten, with_last_utterance};
use crate::stage::{About, Batch};
use crate::table::Table;
use clariq_core::{Answer, AnswerForm, ChatRequest, Request, Result, positive};
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

const DEFAULTS: ChatDefaults = ChatDefaults {
    prompt: "rewrite",
    variables: &["queries", "form"],
    max_tokens: NonZeroU32::new(256).unwrap(),
};

const MISSING: &str = "rewrite: the model wrote {rest} of {all} queries";
const UNREAD: &str = "rewrite: {count} of {all} answers of the model were no query; their requests keep \
                      the utterance";

/// More queries than this are a mistake.
const MOST_QUERIES: f64 = 20.0;

/// The table `rewrite` of a chat model.
#[derive(Serialize)]
struct ChatRewrite {
    #[serde(flatten)]
    chat: Chat,
    #[serde(flatten)]
    keys: RewriterKeys,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RewriterKeys {
    /// Queries that the model writes.
    #[serde(default = "positive::<1>")]
    queries: NonZeroUsize,
}

/// The variables of the prompt.
#[derive(Serialize)]
struct PromptValues<'a> {
    #[serde(flatten)]
    conversation: Conversation<'a>,
    queries: NonZeroUsize,
}

pub(super) fn build(mut table: Table) -> Result<Arc<dyn Rewriter>> {
    let chat = Chat::take(&mut table, DEFAULTS)?;
    let expected = format!("queries from 1 to {MOST_QUERIES}");
    table.check_number("queries", 1.0..=MOST_QUERIES, &expected, "")?;
    Ok(Arc::new(ChatRewrite { chat, keys: table.read()? }))
}

impl Rewriter for ChatRewrite {
    fn about(&self) -> About {
        self.chat.about(REWRITE, self)
    }

    /// Where the model writes nothing, the utterance stays.
    fn apply(&self, batch: &Batch) -> Result<Rewritten> {
        let context = batch.context;
        let asked = batch.requests.iter().map(|request| self.ask(context, request));
        let asked = asked.collect::<Result<Vec<_>>>()?;
        let written = self.chat.complete(context, ChatUse::new(UNREAD), &asked)?;
        let most = self.keys.queries.get();
        let mut queries = Vec::with_capacity(batch.requests.len());
        for ((request, asked), completion) in batch.requests.iter().zip(&asked).zip(written) {
            let mut texts = match completion.answer {
                Some(Answer::Text(query)) => vec![query],
                Some(Answer::Queries(queries)) => queries,
                _ => Vec::new(),
            };
            if most > 1 {
                context.tallies.add(MISSING, &asked.messages, most - texts.len(), most);
            }
            if texts.is_empty() {
                texts.push(request.last_said());
            }
            let rewrite = |text| with_last_utterance(request, text);
            queries.push(texts.into_iter().map(rewrite).collect::<Vec<_>>());
        }
        let requests = queries.iter().map(|queries| queries[0].clone()).collect();
        let queries = (most > 1).then_some(queries);
        Ok(Rewritten { requests, queries })
    }
}

impl ChatRewrite {
    fn ask(&self, context: &Context, request: &Request) -> Result<ChatRequest> {
        let queries = self.keys.queries;
        let form = match queries.get() {
            1 => AnswerForm::Query,
            most => AnswerForm::Queries(most),
        };
        let values = PromptValues { conversation: Conversation::of(request), queries };
        let about = format!("{REWRITE} of request {}", request.id);
        self.chat.request(context, about, Some(form), &values)
    }
}
