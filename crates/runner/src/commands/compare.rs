//! `clariq compare`: means of several runs, and which differences are significant.

mod gate;
mod paper;
mod sheets;
mod topic;

use crate::arguments::{NamedValues, RunArguments, named_measures, one_of, refuse_given};
use crate::failure::Outcome;
use crate::kept_scores::KeptScores;
use crate::labels::LabelSource;
use crate::output::{Cell, Format, Sheet, print_all};
use crate::runs::{OpenedRun, OpenedRuns};
use crate::settings::Settings;
use crate::several::{SEVERAL, SeveralScores};
use clap::Args;
use clariq_collections::evaluation::{Answers, Evaluation, Rankings, ScoreOptions, TieRule};
use clariq_core::{Problem, RequestId, Result, bail, problem};
use clariq_eval::{
    BaselineTest, Measure, Score, Ties, keep_common, keep_common_topics, test_against_baseline,
};
use clariq_files::Source;
use gate::{GateArgs, GateVerdict};
use paper::PaperArgs;
use topic::ComparedTopic;

#[derive(Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) compared: RunArguments,
    /// Part of the runs to score, for collections with several: statements, sets, passages or
    /// responses of iKAT [default: a few measures of each]
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Measure, such as nDCG@10; repeatable [default: R@5 R@10 R@20 R@30, for iKAT those of
    /// the task]
    #[arg(short = 'm', long = "measure", value_name = "NAME")]
    measures: Vec<String>,
    /// Tie-breaking: as in the official scorer, or by id as in trec_eval [default:
    /// official for recall of ClariQ; id for all else]
    #[arg(long, value_name = "RULE", value_parser = one_of(TIES))]
    ties: Option<Ties>,
    /// Significance level: differences with a corrected p of at most this are marked
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = level)]
    alpha: f64,
    /// Number of topics to show per run: those with the largest differences from the baseline, by
    /// R@30 or the first measure, or by one that differs [default: 5; none for csv, tsv and latex]
    #[arg(long, value_name = "N")]
    topics: Option<usize>,
    /// Topic to show in place of the comparison: its values, and its documents with their rank in each
    /// run, as many of every run as R@30 or the first measure counts
    #[arg(long, value_name = "ID", conflicts_with_all = ["topics", "digits"])]
    topic: Option<String>,
    #[command(flatten)]
    paper: PaperArgs,
    #[command(flatten)]
    gate: GateArgs,
}

impl CompareArgs {
    fn options<'a>(&'a self, measures: &'a [Measure]) -> ScoreOptions<'a> {
        ScoreOptions {
            part: self.task.as_deref(),
            measures,
            ties: self.ties.map(TieRule::Order),
            depth: None,
        }
    }
}

struct ScoredRun {
    name: String,
    path: String,
    file: Source,
    scores: Vec<Score>,
    /// The rankings, for the documents of a topic and for a verdict.
    rankings: Option<Rankings>,
    /// The file, if it is scores that were kept.
    kept: Option<KeptScores>,
}

impl ScoredRun {
    /// Scores a run by its labels, or takes the scores that were kept of it. Prints its warnings.
    fn read(
        settings: &Settings,
        run: OpenedRun,
        labels: &LabelSource,
        evaluation: &dyn Evaluation,
        by: &ScoreOptions,
    ) -> Result<Self> {
        let OpenedRun { name, file: recorded, kept } = run;
        let file = Source::new(recorded.path()).repeatable()?;
        let path = file.name();
        let by = ScoreOptions { depth: recorded.depth(), ..*by };
        let cases = match &kept {
            Some(kept) => kept.cases(&path, &labels.files()?, evaluation, &by)?,
            None => evaluation.cases(Answers::File(&file), &by)?.compared(),
        };
        for warning in &cases.warnings {
            settings.note(&format!("warning: {path}: {warning}"));
        }
        Ok(Self { name, path, file, scores: cases.scores, rankings: cases.rankings, kept })
    }
}

/// A comparison, ready to be printed.
struct ComparisonResult {
    /// All runs, the baseline first.
    runs: Vec<ScoredRun>,
    /// Every run but the baseline, by every score.
    tested: Vec<BaselineTest>,
    alpha: f64,
    seed: u64,
    /// The position of the score by whose differences topics are chosen.
    focus: usize,
}

