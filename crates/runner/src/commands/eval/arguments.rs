//! The arguments of `clariq eval`, the official scorer's flags among them, and which of them go
//! together.

use crate::output::Format;
use crate::runs;
use clap::{Args, ValueEnum};
use clariq_collections::ikat;
use clariq_core::{Location, Problem, ProblemKind};
use std::path::{Path, PathBuf};

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
    #[arg(long, aliases = ["eval_task", "eval-task"], value_enum, default_value = "question_relevance")]
    pub(crate) task: Task,
    /// Labels to score against: train, dev or test of ClariQ; 2023-train or 2023-test of iKAT, where
    /// RUN is what is handed in [default: dev, or 2023-test for a run that ends in .json]
    #[arg(long, aliases = ["experiment_type", "experiment-type"], value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    /// Measures by name, such as nDCG@10, R@30, AP, RR, P@5, Success@5, RBP(p=0.8) or recall_30;
    /// may be given more than once
    #[arg(short = 'm', long = "measure", value_name = "NAME")]
    pub(crate) measures: Vec<String>,
    /// Judgements of any TREC collection in place of the labels of --split
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
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
    /// The conversations that a multi-turn run answers: is the next question relevant, new, and
    /// answered by something else than "no" in the labels
    #[arg(long, value_name = "FILE")]
    pub(crate) conversations: Option<PathBuf>,
    /// Print a row for the challenge's leaderboard
    #[arg(long)]
    pub(crate) leaderboard: bool,
    /// Also show where the run would stand among the published entries of the challenge
    #[arg(long)]
    pub(crate) place: bool,
    /// Figures per class, the confusion matrix and how far off predictions are (clarification need
    /// only)
    #[arg(long)]
    pub(crate) full: bool,
    /// Write the figures of every topic to this file, as JSON (not of clarification need)
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

/// What is scored, and by which measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Questions,
    Need,
    Documents,
    Conversations,
    Measures,
    Ikat(ikat::Split),
}

impl Mode {
    /// The flags that ask for it.
    fn flags(self) -> &'static str {
        match self {
            Self::Questions => "--task question_relevance",
            Self::Need => "--task clarification_need",
            Self::Documents => "--task document_relevance",
            Self::Conversations => "--conversations",
            Self::Measures => "-m or --qrels",
            Self::Ikat(_) => "a split of iKAT",
        }
    }
}

/// The modes that a flag says something in.
const MODES: [(&str, &[Mode]); 9] = [
    ("--conversations", &[Mode::Conversations]),
    ("--ties", &[Mode::Questions, Mode::Measures]),
    ("--per-topic", &[Mode::Measures]),
    ("--multi-turn", &[Mode::Documents]),
    ("--leaderboard", &[Mode::Questions, Mode::Need, Mode::Documents]),
    ("--place", &[Mode::Questions, Mode::Need, Mode::Documents]),
    ("--full", &[Mode::Need]),
    ("--out-file", &[Mode::Questions, Mode::Documents, Mode::Measures]),
    ("--task", &[Mode::Questions, Mode::Need, Mode::Documents]),
];

/// Flags that exclude each other, and what to do about it.
const APART: [(&str, &str, &str); 11] = [
    ("--conversations", "-m or --qrels", "conversations have figures of their own"),
    ("--ties interval", "--out-file", "an interval is of the mean alone; --ties id has topics"),
    ("--ties interval", "--per-topic", "an interval is of the mean alone; --ties id has topics"),
    ("--ties interval", "--leaderboard", "a row has one figure in each column"),
    ("--leaderboard", "--format", "a row for the leaderboard has one form"),
    ("--place", "--ties", "the published entries were scored by the official rule"),
    ("--place", "--leaderboard", "run the command once for each"),
    ("--place", "--format tsv", "TSV is one table; --format json holds both"),
    ("--full", "--leaderboard", "run the command once for each"),
    ("--full", "--place", "run the command once for each"),
    ("--full", "--format tsv", "TSV is one table; --format json holds both"),
];

impl EvalArgs {
    /// What is to be done.
    ///
    /// # Errors
    ///
    /// A flag that would say nothing beside the others.
    pub(super) fn mode(&self, format: Option<Format>) -> Result<Mode, Problem> {
        let given = self.given(format);
        for (one, other, why) in APART {
            if given.contains(&one) && given.contains(&other) {
                return Err(refusal(one, format!("no {other} beside it"), other, why));
            }
        }
        let mode = self.asked();
        for (flag, modes) in MODES {
            if given.contains(&flag) && !modes.contains(&mode) {
                let modes: Vec<&str> = modes.iter().map(|mode| mode.flags()).collect();
                let why = format!("leave {flag} out: it says nothing here");
                return Err(refusal(flag, modes.join(" or "), mode.flags(), &why));
            }
        }
        Ok(mode)
    }

    /// The name of the split that RUN is scored against.
    pub(super) fn split_or_usual(&self, run: &Path) -> &str {
        runs::split_or_usual(self.split.as_deref(), run)
    }

