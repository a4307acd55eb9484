//! The task of `clariq eval`, with the options that it has.

use super::arguments::{EvalArgs, EvalRequest};
use super::official::print_official;
use super::printed::print_cases;
use crate::failure::Outcome;
use crate::kept_scores::keep;
use crate::labels::judgements_of;
use crate::settings::Settings;
use clariq_collections::evaluation::{Answers, Evaluation};
use clariq_collections::{Collection, Split};
use clariq_core::{Result, bail};
use clariq_eval::Measure;
use clariq_files::{Source, Target};
use clariq_track_clariq::ClariQ;
use clariq_track_clariq::evaluation::{Official, OfficialTask};
use clariq_track_ikat::Ikat;
use clariq_track_ikat::evaluation::{AssessedBy, IkatEvaluation};
use std::path::Path;

/// The answers that are scored without the options of tracks, as messages call them.
const BY_NAME: &str = "measures by name";

pub(super) enum EvalTask<'a> {
    /// A task of `ClariQ`'s official scorer.
    Official(Box<Official<'a>>, OfficialTask),
    /// The scores of iKAT, by labels of files beside those of the split.
    Ikat(Box<IkatEvaluation<'a>>, AssessedBy<'a>),
    /// The measures that were named, or else those of the collection.
    Measures(Box<dyn Evaluation + 'a>),
}

impl<'a> EvalTask<'a> {
    /// The task by judgements of a file.
    ///
    /// # Errors
    ///
    /// An option of a track; judgements that cannot be read.
    pub(super) fn of_judgements(arguments: &EvalArgs, qrels: &Path) -> Result<Self> {
        arguments.clariq.refuse(BY_NAME)?;
        arguments.ikat.refuse(BY_NAME)?;
        Ok(Self::Measures(Box::new(judgements_of(&Source::new(qrels))?)))
    }

    /// The task over a split of a collection.
    ///
    /// # Errors
    ///
    /// An option that the task does not have; missing labels.
    pub(super) fn of(
        collection: &'a dyn Collection,
        split: Split,
        arguments: &'a EvalArgs,
        measures: &[Measure],
        seed: u64,
    ) -> Result<Self> {
        let EvalArgs { qrels, shown, clariq, ikat, .. } = arguments;
        if let Some(of_ikat) = collection.downcast::<Ikat>() {
            clariq.refuse("runs of iKAT")?;
            shown.refuse("runs of iKAT")?;
            if arguments.output.is_some() && qrels.is_some() {
                let hint = "scores are kept by the labels of a split";
                bail!("--output", "no --qrels beside it, for iKAT", "--qrels", hint);
            }
            let evaluation = Box::new(IkatEvaluation::open(of_ikat, split)?);
            return Ok(Self::Ikat(evaluation, ikat.options.assessed(qrels.as_deref(), seed)));
        }
        ikat.refuse(&format!("runs of {}", collection.described()))?;
        if qrels.is_some() {
            let hint = "they replace the labels of a split, apart from those of iKAT";
            bail!("--qrels", "no --split beside it", "--split {split}", hint);
        }
        let Some(of_clariq) = collection.downcast::<ClariQ>() else {
            clariq.refuse(BY_NAME)?;
            return Ok(Self::Measures(collection.evaluation(split)?));
        };
        let official = Box::new(Official::new(of_clariq, split));
        let task = clariq.options.official_task(measures, &shown.options)?;
        Ok(match task {
            Some(task) => Self::Official(official, task),
            None => Self::Measures(official),
        })
    }

    /// Problems of the labels that do not prevent scoring.
    pub(super) fn warnings(&self) -> &[String] {
        match self {
            Self::Official(..) | Self::Ikat(..) => &[],
            Self::Measures(evaluation) => evaluation.warnings(),
        }
    }

    fn evaluation(&self) -> &dyn Evaluation {
        match self {
            Self::Official(official, _) => &**official,
            Self::Ikat(evaluation, _) => &**evaluation,
            Self::Measures(evaluation) => &**evaluation,
        }
    }

    /// Scores a file by the labels of others, keeps the scores where that is asked for, and prints them.
    pub(super) fn print(
        &self,
        settings: &Settings,
        request: &EvalRequest,
        labels: &[Source],
    ) -> Result<Outcome> {
        let EvalRequest { arguments, file, by } = request;
        let mut source = Source::new(file.path());
        if let Some(output) = &arguments.output {
            source = source.repeatable()?;
            let target = Target::new(output);
            keep(&target, &source, labels, self.evaluation(), by)?;
            if target.is_stream() {
                return Ok(Outcome::Done);
            }
        }
        match self {
            Self::Official(official, task) => {
                let found = official.score_as(task, &source)?;
                print_official(settings, arguments, task, file.path(), &found)
            }
            Self::Ikat(evaluation, assessed) => {
                let cases = evaluation.score_with(&source, by.measures, assessed)?;
                print_cases(settings, arguments, cases, false)
            }
            Self::Measures(evaluation) => {
                let cases = evaluation.cases(Answers::File(&source), by)?;
                print_cases(settings, arguments, cases, true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::named_measures;
    use crate::output::Format;
    use clap::Parser;
    use clariq_collections::evaluation::Cases;
    use clariq_core::Error;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        eval: EvalArgs,
        #[arg(long, value_enum)]
        format: Option<Format>,
    }

    fn scored(collection: &dyn Collection, split: Split, only: &Only) -> Result<Cases> {
        let measures = named_measures(&only.eval.measures)?;
        let request = only.eval.request(&measures, only.format)?;
        let task = match only.eval.judgements(request.file.path()) {
            Some(qrels) => EvalTask::of_judgements(&only.eval, qrels)?,
            None => EvalTask::of(collection, split, &only.eval, &measures, 42)?,
        };
        let source = Source::new(request.file.path());
        match task {
            EvalTask::Official(official, task) => {
                official.score_as(&task, &source).map(|_| Cases::default())
            }
            EvalTask::Ikat(ikat, by) => ikat.score_with(&source, &measures, &by),
            EvalTask::Measures(evaluation) => evaluation.cases(Answers::File(&source), &request.by),
        }
    }

    /// True if the flags are accepted. The run does not exist.
    fn accepts(sample: &dyn Collection, line: &str) -> bool {
        let words = ["eval", "no.run"].into_iter().chain(line.split_whitespace());
        let Ok(only) = Only::try_parse_from(words) else { return false };
        match scored(sample, clariq_track_clariq::splits::DEV, &only) {
            Err(Error::Problem(problem)) => !problem.at.file.starts_with('-'),
            Err(Error::Io { .. }) => true,
            Ok(_) => panic!("{line}: scored a file that does not exist"),
        }
    }

    const TASKS: [&str; 5] = [
        "--task question_relevance",
        "--task clarification_need",
        "--task document_relevance",
        "--conversations c.jsonl",
        "-m R@5",
    ];

    /// Flags, and true for each of [`TASKS`] that accepts them.
    const ACCEPTED: [(&str, [bool; 5]); 12] = [
        ("--ties official", [true, false, false, false, true]),
        ("--ties id", [true, false, false, false, true]),
        ("--ties interval", [true, false, false, false, true]),
        ("--per-topic", [false, false, false, false, true]),
        ("--multi-turn", [false, false, true, false, false]),
        ("--leaderboard", [true, true, true, false, false]),
        ("--full", [false, true, false, false, false]),
        ("--no-answer", [false, false, true, false, false]),
        ("--out-file o.json", [true, true, true, false, true]),
        ("--format tsv", [true; 5]),
        ("--format json", [true; 5]),
        ("--split train", [true; 5]),
    ];

    #[test]
    fn each_task_accepts_only_flags_that_apply_to_it() {
        let sample = clariq_tracks::TRACKS.open(&clariq_track_clariq::SAMPLE).unwrap();
        let accepts = |line: &str| accepts(&*sample, line);
        for (flag, accepted) in ACCEPTED {
            for (task, expected) in TASKS.into_iter().zip(accepted) {
                assert_eq!(accepts(&format!("{task} {flag}")), expected, "{task} {flag}");
            }
        }
        for line in [
            "-m R@5 --task document_relevance",
            "-m MRR100 --ties id",
            "-m MRR100 -m R@5 --per-topic",
            "-m MRR100 -m R@5 --ties interval",
            "-m AP --ties interval --per-topic",
            "--ties interval --out-file o",
            "--ties interval --leaderboard",
            "--leaderboard --format json",
            "--leaderboard --full --task clarification_need",
            "--leaderboard --no-answer --task document_relevance",
            "--task clarification_need --full --format tsv",
            "--qrels q --task clarification_need",
            "--qrels q --split dev",
            "--qrels q --answers a",
            "--answers a",
            "--conversations c --qrels q",
            "--conversations c -m AP",
            "--conversations c --task document_relevance",
        ] {
            assert!(!accepts(line), "{line}");
        }
        for line in [
            "-m MRR100 --per-topic",
            "-m MRR100 -m R@5 --ties id --out-file o",
            "--ties id --out-file o --leaderboard",
            "--task clarification_need --full --format json",
            "--task question_relevance -m nDCG@10 --ties interval",
            "--qrels q -m AP --per-topic --ties official --out-file o",
        ] {
            assert!(accepts(line), "{line}");
        }
    }
}
