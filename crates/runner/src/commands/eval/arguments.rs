//! The arguments of `clariq eval`.

use super::clariq::ClariqEvalArgs;
use super::shown::ShownArgs;
use crate::arguments::{OptionFamily, labelled_split, refuse_given};
use crate::output::Format;
use crate::several::SEVERAL;
use clap::Args;
use clariq_collections::evaluation::{ScoreOptions, TieRule};
use clariq_core::{Hint, Problem, problem};
use clariq_eval::Measure;
use clariq_experiment::record::{self, RecordedFile};
use clariq_files::Source;
use clariq_track_ikat::evaluation::AssessedBy;
use clariq_tracks::TRACKS;
use std::io::Read as _;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct EvalArgs {
    /// Run or need file to score; `-` for standard input. With several --data, a run over each
    #[arg(value_name = "RUN", required_unless_present = "run_file")]
    pub(super) runs: Vec<PathBuf>,
    /// Same as RUN
    #[arg(long, visible_alias = "run_file", value_name = "FILE", conflicts_with = "runs")]
    run_file: Option<PathBuf>,
    #[arg(long, visible_alias = "experiment_type", alias = "experiment-type", value_name = "SPLIT",
          help = labelled_split())]
    pub(crate) split: Option<String>,
    /// Measure, such as nDCG@10, R@30, AP, RR, P@5, Success@5, RBP(p=0.8) or recall_30; repeatable
    #[arg(short = 'm', long = "measure", value_name = "NAME", aliases = ["measures", "metric", "metrics"])]
    pub(super) measures: Vec<String>,
    /// TREC qrels to use instead of the labels of --split; for iKAT, they replace the graded
    /// passages
    #[arg(long, value_name = "FILE", alias = "qrel")]
    pub(super) qrels: Option<PathBuf>,
    /// Keep the scores of every topic in this file, which `clariq compare` takes in place of the run
    #[arg(long, short, value_name = "FILE",
          conflicts_with_all = ["out_file", "task", "leaderboard", "full", "conversations", "answers",
                                "matches", "ratings"])]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) shown: OptionFamily<ShownArgs>,
    #[command(flatten)]
    pub(super) clariq: OptionFamily<ClariqEvalArgs>,
    #[command(flatten)]
    pub(super) ikat: OptionFamily<IkatEvalArgs>,
}

/// Files of assessments of iKAT.
#[derive(Args)]
#[command(next_help_heading = "iKAT")]
pub(super) struct IkatEvalArgs {
    /// Reference answers for ROUGE, JSON keyed by turn
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// Nuggets that responses of runs hold, as people decided: lines of the study of 2024, or its JSON;
    /// gives nugget recall
    #[arg(long, value_name = "FILE", conflicts_with_all = ["measures", "qrels"])]
    matches: Option<PathBuf>,
    /// Name of the run in the file of --matches [default: that of RUN]
    #[arg(long, value_name = "NAME", requires = "matches")]
    matched_run: Option<String>,
    /// Ratings by people, a table `turn,RATING`; gives means with intervals
    #[arg(long, value_name = "FILE", conflicts_with_all = ["measures", "qrels"])]
    ratings: Option<PathBuf>,
}

/// True for a file with the name of submissions, unless its beginning shows that it has no turns.
fn is_submission(file: &Path) -> bool {
    const HEAD: u64 = 1 << 16;
    if TRACKS.kind_of_file(file).is_none() {
        return false;
    }
    let mut head = String::new();
    let read =
        Source::new(file).stream().ok().map(|text| text.take(HEAD).read_to_string(&mut head));
    let is_read = read.is_some_and(|read| read.is_ok());
    !is_read
        || ["turns", "turn_id", "turnId"].iter().any(|key| head.contains(&format!("\"{key}\"")))
}

/// A file to score, and how measures score it.
pub(super) struct EvalRequest<'a> {
    pub(super) arguments: &'a EvalArgs,
    pub(super) file: RecordedFile,
    pub(super) by: ScoreOptions<'a>,
}

impl IkatEvalArgs {
    pub(super) fn assessed<'a>(&'a self, qrels: Option<&'a Path>, seed: u64) -> AssessedBy<'a> {
        AssessedBy {
            qrels,
            answers: self.answers.as_deref(),
            matches: self.matches.as_deref(),
            matched_run: self.matched_run.as_deref(),
            ratings: self.ratings.as_deref(),
            seed,
        }
    }
}

impl EvalArgs {
    /// The file of `--qrels`, if it replaces a collection: no split is named, and the run is not a
    /// submission to a collection.
    pub(super) fn judgements(&self, file: &Path) -> Option<&Path> {
        let alone = self.split.is_none() && !is_submission(file);
        self.qrels.as_deref().filter(|_| alone)
    }

    /// The runs over several collections, and how they are scored.
    ///
    /// # Errors
    ///
    /// An option of one track, or for a single run.
    pub(super) fn over_several<'a>(
        &'a self,
        measures: &'a [Measure],
    ) -> Result<(&'a [PathBuf], ScoreOptions<'a>), Problem> {
        self.clariq.refuse(SEVERAL)?;
        self.ikat.refuse(SEVERAL)?;
        let ShownArgs { per_topic, ties, out_file } = &self.shown.options;
        let others = [
            ("--qrels", self.qrels.is_some()),
            ("--out-file", out_file.is_some()),
            ("--output", self.output.is_some()),
            ("--per-topic", *per_topic),
            ("--ties interval", *ties == Some(TieRule::Interval)),
        ];
        refuse_given(&others, SEVERAL)?;
        let runs = if self.runs.is_empty() { self.run_file.as_slice() } else { &self.runs };
        Ok((runs, ScoreOptions { measures, ties: *ties, ..ScoreOptions::default() }))
    }

    /// The file to score by measures.
    ///
    /// # Errors
    ///
    /// Several files, the record of a run, and options or a format that exclude each other.
    pub(super) fn request<'a>(
        &'a self,
        measures: &'a [Measure],
        format: Option<Format>,
    ) -> Result<EvalRequest<'a>, Problem> {
        self.clariq.options.check_format(format)?;
        let ShownArgs { per_topic, ties, out_file } = &self.shown.options;
        let kept = self.output.is_some();
        for (flag, is_given) in
            [("--per-topic", *per_topic), ("--out-file", out_file.is_some()), ("--output", kept)]
        {
            if is_given {
                self.shown.options.refuse_interval(flag)?;
            }
        }
        if self.runs.len() > 1 {
            let found = format!("{} files", self.runs.len());
            let hint = Hint::from("`clariq compare` compares runs, ")
                .and(Hint::on_all_data("eval RUN --qrels FILE"))
                .and(" scores by judgements, and several --data take a run for each");
            return Err(problem!("RUN", "one file", found, hint));
        }
        let run = self.runs.first().or(self.run_file.as_ref());
        let file = run.cloned().unwrap_or("-".into());
        if record::is_record(&file) {
            let hint = "the run is the file beside it, without the ending of the record";
            return Err(problem!((file.display().to_string()), "a run", "the record of one", hint));
        }
        let file = RecordedFile::open(&file);
        let by = ScoreOptions { part: None, measures, ties: *ties, depth: file.depth() };
        Ok(EvalRequest { arguments: self, file, by })
    }
}
