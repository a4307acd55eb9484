//! What does `clariq eval` take? The official scorer's flags among it.

use crate::arguments::splits;
use clap::{Args, ValueEnum};
use clariq_collections::clariq::Split;
use std::path::PathBuf;

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct EvalArgs {
    /// Run or need file to score; `-` for standard input
    #[arg(value_name = "RUN", required_unless_present = "run_file")]
    pub(crate) run: Option<PathBuf>,
    /// The same, spelled as the official scorer does
    #[arg(long, alias = "run_file", value_name = "FILE", conflicts_with = "run")]
    pub(crate) run_file: Option<PathBuf>,
    /// What is scored
    #[arg(long, alias = "eval_task", value_enum, default_value = "question_relevance")]
    pub(crate) task: Task,
    /// Labels to score against
    #[arg(long, alias = "experiment_type", default_value = "dev", value_parser = splits())]
    pub(crate) split: Split,
    /// Measures by name, such as nDCG@10, R@30, AP, RR, P@5, Success@5, RBP(p=0.8) or recall_30; may be given more than
    /// once
    #[arg(short = 'm', long = "measure", value_name = "NAME")]
    pub(crate) measures: Vec<String>,
    /// Judgements of any TREC collection in place of the labels of --split
    #[arg(long, value_name = "FILE")]
    pub(crate) qrels: Option<PathBuf>,
    /// The figures of every topic too, with -m or --qrels; so does -q there, as in trec_eval
    #[arg(long)]
    pub(crate) per_topic: bool,
    /// How equal scores are ordered [default: official; id with -m or --qrels]
    #[arg(long, value_enum)]
    pub(crate) ties: Option<TieRule>,
    /// The run is multi-turn: contexts and question texts (document relevance only)
    #[arg(long, alias = "multi_turn")]
    pub(crate) multi_turn: bool,
    /// The conversations that a multi-turn run answers: is the next question relevant, new, and answered by something else
    /// than "no" in the labels
    #[arg(long, value_name = "FILE", conflicts_with_all = ["measures", "qrels", "ties", "leaderboard", "place", "out_file"])]
    pub(crate) conversations: Option<PathBuf>,
    /// Print a row for the challenge's leaderboard
    #[arg(long)]
    pub(crate) leaderboard: bool,
    /// Also show where the run would stand among the published entries of the challenge
    #[arg(long, conflicts_with_all = ["leaderboard", "ties", "measures", "qrels"])]
    pub(crate) place: bool,
    /// Figures per class, the confusion matrix and how far off predictions are (clarification need only)
    #[arg(long, conflicts_with_all = ["leaderboard", "place", "measures", "qrels"])]
    pub(crate) full: bool,
    /// Write the figures of every topic to this file, as JSON
    #[arg(long, alias = "out_file", value_name = "FILE")]
    pub(crate) out_file: Option<PathBuf>,
}

/// The tasks of the official scorer.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Task {
    /// Recall of relevant questions
    QuestionRelevance,
    /// Weighted precision, recall and F1 of need labels
    ClarificationNeed,
    /// Retrieval figures after the first question and its answer, from the released table
    DocumentRelevance,
}

/// What `--ties` accepts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TieRule {
    /// As the official scorer: the first line of each score counts, the others are dropped
    Official,
    /// As trec_eval: all lines count, equal scores by descending id
    Id,
    /// The lowest and highest value that any order of equal scores could give
    Interval,
}
