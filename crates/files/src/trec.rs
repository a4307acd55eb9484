//! The two formats of TREC: runs and relevance judgements.

pub(crate) mod graded;
pub(crate) mod qrels;
pub(crate) mod run;
