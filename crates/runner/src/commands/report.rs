//! `clariq report`: runs side by side on one page.

mod clariq;
mod ikat;

use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::runs;
use crate::settings::Settings;
use clap::Args;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_experiment::record;
use clariq_files::{Source, Target};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct ReportArgs {
    /// Run files: TREC runs, or what is handed in to iKAT; the first is the baseline unless
    /// --baseline names another
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Run that the others are compared with
    #[arg(long, value_name = "RUN")]
    baseline: Option<PathBuf>,
    /// Labels to score against: train, dev or test of ClariQ; 2023-train or 2023-test of iKAT
    /// [default: dev, or 2023-test for runs that end in .json]
    #[arg(long, value_name = "SPLIT")]
    split: Option<String>,
    /// ClariQ: need file whose predictions are shown too; may be given more than once
    #[arg(long = "need", value_name = "FILE")]
    needs: Vec<PathBuf>,
    /// Page to write; `-` for standard output
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Title of the page [default: the split, and the run or how many there are]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// The runs of a page, as they were asked for.
struct Asked<'a> {
    arguments: &'a ReportArgs,
    paths: Vec<PathBuf>,
    /// The names of the runs on the page.
    names: Vec<String>,
    /// The position of the baseline.
    baseline: usize,
    /// The name of the split.
    split: &'static str,
}

/// A page that was rendered.
struct Rendered {
    page: String,
    /// The topics or turns that it shows.
    topics: usize,
}

pub(crate) fn report(settings: &Settings, arguments: &ReportArgs) -> Result<Outcome, Failure> {
    let (paths, baseline) = runs_of(arguments);
    inputs_stay(&arguments.output, paths.iter().chain(&arguments.needs))?;
    runs::check_differ(&paths, "RUN")?;
    let split = runs::split_or_usual(arguments.split.as_deref(), &paths[0]);
    let collection = settings.collection_of(split)?;
    let split = collection.find_split(split)?;
    let names = runs::names(&paths);
    let asked = Asked { arguments, paths, names, baseline, split };
    let rendered = if let Some(rendered) = clariq::render(settings, &*collection, &asked)? {
        rendered
    } else if let Some(rendered) = ikat::render(settings, &*collection, &asked)? {
        rendered
    } else {
        return Err(without_page(collection.kind(), &collection.location()).into());
    };
    let target = Target::new(&arguments.output);
    target.write(|out| out.write_all(rendered.page.as_bytes()))?;
    if !target.is_stream() {
        summary(&asked, &rendered).print(settings.format)?;
    }
    Ok(Outcome::Done)
}

/// The runs as they are shown, and the position of the baseline. One that is not among them is
/// shown first.
fn runs_of(arguments: &ReportArgs) -> (Vec<PathBuf>, usize) {
    let mut paths = arguments.runs.clone();
    let Some(baseline) = &arguments.baseline else { return (paths, 0) };
    let position = paths.iter().position(|path| path == baseline).unwrap_or_else(|| {
        paths.insert(0, baseline.clone());
        0
    });
    (paths, position)
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

fn without_page(kind: &str, location: &str) -> Problem {
    let at = Location::file(location);
    let found = format!("a collection of {kind}");
    Problem::new(at, ProblemKind::Argument, "a collection of ClariQ or iKAT", found)
        .hint("`clariq compare` needs nothing but judgements")
}

impl Asked<'_> {
    /// The title that was given, or one of the collection, the split and the runs.
    fn title(&self, collection: &str) -> String {
        self.arguments.title.clone().unwrap_or_else(|| match &self.names[..] {
            [only] => format!("{collection} {}: {only}", self.split),
            runs => format!("{collection} {}: {} runs compared", self.split, runs.len()),
        })
    }
}

/// What the record beside a run declares that it uses, where there is a record of this run; `kind`
/// is what records call it. A record of another run is mentioned.
fn uses(settings: &Settings, run: &Path, kind: &str) -> Vec<String> {
    let declared = || {
        let record = record::read(run)?;
        let bytes = Source::new(run).read().ok()?.bytes;
        if record::contradicts(run, kind, &bytes) != Some(false) {
            return None;
        }
        let uses = record["uses"].as_array()?.iter().filter_map(Value::as_str);
        Some(uses.map(str::to_owned).collect())
    };
    let found: Option<Vec<String>> = declared();
    if found.is_none() && record::path_of(run).exists() {
        settings
            .note(&format!("warning: {}: the record beside it is of another run", run.display()));
    }
    found.unwrap_or_default()
}

fn summary(asked: &Asked, rendered: &Rendered) -> Sheet {
    let mut sheet = Sheet::new(&["runs", "need files", "split", "topics", "bytes", "page"]);
    sheet.row(vec![
        Cell::count(asked.paths.len()),
        Cell::count(asked.arguments.needs.len()),
        Cell::text(asked.split),
        Cell::count(rendered.topics),
        Cell::count(rendered.page.len()),
        Cell::text(asked.arguments.output.display().to_string()),
    ]);
    sheet
}
