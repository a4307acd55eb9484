//! Models behind an endpoint: chat, embeddings and reranking over HTTP.
//!
//! An [`EndpointConfig`] is the table `[models.NAME]` of a system, and opens as a
//! [`Model`](clariq_core::Model). All of its calls go through the [`Calls`] of a session, which keep
//! every answer in the cache, replay recorded ones, and count them.
//!
//! Two dialects are known: `v1`, the paths and forms of `OpenAI`, vLLM, llama.cpp, Jina and Cohere
//! (`/chat/completions`, `/embeddings`, `/rerank`), and `tei`, those of text-embeddings-inference
//! (`/embed`, `/rerank`).

mod calls;
mod chat;
mod config;
mod embed;
mod exchange;
mod rerank;
mod server;

pub use calls::{CallOptions, Calls, Planned};
pub use config::{EndpointConfig, EndpointKind};
pub use exchange::{Exchange, Recording, write_exchanges};
