//! Stage `chat_rerank`: reorders the first documents of every ranking by a chat model, which reads
//! one document at a time (`pointwise`) or a list of them (`listwise`).

mod listwise;
mod pointwise;
mod reader;

use crate::build::Build;
use crate::chat::Chat;
use crate::context::Context;
use crate::stage::{About, Batch, Stage};
use clariq_core::{Doc, Explanation, Hit, Ranking, Request, Result, bail};
use listwise::Listwise;
use pointwise::Pointwise;
use reader::{NAME, Reader, ReaderKeys};
use serde::Serialize;

/// Requests whose documents are read together: enough for a server that answers many calls at once,
/// few enough for memory.
const TOGETHER: usize = 64;

#[derive(Serialize)]
struct ChatRerank {
    #[serde(flatten)]
    chat: Chat,
    #[serde(flatten)]
    method: RerankMethod,
    #[serde(flatten)]
    keys: ReaderKeys,
}

#[derive(Serialize)]
#[serde(tag = "method", rename_all = "lowercase")]
enum RerankMethod {
    Pointwise(Pointwise),
    Listwise(Listwise),
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>> {
    let table = &mut build.table;
    let (method, span) = table.take_string("method")?;
    let (method, defaults) = match method.as_str() {
        "pointwise" => {
            let method: Pointwise = table.take_keys(&["score"]).read()?;
            let defaults = method.defaults();
            (RerankMethod::Pointwise(method), defaults)
        }
        "listwise" => {
            let at = table.at("step");
            let method: Listwise = table.take_keys(&["window", "step"]).read()?;
            method.check(at)?;
            (RerankMethod::Listwise(method), listwise::DEFAULTS)
        }
        other => {
            let at = table.file.at(span);
            bail!(at, "`pointwise` or `listwise`", "`{other}`", "it is the key `method`")
        }
    };
    let mut chat = Chat::take(table, defaults)?;
    if let RerankMethod::Pointwise(method) = &method {
        chat.parameters.top_logprobs = method.top_logprobs();
    }
    Ok(Box::new(ChatRerank { chat, method, keys: build.table.read()? }))
}

impl ChatRerank {
    fn reader(&self) -> Reader<'_> {
        Reader { chat: &self.chat, keys: &self.keys }
    }

    fn reorder(&self, context: &Context, batch: &[(&Request, &[Hit])]) -> Result<Vec<Ranking>> {
        match &self.method {
            RerankMethod::Pointwise(method) => method.reorder(self.reader(), context, batch),
            RerankMethod::Listwise(method) => method.reorder(self.reader(), context, batch),
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
            let heads: Vec<(&Request, &[Hit])> = pairs
                .map(|(request, ranking)| (request, self.reader().head(request, ranking)))
                .collect();
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
        let reader = self.reader();
        let head = reader.head(request, before);
        let Some(index) = head.iter().position(|hit| hit.doc == doc) else { return Ok(None) };
        match &self.method {
            RerankMethod::Pointwise(method) => {
                method.explain(reader, one.context, request, doc).map(Some)
            }
            RerankMethod::Listwise(method) => {
                method.explain(reader, one.context, request, head, index).map(Some)
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
