//! The options of `clariq eval` for runs and need files of `ClariQ`.

use crate::arguments::{Names, one_of, refuse_given};
use crate::output::Format;
use clap::Args;
use clariq_core::{Problem, bail};
use clariq_track_clariq::evaluation::{DocumentsTask, OfficialTask, ScorerTask};
use std::path::PathBuf;

#[derive(Args)]
#[command(next_help_heading = "ClariQ")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct ClariqEvalArgs {
    /// Evaluation task, named as in the official scorer
    #[arg(long, visible_alias = "eval_task", alias = "eval-task", value_name = "NAME",
          value_parser = one_of(TASKS), default_value = TASKS[0].0)]
    task: ScorerTask,
    /// Score a multi-turn run: contexts and question texts (document relevance only)
    #[arg(long, visible_alias = "multi_turn")]
    multi_turn: bool,
    /// Document relevance after the question alone, without its answer (the scores `no_answer`)
    #[arg(long, conflicts_with = "leaderboard")]
    no_answer: bool,
    /// Conversations that a multi-turn run was made for: score whether its question is relevant, new,
    /// and not answered "no" in the labels, and after how many turns it asks nothing more
    #[arg(long, value_name = "FILE", conflicts_with_all = ["measures", "qrels"])]
    conversations: Option<PathBuf>,
    /// Print a row for the challenge's leaderboard
    #[arg(long, conflicts_with = "full")]
    leaderboard: bool,
    /// Also print scores per class, the confusion matrix, and distances of predictions from labels
    /// (clarification need only)
    #[arg(long)]
    full: bool,
}

const TASKS: Names<ScorerTask> = &[
    ("question_relevance", ScorerTask::Ranking, "Recall of relevant questions"),
    ("clarification_need", ScorerTask::Need, "Weighted precision, recall and F1 of need labels"),
    (
        "document_relevance",
        ScorerTask::Documents,
        "Document retrieval after asking the top question, looked up in the released table",
    ),
];

impl ClariqEvalArgs {
    /// The task that the file is scored for.
    ///
    /// # Errors
    ///
    /// A flag that does not apply to it.
    pub(super) fn official_task(&self) -> Result<OfficialTask, Problem> {
        let multi_turn = ("--multi-turn", self.multi_turn);
        let no_answer = ("--no-answer", self.no_answer);
        let full = ("--full", self.full);
        let leaderboard = self.leaderboard;
        if let Some(conversations) = &self.conversations {
            let task = ("--task", self.task != ScorerTask::default());
            let unused = [task, multi_turn, no_answer, ("--leaderboard", leaderboard), full];
            refuse_given(&unused, "--conversations")?;
            return Ok(OfficialTask::Contexts { conversations: conversations.clone() });
        }
        match self.task {
            ScorerTask::Ranking => {
                refuse_given(&[multi_turn, no_answer, full], "--task question_relevance")?;
                Ok(OfficialTask::Questions { leaderboard })
            }
            ScorerTask::Need => {
                refuse_given(&[multi_turn, no_answer], "--task clarification_need")?;
                Ok(OfficialTask::Needs { leaderboard, full: self.full })
            }
            ScorerTask::Documents => {
                refuse_given(&[full], "--task document_relevance")?;
                let Self { multi_turn, no_answer, .. } = *self;
                Ok(OfficialTask::Documents(DocumentsTask { multi_turn, no_answer, leaderboard }))
            }
        }
    }

    /// Refuses all of them, because none applies to `what`.
    pub(super) fn refuse_all(&self, what: &str) -> Result<(), Problem> {
        let given = [
            ("--task", self.task != ScorerTask::default()),
            ("--multi-turn", self.multi_turn),
            ("--no-answer", self.no_answer),
            ("--conversations", self.conversations.is_some()),
            ("--leaderboard", self.leaderboard),
            ("--full", self.full),
        ];
        refuse_given(&given, what)
    }

    /// Refuses a format that cannot hold what they print.
    pub(super) fn check_format(&self, format: Option<Format>) -> Result<(), Problem> {
        let Some(format) = format else { return Ok(()) };
        if self.full && format.is_one_table() {
            let hint = "TSV is one table; --format json holds all";
            bail!("--full", "no --format tsv beside it", "--format tsv", hint)
        }
        if self.leaderboard {
            let hint = "it prints text, which has one form";
            bail!("--leaderboard", "no --format beside it", "--format", hint)
        }
        Ok(())
    }
}