    fn asked(&self) -> Mode {
        let run = self.run.as_deref().or(self.run_file.as_deref()).unwrap_or(Path::new("-"));
        if self.qrels.is_none()
            && let Some(split) = ikat::Split::parse(self.split_or_usual(run))
        {
            return Mode::Ikat(split);
        }
        if self.conversations.is_some() {
            return Mode::Conversations;
        }
        if self.qrels.is_some() || !self.measures.is_empty() {
            return Mode::Measures;
        }
        match self.task {
            Task::QuestionRelevance => Mode::Questions,
            Task::ClarificationNeed => Mode::Need,
            Task::DocumentRelevance => Mode::Documents,
        }
    }

    /// The flags that are given, in the words of the tables above.
    fn given(&self, format: Option<Format>) -> Vec<&'static str> {
        let flags = [
            ("--ties", self.ties.is_some()),
            ("--ties interval", self.ties == Some(TieRule::Interval)),
            ("--per-topic", self.per_topic),
            ("--multi-turn", self.multi_turn),
            ("--leaderboard", self.leaderboard),
            ("--place", self.place),
            ("--full", self.full),
            ("--out-file", self.out_file.is_some()),
            ("--conversations", self.conversations.is_some()),
            ("-m or --qrels", self.qrels.is_some() || !self.measures.is_empty()),
            // Naming the usual task changes nothing.
            ("--task", self.task != Task::QuestionRelevance),
            ("--format", format.is_some()),
            ("--format tsv", format.is_some_and(Format::is_one_table)),
        ];
        flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
    }
}

fn refusal(flag: &str, expected: String, found: &str, why: &str) -> Problem {
    Problem::new(Location::file(flag), ProblemKind::Argument, expected, found).hint(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        eval: EvalArgs,
        #[arg(long, value_enum)]
        format: Option<Format>,
    }

    fn accepts(line: &str) -> bool {
        let words = line.split_whitespace();
        let only = Only::try_parse_from(["eval", "a.run"].into_iter().chain(words));
        only.is_ok_and(|only| only.eval.mode(only.format).is_ok())
    }

    const ASKS: [&str; 5] = [
        "--task question_relevance",
        "--task clarification_need",
        "--task document_relevance",
        "--conversations c.jsonl",
        "-m R@5",
    ];

    /// Flags, and whether each of [`ASKS`] takes them.
    const TAKES: [(&str, [bool; 5]); 12] = [
        ("--ties official", [true, false, false, false, true]),
        ("--ties id", [true, false, false, false, true]),
        ("--ties interval", [true, false, false, false, true]),
        ("--per-topic", [false, false, false, false, true]),
        ("--multi-turn", [false, false, true, false, false]),
        ("--leaderboard", [true, true, true, false, false]),
        ("--place", [true, true, true, false, false]),
        ("--full", [false, true, false, false, false]),
        ("--out-file o.json", [true, false, true, false, true]),
        ("--format tsv", [true; 5]),
        ("--format json", [true; 5]),
        ("--split train", [true; 5]),
    ];

    #[test]
    fn each_task_takes_the_flags_that_say_something_there() {
        for (flag, takes) in TAKES {
            for (ask, expected) in ASKS.into_iter().zip(takes) {
                assert_eq!(accepts(&format!("{ask} {flag}")), expected, "{ask} {flag}");
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
            assert!(!accepts(line), "{line}");
        }
        assert!(accepts("--qrels q -m AP --per-topic --ties official --out-file o"));
    }

    /// No flag is dropped in company: what is accepted in pairs is accepted together, and nothing
    /// that is refused alone or in a pair is accepted with more.
    #[test]
    fn combinations_are_as_their_pairs() {
        let flags: Vec<&str> = TAKES.iter().map(|(flag, _)| *flag).collect();
        let name = |flag: &str| flag.split(' ').next().unwrap_or_default().to_owned();
        for ask in ASKS {
            let pair = |a: usize, b: usize| accepts(&format!("{ask} {} {}", flags[a], flags[b]));
            for a in 0..flags.len() {
                for b in a + 1..flags.len() {
                    let alone = [a, b].map(|flag| accepts(&format!("{ask} {}", flags[flag])));
                    assert!(!pair(a, b) || alone == [true, true], "{} {}", flags[a], flags[b]);
                    for c in b + 1..flags.len() {
                        if name(flags[a]) == name(flags[b]) || name(flags[b]) == name(flags[c]) {
                            continue;
                        }
                        let line = format!("{ask} {} {} {}", flags[a], flags[b], flags[c]);
                        let expected = pair(a, b) && pair(a, c) && pair(b, c);
                        assert_eq!(accepts(&line), expected, "{line}");
                    }
                }
            }
        }
        let refused = |line: &str| assert!(!accepts(line), "{line}");
        refused("--ties interval --out-file o");
        refused("--ties interval --leaderboard");
        refused("--ties id --place");
        refused("--leaderboard --place");
        refused("--leaderboard --format json");
        refused("--place --format tsv");
        refused("--task clarification_need --full --format tsv");
        refused("--task clarification_need --full --place");
        refused("-m AP --ties interval --per-topic");
        assert!(accepts("--ties id --out-file o --leaderboard"));
        assert!(accepts("--task clarification_need --full --format json"));
    }
}
