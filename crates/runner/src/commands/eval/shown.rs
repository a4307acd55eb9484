//! The options of `clariq eval` for scores by measures: the order of equal scores, and those of topics.

use crate::arguments::{NamedValues, one_of};
use clap::Args;
use clariq_collections::evaluation::TieRule;
use clariq_core::{Problem, bail};
use clariq_eval::Ties;
use std::path::PathBuf;

/// How scores by measures are computed and shown.
#[derive(Args)]
pub(super) struct ShownArgs {
    /// Also print the scores of every topic, as `trec_eval -q` does (with -m or --qrels)
    #[arg(long)]
    pub(super) per_topic: bool,
    /// Tie-breaking [default: official for recall of ClariQ; id for all else and with --qrels]
    #[arg(long, value_parser = one_of(TIE_RULES))]
    pub(super) ties: Option<TieRule>,
    /// Write the scores of every topic to this file, as JSON; for clarification need, nothing is
    /// written, as by the official scorer
    #[arg(long, visible_alias = "out_file", value_name = "FILE")]
    pub(super) out_file: Option<PathBuf>,
}

const OFFICIAL: &str = "Only the first line with each score counts, as in the official scorer";
const ID: &str = "All lines count, scores that are equal in single precision by descending id, as \
                  in trec_eval 9 and pytrec_eval";
const DOUBLE: &str = "Scores are compared in double precision, as in trec_eval 10";
const INTERVAL: &str = "The lowest and highest value over all orders of equal scores";
const TIE_RULES: NamedValues<TieRule> = &[
    ("official", TieRule::Order(Ties::Official), OFFICIAL),
    ("id", TieRule::Order(Ties::Id), ID),
    ("trec_eval10", TieRule::Order(Ties::IdDouble), DOUBLE),
    ("interval", TieRule::Interval, INTERVAL),
];

impl ShownArgs {
    /// Refuses an interval beside something that has one score.
    pub(super) fn refuse_interval(&self, beside: &str) -> Result<(), Problem> {
        if self.ties == Some(TieRule::Interval) {
            let hint = "only the mean has an interval; --ties id has one score for each topic";
            bail!("--ties interval", "no {beside} beside it", beside, hint);
        }
        Ok(())
    }
}
