//! All stages, and the models that rewrite requests before them. A new one is a file in `stages/` and a
//! line here.

mod bm25;
mod candidates;
mod chat;
pub use chat::{Chat, ChatDefaults, Conversation, QUESTION, write_questions};
mod competition;
mod conversation;
mod cross_encoder;
mod cutoff;
mod dense;
mod distinct;
mod elasticsearch;
mod exclude;
mod exclude_asked;
mod feedback;
pub(crate) mod fuse;
mod no_question;
mod open_questions;
mod rm3;
mod stop;
pub use stop::STOPS;
mod ties;

use crate::build::{Factory, of_keys};
use crate::rewrite::RewriterFactory;

/// Every stage: its name in configurations, and the function that builds it from its table.
pub(crate) const STAGES: &[(&str, Factory)] = &[
    ("bm25", bm25::build),
    ("candidates", candidates::build),
    ("chat_rerank", chat::build_rerank),
    ("competition", competition::build),
    ("cross_encode", cross_encoder::build_cross_encode),
    ("cutoff", of_keys::<cutoff::Cutoff>),
    ("dense", dense::build),
    ("distinct", distinct::build),
    ("elasticsearch", elasticsearch::build),
    ("exclude", of_keys::<exclude::Exclude>),
    ("exclude_asked", of_keys::<exclude_asked::ExcludeAsked>),
    ("feedback", feedback::build),
    ("fuse", fuse::build),
    ("no_question", no_question::build),
    ("open_questions", open_questions::build),
    ("rerank", cross_encoder::build_rerank),
    ("rm3", rm3::build),
    ("stop", stop::build),
];

/// Models that rewrite: the key that names one in a table `rewrite`, and what makes it of the table.
pub(crate) const REWRITERS: &[(&str, RewriterFactory)] = &[("chat", chat::build_rewriter)];
