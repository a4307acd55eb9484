//! Models behind servers: chat, embeddings, weights of words and reranking.

mod calls;
mod chat;
mod completion;
mod concurrently;
mod config;
mod embed;
mod endpoint;
mod exchange;
mod fault;
mod identity;
mod json;
mod parameters;
mod registry;
mod rerank;
mod server;
mod sparse;
mod special;
mod stream;
mod table;
mod thinking;

pub use calls::{CallOptions, Calls, Planned};
pub use config::EndpointConfig;
pub use exchange::{Exchange, Recording, write_exchanges};
pub use registry::Registry;
