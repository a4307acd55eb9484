//! The arguments of `clariq eval`.

use super::clariq::ClariqEvalArgs;
use crate::arguments::{Names, labelled_split, one_of, refuse_given};
use crate::output::Format;
use crate::several::SEVERAL;
use clap::Args;
use clariq_collections::evaluation::{ComparisonOptions, EvalRequest, TieRule, does_not_apply};
use clariq_core::{Problem, problem};
use clariq_eval::{Measure, Ties};
use clariq_experiment::record;
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
    #[arg(short = 'm', long = "measure", value_name = "NAME")]
    pub(super) measures: Vec<String>,
    /// TREC qrels to use instead of the labels of --split; for iKAT, they replace the graded
    /// passages
    #[arg(long, value_name = "FILE")]
    pub(super) qrels: Option<PathBuf>,
    /// Also print the scores of every topic, as `trec_eval -q` does (with -m or --qrels)
    #[arg(long)]
    per_topic: bool,
    /// Tie-breaking [default: official; id with -m or --qrels]
    #[arg(long, value_parser = one_of(TIE_RULES))]
    ties: Option<TieRule>,
    /// Write the scores of every topic to this file, as JSON; for clarification need, nothing is
    /// written, as by the official scorer
    #[arg(long, visible_alias = "out_file", value_name = "FILE")]
    pub(super) out_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) clariq: ClariqEvalArgs,
    /// Reference answers for ROUGE, JSON keyed by turn
    #[arg(long, value_name = "FILE", help_heading = "iKAT")]
    pub(super) answers: Option<PathBuf>,
    /// Nuggets that responses of runs hold, as people decided: lines of the study of 2024, or its JSON;
    /// gives nugget recall
    #[arg(long, value_name = "FILE", help_heading = "iKAT")]
    matches: Option<PathBuf>,
    /// Name of the run in the file of --matches [default: that of RUN]
    #[arg(long, value_name = "NAME", requires = "matches", help_heading = "iKAT")]
    matched_run: Option<String>,
    /// Ratings by people, a table `turn,RATING`; gives means with intervals
    #[arg(long, value_name = "FILE", help_heading = "iKAT")]
    ratings: Option<PathBuf>,
}

const OFFICIAL: &str = "Only the first line with each score counts, as in the official scorer";
const ID: &str = "All lines count, scores that are equal in single precision by descending id, as \
                  in trec_eval 9 and pytrec_eval";
const DOUBLE: &str = "Scores are compared in double precision, as in trec_eval 10";
const INTERVAL: &str = "The lowest and highest value over all orders of equal scores";
const TIE_RULES: Names<TieRule> = &[
    ("official", TieRule::Order(Ties::Official), OFFICIAL),
    ("id", TieRule::Order(Ties::Id), ID),
    ("trec_eval10", TieRule::Order(Ties::IdDouble), DOUBLE),
    ("interval", TieRule::Interval, INTERVAL),
];

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

impl EvalArgs {
    /// The file of `--qrels`, if it replaces a collection: no split is named, and the run is not a
    /// submission to a collection.
    pub(super) fn judgements(&self, request: &EvalRequest) -> Option<&Path> {
        let alone = self.split.is_none() && !is_submission(&request.file);
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
    ) -> Result<(&'a [PathBuf], ComparisonOptions<'a>), Problem> {
        self.clariq.refuse_all(SEVERAL)?;
        self.refuse_answers(SEVERAL)?;
        let others = [
            ("--qrels", self.qrels.is_some()),
            ("--out-file", self.out_file.is_some()),
            ("--per-topic", self.per_topic),
        ];
        refuse_given(&others, SEVERAL)?;
        let ties = match self.ties {
            Some(TieRule::Interval) => return Err(does_not_apply("--ties interval", SEVERAL)),
            Some(TieRule::Order(ties)) => Some(ties),
            None => None,
        };
        let runs = if self.runs.is_empty() { self.run_file.as_slice() } else { &self.runs };
        Ok((runs, ComparisonOptions { measures, ties, ..ComparisonOptions::default() }))
    }

    /// Refuses files of assessed answers, which are for runs of iKAT.
    pub(super) fn refuse_answers(&self, what: &str) -> Result<(), Problem> {
        let given = [
            ("--answers", self.answers.is_some()),
            ("--matches", self.matches.is_some()),
            ("--ratings", self.ratings.is_some()),
        ];
        refuse_given(&given, what)
    }

