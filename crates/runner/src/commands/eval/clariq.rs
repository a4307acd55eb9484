//! The options of `clariq eval` for runs and need files of `ClariQ`.

use super::shown::ShownArgs;
use crate::arguments::{NamedValues, one_of};
use crate::output::Format;
use clap::Args;
use clariq_core::{Problem, bail};
use clariq_eval::Measure;
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
    #[arg(long, value_name = "FILE", 
          conflicts_with_all = ["measures", "qrels", "per_topic", "ties", "out_file", "task",
                                "multi_turn", "no_answer", "leaderboard", "full"])]
    conversations: Option<PathBuf>,
    /// Print a row for the challenge's leaderboard
    #[arg(long, conflicts_with_all = ["full", "measures"])]
    pub(super) leaderboard: bool,
    /// Also print scores per class, the confusion matrix, and distances of predictions from labels
    /// (clarification need only)
    #[arg(long)]
    pub(super) full: bool,
}

const TASKS: NamedValues<ScorerTask> = &[
    ("question_relevance", ScorerTask::Ranking, "Recall of relevant questions"),
    ("clarification_need", ScorerTask::Need, "Weighted precision, recall and F1 of need labels"),
    (
        "document_relevance",
        ScorerTask::Documents,
        "Document retrieval after asking the top question, looked up in the released table",
    ),
];

impl ClariqEvalArgs {
    /// The task that the file is scored for; `None` for measures by name.
    ///
    /// # Errors
    ///
    /// An option of another task.
    pub(super) fn official_task(
        &self,
        measures: &[Measure],
        shown: &ShownArgs,
    ) -> Result<Option<OfficialTask>, Problem> {
        if let Some(conversations) = &self.conversations {
            return Ok(Some(OfficialTask::Contexts { conversations: conversations.clone() }));
        }
        let is_by_name = !measures.is_empty();
        let of_one_task = [
            ("-m", is_by_name, ScorerTask::Ranking),
            ("--ties", shown.ties.is_some(), ScorerTask::Ranking),
            ("--full", self.full, ScorerTask::Need),
            ("--multi-turn", self.multi_turn, ScorerTask::Documents),
            ("--no-answer", self.no_answer, ScorerTask::Documents),
        ];
        let mut given = of_one_task.into_iter().filter(|(_, is_given, _)| *is_given);
        if let Some((flag, _, task)) = given.find(|(.., task)| *task != self.task) {
            let [task, found] = [task, self.task].map(|task| format!("--task {}", name_of(task)));
            let hint = format!("{flag} is an option of this task alone");
            bail!(flag, "{task} beside it", found, hint);
        }
        if is_by_name {
            check_named(measures, shown)?;
            return Ok(None);
        }
        if shown.per_topic {
            let hint = "--out-file writes the scores of every topic as the official scorer does, --output keeps \
                        them for `clariq compare`";
            bail!("--per-topic", "-m beside it", "the official scores alone", hint);
        }
        if self.leaderboard {
            shown.refuse_interval("--leaderboard")?;
        }
        let Self { multi_turn, no_answer, .. } = *self;
        Ok(Some(match self.task {
            ScorerTask::Ranking => OfficialTask::Questions { ties: shown.ties },
            ScorerTask::Need => OfficialTask::Needs,
            ScorerTask::Documents => {
                OfficialTask::Documents(DocumentsTask { multi_turn, no_answer })
            }
        }))
    }

    /// Refuses a format that cannot hold what is printed.
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

fn name_of(task: ScorerTask) -> &'static str {
    TASKS.iter().find(|(_, known, _)| *known == task).map_or("", |(name, ..)| name)
}

/// Refuses options that do not apply to document relevance, which some names mean: its cases are facets,
/// and it ranks nothing.
fn check_named(measures: &[Measure], shown: &ShownArgs) -> Result<(), Problem> {
    let documents: Vec<String> = measures.iter().filter_map(Measure::clariq_documents).collect();
    let Some(first) = documents.first() else { return Ok(()) };
    if documents.len() == measures.len() && shown.ties.is_some() {
        let hint = "leave it out: of equal scores, the last line in the file counts";
        bail!("--ties", "measures of questions beside it", "document relevance", hint);
    }
    if documents.len() < measures.len() && shown.per_topic {
        let found = "measures of questions and of documents";
        let hint = "the first have a score for each topic, the others for each facet: score them by \
                    two commands";
        bail!("--per-topic", "measures of one kind", found, hint);
    }
    shown.refuse_interval(first)
}
