//! All stages. A new one is a file in `stages/` and a line here.

mod bm25;
mod candidates;
mod chat_rerank;
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
mod fuse;
mod likelihood;
mod maxsim;
mod no_question;
mod open_questions;
mod rm3;
mod sparse;
mod stop;
mod ties;

pub use stop::STOPS;

use crate::build::{Factory, of_keys};

/// Every stage: its name in configurations, and the function that builds it from its table.
pub(crate) const STAGES: &[(&str, Factory)] = &[
    ("bm25", bm25::build),
    ("candidates", candidates::build),
    ("chat_rerank", chat_rerank::build),
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
    ("likelihood", likelihood::build),
    ("maxsim", of_keys::<maxsim::MaxSim>),
    ("no_question", no_question::build),
    ("open_questions", open_questions::build),
    ("rerank", cross_encoder::build_rerank),
    ("rm3", rm3::build),
    ("sparse", sparse::build),
    ("stop", stop::build),
];