    /// The files of assessed answers.
    pub(super) fn assessed(&self, seed: u64) -> AssessedBy<'_> {
        AssessedBy {
            answers: self.answers.as_deref(),
            matches: self.matches.as_deref(),
            matched_run: self.matched_run.as_deref(),
            ratings: self.ratings.as_deref(),
            seed,
        }
    }

    /// The request to score. The scorer refuses flags that do not apply to it.
    ///
    /// # Errors
    ///
    /// An output format without the requested figures.
    pub(super) fn request<'a>(
        &'a self,
        measures: &'a [Measure],
        format: Option<Format>,
    ) -> Result<EvalRequest<'a>, Problem> {
        self.clariq.check_format(format)?;
        if self.runs.len() > 1 {
            let found = format!("{} files", self.runs.len());
            let hint = "`clariq compare` compares runs, `clariq eval RUN --qrels FILE` scores by judgements, and \
                        several --data take a run for each";
            return Err(problem!("RUN", "one file", found, hint));
        }
        let run = self.runs.first().or(self.run_file.as_ref());
        let file = run.cloned().unwrap_or("-".into());
        if record::is_record(&file) {
            let hint = "the run is the file beside it, without the ending of the record";
            return Err(problem!((file.display().to_string()), "a run", "the record of one", hint));
        }
        Ok(EvalRequest {
            depth: record::depth_of(&file),
            file,
            measures,
            ties: self.ties,
            per_topic: self.per_topic,
            out_file: self.out_file.is_some(),
            qrels: self.qrels.as_deref(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::scorer::{BY_NAME, FileScorer};
    use super::*;
    use crate::arguments::named_measures;
    use clap::Parser;
    use clariq_collections::Collection;
    use clariq_collections::evaluation::{ByQrels, Evaluation};
    use clariq_core::Error;
    use clariq_track_clariq::{ClariqSplit, QUESTIONS};

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        eval: EvalArgs,
        #[arg(long, value_enum)]
        format: Option<Format>,
    }

    /// The sample, and its evaluation by judgements.
    struct Scorers<'a> {
        sample: &'a dyn Collection,
        by_qrels: ByQrels<'a>,
    }

    impl<'a> Scorers<'a> {
        fn of(sample: &'a dyn Collection) -> Self {
            let by_qrels = ByQrels::open(sample, ClariqSplit::Dev.as_split(), QUESTIONS).unwrap();
            Self { sample, by_qrels }
        }

        /// True if the flags are accepted. The run does not exist.
        fn accepts(&self, line: &str) -> bool {
            let words = line.split_whitespace();
            let Ok(only) = Only::try_parse_from(["eval", "no.run"].into_iter().chain(words)) else {
                return false;
            };
            let measures = named_measures(&only.eval.measures).unwrap();
            let Ok(request) = only.eval.request(&measures, only.format) else { return false };
            let scored = if only.eval.judgements(&request).is_some() {
                let refused = only.eval.clariq.refuse_all(BY_NAME);
                refused
                    .map_err(Error::from)
                    .and_then(|()| self.by_qrels.score(&EvalRequest { qrels: None, ..request }))
            } else {
                let split = ClariqSplit::Dev.as_split();
                let opened = FileScorer::open(self.sample, split, &only.eval, 42);
                opened.and_then(|scorer| scorer.score(&request))
            };
            match scored {
                Err(Error::Problem(problem)) => !problem.at.file.starts_with("--"),
                Err(Error::Io { .. }) => true,
                Ok(_) => panic!("{line}: scored a file that does not exist"),
            }
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
        let scorers = Scorers::of(&*sample);
        for (flag, accepted) in ACCEPTED {
            for (task, expected) in TASKS.into_iter().zip(accepted) {
                assert_eq!(scorers.accepts(&format!("{task} {flag}")), expected, "{task} {flag}");
            }
        }
        for line in [
            "-m R@5 --task document_relevance",
            "--qrels q --task clarification_need",
            "--qrels q --split dev",
            "--conversations c --qrels q",
            "--conversations c -m AP",
            "--conversations c --task document_relevance",
        ] {
            assert!(!scorers.accepts(line), "{line}");
        }
        assert!(scorers.accepts("--qrels q -m AP --per-topic --ties official --out-file o"));
    }

    /// No flag is ignored in a combination: flags are accepted together exactly if all of their
    /// pairs are, and a pair only if both of its flags are.
    #[test]
    fn flags_combine_exactly_if_all_of_their_pairs_do() {
        let sample = clariq_tracks::TRACKS.open(&clariq_track_clariq::SAMPLE).unwrap();
        let scorers = Scorers::of(&*sample);
        let accepts = |line: &str| scorers.accepts(line);
        let flags: Vec<&str> = ACCEPTED.iter().map(|(flag, _)| *flag).collect();
        let name = |flag: &str| flag.split(' ').next().unwrap_or_default().to_owned();
        for task in TASKS {
            let pair = |a: usize, b: usize| accepts(&format!("{task} {} {}", flags[a], flags[b]));
            for a in 0..flags.len() {
                for b in a + 1..flags.len() {
                    let alone = [a, b].map(|flag| accepts(&format!("{task} {}", flags[flag])));
                    assert!(!pair(a, b) || alone == [true, true], "{} {}", flags[a], flags[b]);
                    for c in b + 1..flags.len() {
                        if name(flags[a]) == name(flags[b]) || name(flags[b]) == name(flags[c]) {
                            continue;
                        }
                        let line = format!("{task} {} {} {}", flags[a], flags[b], flags[c]);
                        let expected = pair(a, b) && pair(a, c) && pair(b, c);
                        assert_eq!(accepts(&line), expected, "{line}");
                    }
                }
            }
        }
        let refused = |line: &str| assert!(!accepts(line), "{line}");
        refused("--ties interval --out-file o");
        refused("--ties interval --leaderboard");
        refused("--leaderboard --format json");
        refused("--task clarification_need --full --format tsv");
        refused("-m AP --ties interval --per-topic");
        assert!(accepts("--ties id --out-file o --leaderboard"));
        assert!(accepts("--task clarification_need --full --format json"));
    }
}
