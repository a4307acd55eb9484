//! The input of both methods: documents, cut to their first words, in a request to the model.

use crate::chat::{Chat, Conversation};
use crate::context::Context;
use crate::stages::cross_encoder::QueryText;
use clariq_core::{AnswerForm, ChatRequest, Doc, Hit, Request, Result, positive};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::num::NonZeroUsize;

/// The name of the stage.
pub(super) const NAME: &str = "chat_rerank";

/// The keys of both methods.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReaderKeys {
    /// Documents that are reordered.
    #[serde(default = "positive::<30>")]
    depth: NonZeroUsize,
    /// The part of a conversation that is the variable `query` of the prompt, as for `rerank`.
    #[serde(default, skip_serializing_if = "QueryText::is_all")]
    query: QueryText,
    /// Words of a document that are read at most, by default as many as by `RankGPT`.
    #[serde(default = "positive::<300>")]
    words: NonZeroUsize,
}

/// A chat model that reads documents.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) chat: &'a Chat,
    pub(super) keys: &'a ReaderKeys,
}

impl Reader<'_> {
    /// The documents of a ranking that are reordered.
    pub(super) fn head<'r>(self, request: &Request, ranking: &'r [Hit]) -> &'r [Hit] {
        &ranking[..ranking.len().min(self.depth(request))]
    }

    /// The number of documents that are reordered, at most.
    pub(super) fn depth(self, request: &Request) -> usize {
        request.depth(self.keys.depth.get())
    }

    /// The first words of a document.
    pub(super) fn text(self, context: &Context, doc: Doc) -> Result<String> {
        let text = context.documents.text(doc)?;
        let words = text.split_whitespace().take(self.keys.words.get());
        Ok(words.collect::<Vec<_>>().join(" "))
    }

    /// A request to the model with the variables of the conversation, the query and `documents`.
    pub(super) fn ask(
        self,
        context: &Context,
        request: &Request,
        form: Option<AnswerForm>,
        documents: impl Serialize,
    ) -> Result<ChatRequest> {
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
        self.chat.request(context, about, form, &Values { conversation, query, documents })
    }
}

/// A variable of a prompt beside those of the conversation.
pub(super) fn variable<T: Serialize>(name: &str, value: &T) -> serde_json::Value {
    json!({ name: value })
}
