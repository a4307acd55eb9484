//! `clariq report`: runs side by side on one page.

mod inputs;

use crate::arguments::splits;
use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::clariq::Split;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_files::Target;
use clariq_report::{Comparison, render};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct ReportArgs {
    /// Run files; the first is the baseline unless --baseline names another
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Run that the others are compared with
    #[arg(long, value_name = "RUN")]
    baseline: Option<PathBuf>,
    /// Labels to score against
    #[arg(long, default_value = "dev", value_parser = splits())]
    split: Split,
    /// Need file whose predictions are shown too; may be given more than once
    #[arg(long = "need", value_name = "FILE")]
    needs: Vec<PathBuf>,
    /// Page to write; `-` for standard output
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Title of the page [default: the split, and the run or how many there are]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

pub(crate) fn report(settings: &Settings, arguments: &ReportArgs) -> Result<Outcome, Failure> {
    let (paths, baseline) = runs_of(arguments);
    inputs_stay(&arguments.output, paths.iter().chain(&arguments.needs))?;
    let collection = settings.clariq()?;
    let labels = collection.labelled(arguments.split)?;
    let runs = inputs::runs(settings, &paths, &labels)?;
    let needs = inputs::needs(&arguments.needs, &labels)?;
    let title = arguments.title.clone().unwrap_or_else(|| match &runs[..] {
        [only] => format!("ClariQ {}: {}", arguments.split, only.name),
        runs => format!("ClariQ {}: {} runs compared", arguments.split, runs.len()),
    });
    let page = render(&Comparison {
        title: &title,
        split: arguments.split,
        bank: &collection.bank,
        labels: &labels,
        runs: &runs,
        baseline,
        needs: &needs,
        seed: settings.seed,
    });
    let target = Target::new(&arguments.output);
    target.write(|out| out.write_all(page.as_bytes()))?;
    if !target.is_stream() {
        summary(arguments, runs.len(), needs.len(), labels.topics.len(), page.len())
            .print(settings.format)?;
    }
    Ok(Outcome::Done)
}

/// The runs as they are shown, and the place of the baseline. One that is not among them is shown
/// first.
fn runs_of(arguments: &ReportArgs) -> (Vec<PathBuf>, usize) {
    let mut paths = arguments.runs.clone();
    let Some(baseline) = &arguments.baseline else { return (paths, 0) };
    let place = paths.iter().position(|path| path == baseline).unwrap_or_else(|| {
        paths.insert(0, baseline.clone());
        0
    });
    (paths, place)
}

/// A page written over one of the files it is made from would be the end of that file.
fn inputs_stay<'a>(
    output: &Path,
    mut inputs: impl Iterator<Item = &'a PathBuf>,
) -> Result<(), Failure> {
    let Ok(target) = fs::canonicalize(output).map(|path| (path.is_file(), path)) else {
        return Ok(());
    };
    match inputs
        .find(|input| target.0 && fs::canonicalize(input).is_ok_and(|input| input == target.1))
    {
        Some(input) => {
            let found = format!("`{}`, which the page is made from", input.display());
            let at = Location::file("--output");
            let problem = Problem::new(
                at,
                ProblemKind::Argument,
                "a file that is not among the inputs",
                found,
            );
            Err(problem.hint("name the page after the runs, as in -o report.html").into())
        }
        None => Ok(()),
    }
}

fn summary(
    arguments: &ReportArgs,
    runs: usize,
    needs: usize,
    topics: usize,
    bytes: usize,
) -> Sheet {
    let mut sheet = Sheet::new(&["runs", "need files", "split", "topics", "bytes", "page"]);
    sheet.row(vec![
        Cell::count(runs),
        Cell::count(needs),
        Cell::text(arguments.split.name()),
        Cell::count(topics),
        Cell::count(bytes),
        Cell::text(arguments.output.display().to_string()),
    ]);
    sheet
}