pub(crate) fn compare(settings: &Settings, arguments: &CompareArgs) -> Result<Outcome> {
    let topics = topics(arguments.topics, settings.format)?;
    arguments.paper.check(settings.format)?;
    let OpenedRuns { mut runs, baseline, labels, .. } =
        OpenedRuns::open(settings, &arguments.compared, &[], 2)?;
    runs[..=baseline].rotate_right(1);
    let evaluation = labels.evaluation(settings)?;
    let measures = named_measures(&arguments.measures)?;
    let by = arguments.options(&measures);
    let keeps_rankings =
        arguments.topic.is_some() || arguments.gate.given().iter().any(|(_, is_given)| *is_given);
    let mut scored = Vec::new();
    for run in runs {
        let mut run = ScoredRun::read(settings, run, &labels, &*evaluation, &by)?;
        run.rankings = run.rankings.filter(|_| keeps_rankings);
        scored.push(run);
    }
    let left_out = keep_common_scores(&mut scored)?;
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        settings.note(&format!("note: {names}: left out, because not all runs have them"));
    }
    let focus = if measures.is_empty() { evaluation.focus() } else { 0 };
    if let Some(topic) = &arguments.topic {
        let usual = if measures.is_empty() { evaluation.usual_ties() } else { Ties::Id };
        let of_topic = ComparedTopic {
            topic,
            runs: &scored,
            focus,
            ties: arguments.ties.unwrap_or(usual),
            labels: &labels,
            part: by.part,
        };
        return of_topic.print(settings);
    }
    let mut scores: Vec<&mut Vec<Score>> = scored.iter_mut().map(|run| &mut run.scores).collect();
    let left_out = keep_common_topics(&mut scores).len();
    let is_gate = arguments.gate.is_asked(&scored[0].scores)?;
    let scores: Vec<&[Score]> = scored.iter().map(|run| &run.scores[..]).collect();
    let seed = settings.options.seed;
    let tested = if is_gate { Vec::new() } else { test_against_baseline(&scores, 0, seed) };
    let compared = ComparisonResult { tested, runs: scored, alpha: arguments.alpha, seed, focus };
    let verdict = if is_gate {
        Some(GateVerdict::of(&arguments.gate, &compared, &*evaluation, &by, left_out)?)
    } else {
        None
    };
    let mut sheets = match &verdict {
        Some(verdict) => verdict.sheets(settings.format),
        None => compared.sheets(settings.format, &arguments.paper),
    };
    if topics > 0 {
        let requests = labels.last_said()?;
        let text = |case: &RequestId| {
            let request = evaluation.request_of(case).unwrap_or(case);
            requests.get(request).cloned().unwrap_or_default()
        };
        sheets.push(("topics", compared.topics(&text, topics, settings.format)));
    }
    print_all(&sheets, settings.format)?;
    let Some(verdict) = verdict else {
        compared.explain(settings, topics > 0);
        return Ok(Outcome::Done);
    };
    verdict.explain(settings);
    if let Some(file) = &arguments.gate.junit {
        verdict.write_junit(file)?;
    }
    Ok(if verdict.is_held() { Outcome::Done } else { Outcome::CheckFailed })
}

