//! The options of the official scorer.

use clariq_collections::evaluation::{EvalOption, EvalOptions, Formats, OptionValue};
use clariq_core::Problem;
use std::path::PathBuf;

/// The tasks of the official scorer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScorerTask {
    /// Question relevance.
    #[default]
    Ranking,
    /// Clarification need.
    Need,
    /// Document relevance, looked up in a released table.
    Documents,
}

const TASKS: [(&str, ScorerTask); 3] = [
    ("question_relevance", ScorerTask::Ranking),
    ("clarification_need", ScorerTask::Need),
    ("document_relevance", ScorerTask::Documents),
];

/// The options, as the command line shows them.
pub(crate) const OPTIONS: &[EvalOption] = &[
    EvalOption {
        aliases: &["eval_task", "eval-task"],
        value: OptionValue::OneOf(&[
            (TASKS[0].0, "Recall of relevant questions"),
            (TASKS[1].0, "Weighted precision, recall and F1 of need labels"),
            (
                TASKS[2].0,
                "Document retrieval after asking the top question, looked up in the released table",
            ),
        ]),
        ..EvalOption::flag("task", "Evaluation task, named as in the official scorer")
    },
    EvalOption {
        aliases: &["multi_turn"],
        ..EvalOption::flag(
            "multi-turn",
            "Score a multi-turn run: contexts and question texts (document relevance only)",
        )
    },
    EvalOption {
        conflicts: &["leaderboard"],
        ..EvalOption::flag(
            "no-answer",
            "Document relevance after the question alone, without its answer (the figures \
             `no_answer`)",
        )
    },
    EvalOption {
        value: OptionValue::File,
        conflicts: &["measures", "qrels"],
        ..EvalOption::flag(
            "conversations",
            "Conversations that a multi-turn run was made for: score whether its question is \
             relevant, new, and not answered \"no\" in the labels, and after how many turns it asks \
             nothing more",
        )
    },
    EvalOption {
        conflicts: &["full"],
        formats: Formats::Text,
        ..EvalOption::flag("leaderboard", "Print a row for the challenge's leaderboard")
    },
    EvalOption {
        formats: Formats::SeveralTables,
        ..EvalOption::flag(
            "full",
            "Also print figures per class, the confusion matrix, and distances of predictions from \
             labels (clarification need only)",
        )
    },
];

/// The options that were given.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct OfficialOptions {
    pub(super) task: ScorerTask,
    /// True if the file is a multi-turn run.
    pub(super) multi_turn: bool,
    /// True to score the documents retrieved without the answer to the question.
    pub(super) no_answer: bool,
    /// The conversations that the file answers.
    pub(super) conversations: Option<PathBuf>,
    /// True to print a row for the leaderboard in place of the figures.
    pub(super) leaderboard: bool,
    /// True to print figures per class and the confusion matrix.
    pub(super) full: bool,
}

impl OfficialOptions {
    pub(super) fn read(options: &EvalOptions) -> Result<Self, Problem> {
        Ok(Self {
            task: options.one_of("task", &TASKS)?,
            multi_turn: options.has("multi-turn"),
            no_answer: options.has("no-answer"),
            conversations: options.get("conversations").map(PathBuf::from),
            leaderboard: options.has("leaderboard"),
            full: options.has("full"),
        })
    }
}
