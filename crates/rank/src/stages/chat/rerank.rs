//! Stage `chat_rerank`: reorders the first documents of every ranking by a chat model, which reads
//! one document at a time (`pointwise`) or a list of them (`listwise`).

mod listwise;
mod pointwise;

use super::{Chat, ChatDefaults, Conversation};
use crate::build::Build;
use crate::context::Context;
use crate::stage::{About, Batch, Stage};
use crate::stages::cross_encoder::QueryText;
use clariq_core::{ChatRequest, Doc, Explanation, Hit, Ranking, Request, Result, bail, positive};
use listwise::Listwise;
use pointwise::Pointwise;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::num::{NonZeroU32, NonZeroUsize};

const NAME: &str = "chat_rerank";

/// Requests whose documents are read together: enough for a server that answers many calls at once,
/// few enough for memory.
const TOGETHER: usize = 64;

#[derive(Serialize)]
struct ChatRerank {
    #[serde(flatten)]
    chat: Chat,
    #[serde(flatten)]
    method: Method,
    #[serde(flatten)]
    keys: Keys,
}

#[derive(Serialize)]
#[serde(tag = "method", rename_all = "lowercase")]
enum Method {
    Pointwise(Pointwise),
    Listwise(Listwise),
}

/// The keys of both methods.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// Documents that are reordered.
    #[serde(default = "positive::<30>")]
    depth: NonZeroUsize,
    /// The part of a conversation that is the variable `query` of the prompt.
    #[serde(default, skip_serializing_if = "QueryText::is_all")]
    query: QueryText,
    /// Words of a document that are read at most, by default as many as by `RankGPT`.
    #[serde(default = "positive::<300>")]
    words: NonZeroUsize,
}

pub(crate) fn build(mut build: Build) -> Result<Box<dyn Stage>> {
    let table = &mut build.table;
    let (method, span) = table.take_string("method")?;
    let (method, defaults) = match method.as_str() {
        "pointwise" => {
            let method: Pointwise = table.take_keys(&["score"]).read()?;
            let defaults = method.defaults();
            (Method::Pointwise(method), defaults)
        }
        "listwise" => {
            let at = table.at("step");
            let method: Listwise = table.take_keys(&["window", "step"]).read()?;
            method.check(at)?;
            (Method::Listwise(method), listwise::DEFAULTS)
        }
        other => {
            let at = table.file.at(span);
            bail!(at, "`pointwise` or `listwise`", "`{other}`", "it is the key `method`")
        }
    };
    let mut chat = Chat::take(table, defaults)?;
    if let Method::Pointwise(method) = &method {
        chat.parameters.top_logprobs = method.top_logprobs();
    }
    Ok(Box::new(ChatRerank { chat, method, keys: build.table.read()? }))
}

const fn defaults(
    prompt: &'static str,
    variables: &'static [&'static str],
    max_tokens: u32,
) -> ChatDefaults {
    let Some(max_tokens) = NonZeroU32::new(max_tokens) else { panic!() };
    ChatDefaults { prompt, variables, max_tokens }
}

impl ChatRerank {
    /// The documents of a ranking that are reordered.
    fn head<'r>(&self, request: &Request, ranking: &'r [Hit]) -> &'r [Hit] {
        &ranking[..ranking.len().min(request.depth(self.keys.depth.get()))]
    }

    /// The first words of a document.
    fn text(&self, context: &Context, doc: Doc) -> Result<String> {
        let text = context.documents.text(doc)?;
        let words = text.split_whitespace().take(self.keys.words.get());
        Ok(words.collect::<Vec<_>>().join(" "))
    }

    /// A request to the model with the variables of the conversation, the query and `documents`.
    fn ask(&self, request: &Request, documents: impl Serialize) -> Result<ChatRequest> {
        #[derive(Serialize)]
        struct Values<'a, T> {
            #[serde(flatten)]
            conversation: Conversation<'a>,
            query: &'a str,
            #[serde(flatten)]
            documents: T,
        }
        let query = &*self.keys.query.of(request);
        let conversation = Conversation::of(request);
        let about = format!("{NAME} for request {}", request.id);
        self.chat.request(about, &Values { conversation, query, documents })
    }

    fn reorder(&self, context: &Context, batch: &[(&Request, &[Hit])]) -> Result<Vec<Ranking>> {
        match &self.method {
            Method::Pointwise(method) => method.reorder(self, context, batch),
            Method::Listwise(method) => method.reorder(self, context, batch),
        }
    }
}

impl Stage for ChatRerank {
    fn about(&self) -> About {
        self.chat.about(NAME, self)
    }

    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let mut reranked = Vec::with_capacity(rankings.len());
        let requests = batch.requests.chunks(TOGETHER);
        for (requests, rankings) in requests.zip(rankings.chunks(TOGETHER)) {
            let pairs = requests.iter().zip(rankings);
            let heads: Vec<(&Request, &[Hit])> =
                pairs.map(|(request, ranking)| (request, self.head(request, ranking))).collect();
            let reordered = self.reorder(batch.context, &heads)?;
            for (docs, ranking) in reordered.into_iter().zip(rankings) {
                reranked.push(before_the_rest(docs, ranking));
            }
            (batch.progress)(requests.len() as u64);
        }
        Ok(reranked)
    }

    fn explain(&self, one: &Batch, doc: Doc, before: &Ranking) -> Result<Option<Explanation>> {
        let Some(request) = one.requests.first() else { return Ok(None) };
        let head = self.head(request, before);
        let Some(index) = head.iter().position(|hit| hit.doc == doc) else { return Ok(None) };
        match &self.method {
            Method::Pointwise(method) => method.explain(self, one.context, request, doc).map(Some),
            Method::Listwise(method) => {
                method.explain(self, one.context, request, head, index).map(Some)
            }
        }
    }
}

/// The reordered documents before the others, which keep their order.
fn before_the_rest(mut docs: Vec<Hit>, ranking: &[Hit]) -> Ranking {
    let least = docs.last().map_or(0.0, |hit| hit.score);
    let rest = &ranking[docs.len()..];
    for (rank, hit) in (1_u32..).zip(rest) {
        docs.push(Hit { score: least - f64::from(rank), ..*hit });
    }
    docs
}

/// A variable of a prompt beside those of the conversation.
fn variable<T: Serialize>(name: &str, value: &T) -> serde_json::Value {
    json!({ name: value })
}