/// Compares systems over the collections of several folders: a column for each, the means, and tests
/// over the requests of all.
pub(crate) fn compare_each(all: &[Settings], arguments: &CompareArgs) -> Result<Outcome> {
    let format = all[0].format;
    let refused = [
        ("--qrels", arguments.compared.judged.qrels.is_some()),
        ("--topics", arguments.topics.is_some()),
        ("--topic", arguments.topic.is_some()),
        ("--baseline", arguments.compared.baseline.is_some()),
    ];
    refuse_given(&refused, SEVERAL)?;
    refuse_given(&arguments.paper.given(), SEVERAL)?;
    refuse_given(&arguments.gate.given(), SEVERAL)?;
    let measures = named_measures(&arguments.measures)?;
    let by = arguments.options(&measures);
    let split = arguments.compared.split.as_deref();
    let scores = SeveralScores::read(all, &arguments.compared.runs, split, &by)?;
    if scores.systems.len() < 2 {
        let hint = "`clariq eval` scores a single system over several --data";
        let only = &scores.systems[0].name;
        bail!("RUN", "two systems or more", "`{only}` alone", hint);
    }
    let names = scores.measures();
    let pooled: Vec<Vec<Score>> =
        scores.systems.iter().map(|system| system.all_pooled(names.len())).collect();
    let of_systems: Vec<&[Score]> = pooled.iter().map(Vec::as_slice).collect();
    let tested = test_against_baseline(&of_systems, 0, all[0].options.seed);
    let mut header = vec!["by".to_owned(), "run".to_owned()];
    header.extend(scores.columns());
    header.extend(["diff", "p rand", "p Holm", ""].map(str::to_owned));
    let mut sheet = Sheet::new(&header);
    for (measure, name) in names.iter().enumerate() {
        for (run, system) in scores.systems.iter().enumerate() {
            let mut row = vec![Cell::text(name), Cell::text(&system.name)];
            row.extend(system.means(measure).into_iter().map(|mean| Cell::Number(mean, 4)));
            let test = tested.iter().find(|test| (test.run, test.column) == (run, measure));
            row.extend(test.map_or(vec![Cell::Nothing; 3], |test| {
                vec![
                    Cell::Number(test.test.mean_difference, 4),
                    Cell::Probability(test.test.randomisation_p),
                    Cell::Probability(test.corrected),
                ]
            }));
            let is_marked = test.is_some_and(|test| test.corrected <= arguments.alpha);
            row.push(Cell::Mark(is_marked));
            sheet.row(row);
        }
    }
    let outcome = sheet.print(format)?;
    all[0].note(&format!(
        "mean: of the collections; weighted: of all {} requests, over which the tests are; diff: of \
         the weighted means",
        pooled[0][0].values.len()
    ));
    Ok(outcome)
}

/// Keeps the scores that all runs have: only iKAT runs by this program, for example, have rankings
/// of statements beside them. Returns the names of the other scores.
///
/// # Errors
///
/// Runs of different forms, such as a submission to iKAT and a ranking of statements.
fn keep_common_scores(scored: &mut [ScoredRun]) -> Result<Vec<String>> {
    let names = |run: &ScoredRun| run.scores.iter().map(Score::name).collect::<Vec<_>>();
    let all: Vec<Vec<String>> = scored.iter().map(names).collect();
    let mut scores: Vec<&mut Vec<Score>> = scored.iter_mut().map(|run| &mut run.scores).collect();
    let left_out = keep_common(&mut scores);
    if scored[0].scores.is_empty() {
        let first = all[0].first();
        let other = all.iter().position(|names| first.is_none_or(|name| !names.contains(name)));
        let other = other.unwrap_or_default();
        let expected = all[0].join(", ");
        let found = all[other].join(", ");
        let hint = "compare submissions with submissions, and rankings with those of the same task";
        bail!(&*scored[other].path, "the columns of the baseline, {expected}", found, hint);
    }
    Ok(left_out)
}

/// The number of topics to show for each run.
fn topics(count: Option<usize>, format: Option<Format>) -> Result<usize, Problem> {
    let Some(format) = format.filter(|format| format.is_one_table()) else {
        let usual = if format == Some(Format::Latex) { 0 } else { 5 };
        return Ok(count.unwrap_or(usual));
    };
    match count {
        None | Some(0) => Ok(0),
        Some(_) => {
            let option = format.option();
            let hint = "such a file is one table; --format json holds both";
            Err(problem!("--topics", "no {option} beside it", option, hint))
        }
    }
}

const TIES: NamedValues<Ties> =
    &[("official", Ties::Official, ""), ("id", Ties::Id, ""), ("trec_eval10", Ties::IdDouble, "")];

fn level(text: &str) -> Result<f64, String> {
    let level = text.parse::<f64>().ok().filter(|level| 0.0 < *level && *level < 1.0);
    level.ok_or_else(|| "expected a number between 0 and 1, such as 0.05".to_owned())
}
