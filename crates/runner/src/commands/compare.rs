//! `clariq compare`: means of several runs, and which differences are significant.

mod scored;
mod sheets;

use crate::arguments::splits;
use crate::failure::{Failure, Outcome};
use crate::output::Format;
use crate::output::print_all;
use crate::runs;
use crate::settings::Settings;
use clap::Args;
use clariq_collections::clariq::Split;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_eval::{PairedTest, ROUNDS, holm, paired_test};
use scored::Scored;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct CompareArgs {
    /// Run files, two at least; the first is the baseline unless --baseline names another
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Run that the others are compared with
    #[arg(long, value_name = "RUN")]
    baseline: Option<PathBuf>,
    /// Labels to score against
    #[arg(long, default_value = "dev", value_parser = splits())]
    split: Split,
    /// Measures by name, such as nDCG@10; may be given more than once [default: R@5 R@10 R@20 R@30]
    #[arg(short = 'm', long = "measure", value_name = "NAME")]
    measures: Vec<String>,
    /// How equal scores are ordered: as the official scorer does, or by id as trec_eval does
    /// [default: official; id with -m]
    #[arg(long, value_name = "RULE", value_parser = ["official", "id"])]
    ties: Option<String>,
    /// A comparison is marked where its corrected p is at most this
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = level)]
    alpha: f64,
    /// Topics to show for each run: those on which it differs most from the baseline, by R@30 or
    /// the first measure of -m
    /// [default: 5; none as TSV, which is one table]
    #[arg(long, value_name = "N")]
    topics: Option<usize>,
}

/// A run against the baseline by one measure.
struct Comparison {
    test: PairedTest,
    /// p of the randomisation test, corrected for all comparisons of the table.
    corrected: f64,
}

/// What was compared, ready to be shown.
struct Compared {
    measures: Vec<String>,
    /// The baseline first.
    runs: Vec<Scored>,
    /// For each measure, the runs after the baseline.
    comparisons: Vec<Vec<Comparison>>,
    alpha: f64,
    /// The place of the measure that topics are looked for by.
    focus: usize,
}

pub(crate) fn compare(settings: &Settings, arguments: &CompareArgs) -> Result<Outcome, Failure> {
    let paths = baseline_first(arguments)?;
    let topics = topics(arguments.topics, settings.format)?;
    let measures = scored::Measures::parse(&arguments.measures, arguments.ties.as_deref())?;
    let collection = settings.clariq()?;
    let labels = collection.labelled(arguments.split)?;
    let names = runs::names(&paths, ".run");
    let scored = paths
        .iter()
        .zip(names)
        .map(|(path, name)| scored::read(settings, path, name, &measures, &labels));
    let runs = scored.collect::<Result<Vec<_>, _>>()?;
    let compared = Compared {
        comparisons: comparisons(&runs, settings.seed),
        measures: measures.names(),
        runs,
        alpha: arguments.alpha,
        focus: measures.focus(),
    };
    let main = match settings.format {
        Some(Format::Tsv | Format::Json) => compared.complete(),
        format => compared.readable(format),
    };
    if topics == 0 {
        print_all(&[("comparisons", main)], settings.format)?;
    } else {
        let sheet = compared.topics(&labels, topics, settings.format);
        print_all(&[("comparisons", main), ("topics", sheet)], settings.format)?;
    }
    explain(settings, &compared, topics > 0);
    Ok(Outcome::Done)
}

/// The number of topics to show for each run.
fn topics(asked: Option<usize>, format: Option<Format>) -> Result<usize, Problem> {
    if format != Some(Format::Tsv) {
        return Ok(asked.unwrap_or(5));
    }
    match asked {
        None | Some(0) => Ok(0),
        Some(_) => {
            let (expected, found) = ("no --format tsv beside it", "--format tsv");
            Err(Problem::new(Location::file("--topics"), ProblemKind::Argument, expected, found)
                .hint("TSV is one table; --format json holds both"))
        }
    }
}

fn baseline_first(arguments: &CompareArgs) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = arguments.runs.clone();
    if let Some(baseline) = &arguments.baseline {
        let named = paths.iter().position(|path| path == baseline);
        let baseline = named.map_or_else(|| baseline.clone(), |place| paths.remove(place));
        paths.insert(0, baseline);
    }
    if paths.len() < 2 {
        let found = format!("`{}` alone", paths[0].display());
        let problem =
            Problem::new(Location::file("RUN"), ProblemKind::Argument, "two runs or more", found);
        return Err(problem.hint("`clariq eval` scores a single run").into());
    }
    runs::check_differ(&paths, "RUN")?;
    Ok(paths)
}

/// Every run after the baseline, by every measure, and Holm's correction over all of them.
fn comparisons(runs: &[Scored], seed: u64) -> Vec<Vec<Comparison>> {
    let Some((baseline, others)) = runs.split_first() else { return Vec::new() };
    let columns = baseline.columns.iter().enumerate();
    let tests: Vec<PairedTest> = columns
        .flat_map(|(place, figures)| others.iter().map(move |run| (&run.columns[place], figures)))
        .map(|(run, baseline)| paired_test(run, baseline, ROUNDS, seed))
        .collect();
    let corrected = holm(&tests.iter().map(|test| test.randomisation_p).collect::<Vec<_>>());
    let mut all =
        tests.into_iter().zip(corrected).map(|(test, corrected)| Comparison { test, corrected });
    baseline.columns.iter().map(|_| all.by_ref().take(others.len()).collect()).collect()
}

fn explain(settings: &Settings, compared: &Compared, topics: bool) {
    let count: usize = compared.comparisons.iter().map(Vec::len).sum();
    settings.note(&format!(
        "* p Holm <= {}: significant; that is p rand corrected for {count} comparison{} (Holm 1979).\n\
         p t: paired t-test; p rand: paired randomisation test, seed {}; both two-sided, over {} topics.\n\
         diff: run - baseline; W/T/L: topics won, tied, lost; d: mean / standard deviation of the differences.",
        compared.alpha,
        if count == 1 { "" } else { "s" },
        settings.seed,
        compared.runs[0].topics.len(),
    ));
    if topics {
        settings.note(&format!("topics: where {} differs most", compared.measures[compared.focus]));
    }
}

/// A level of significance.
fn level(text: &str) -> Result<f64, String> {
    let level = text.parse::<f64>().ok().filter(|level| 0.0 < *level && *level < 1.0);
    level.ok_or_else(|| "expected a number between 0 and 1, such as 0.05".to_owned())
}
