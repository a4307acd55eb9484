//! The network: downloads, services with retries, and models behind servers.
//!
//! Every wait has a limit, every answer a largest size, and no message shows a key.
//!
//! An [`EndpointConfig`] is the table `[models.NAME]` of a system. A [`Registry`] opens it as a
//! [`Model`](clariq_core::Model), whose calls all go through the [`Calls`] of a session: these keep
//! every answer in the cache, replay recorded ones, and count them.
//!
//! Two protocols are known, the key `dialect` of a table: `v1`, the paths and forms of `OpenAI`, vLLM,
//! llama.cpp, Jina and Cohere (`/chat/completions`, `/embeddings`, `/rerank`), and `tei`, those of
//! text-embeddings-inference (`/embed`, `/rerank` and others).
//!
//! The cache and a recording keep an answer as the server gave it, what the model thinks included, so
//! that another reading needs no other call. The key of an answer in the cache has the name that the
//! server gives its model; a recording has it in the answer, and needs no server.

pub mod download;
mod http;
mod mask;
mod models;
mod service;

pub use http::{CertificateAuthorities, Timeouts};
pub use models::{
    CallOptions, Calls, EndpointConfig, Exchange, Planned, Recording, Registry, write_exchanges,
};
pub use service::{LONGEST_TIMEOUT, Patience, Reply, Service, ServiceAccess, check_address};
