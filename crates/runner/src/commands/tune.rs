//! `clariq tune`: the best parameters on a labelled split, and their figures on held-out topics.

use crate::arguments::{IndexPlace, RewriteArguments, named_measures};
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use crate::target::collection_for;
use clap::Args;
use clariq_core::{Hint, Result, bail};
use clariq_experiment::tune::{Grid, GridSearch, TuningGain, TuningLabels};
use clariq_files::{Target, refuse_input};
use clariq_rank::Override;
use clariq_systems::SystemConfig;
use std::path::{Path, PathBuf};
use std::slice;

#[derive(Args)]
pub(crate) struct TuneArgs {
    /// Built-in system or configuration file
    #[arg(value_name = "CONFIG")]
    pub(crate) config: String,
    /// Labelled split to tune on [default: the first of the collection]
    #[arg(long, value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    /// Requests to tune on instead of a split, as JSON lines in the format of `clariq rank`
    #[arg(long, value_name = "FILE", requires = "qrels", conflicts_with = "split")]
    pub(crate) requests: Option<PathBuf>,
    /// TREC qrels of --requests
    #[arg(long, value_name = "FILE", requires = "requests")]
    pub(crate) qrels: Option<PathBuf>,
    /// Parameter and its values, as stage.key=value,value,… or, for systems with several tasks,
    /// task.stage.key=…; repeatable
    #[arg(long = "grid", value_name = "STAGE.KEY=VALUES", required = true)]
    pub(crate) grid: Vec<String>,
    /// Parameter that all points have, as stage.key=value; repeatable
    #[arg(long = "set", value_name = "STAGE.KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Measure to maximise, such as nDCG@3 [default: R@30 for ClariQ, nDCG@10 for others]
    #[arg(long, short, value_name = "MEASURE", aliases = ["measures", "metric", "metrics"])]
    pub(crate) measure: Option<String>,
    /// Task whose ranking is measured, in systems or collections with several [default: the usual one]
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Number of folds of the cross-validation; turns of one conversation are kept together
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) folds: usize,
    /// Number of rows to print, best first
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Write the best system as a configuration file, which ends in .toml and names the system
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    rewritten: RewriteArguments,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
}

/// Refuses a file that cannot be written, or that no command would read as a system, before the search
/// begins: one point of the grid is written like any other.
fn check_output(output: &Path, system: &str, point: &[Override]) -> Result<()> {
    if output.extension().is_none_or(|ending| ending != "toml") {
        let hint = "systems are read from such files, for example `-o tuned.toml`";
        bail!("--output", "a file that ends in .toml", (output.display().to_string()), hint);
    }
    SystemConfig::write_with(system, point, &name_of(output), "")?;
    refuse_input(output)
}

/// The name of the system in a file.
fn name_of(output: &Path) -> String {
    output.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The recalls of the challenge's leaderboard, which are shown together.
const RECALLS: [&str; 4] = ["R@5", "R@10", "R@20", "R@30"];

pub(crate) fn tune(settings: &Settings, arguments: &TuneArgs) -> Result<Outcome> {
    let grid = Grid::parse(&arguments.grid)?.with_fixed(&arguments.set)?;
    let first = grid.parameters(&grid.points().next().unwrap_or_default());
    if let Some(output) = &arguments.output {
        check_output(output, &arguments.config, &first)?;
    }
    let first = settings.load(&arguments.config, &first)?;
    let collection = collection_for(settings, slice::from_ref(&first), arguments.split.as_deref())?;
    let labels = match (&arguments.requests, &arguments.qrels, &arguments.split) {
        (Some(requests), Some(qrels), _) => TuningLabels::Files { requests, qrels },
        (.., Some(split)) => TuningLabels::Split(collection.find_split(split)?),
        _ => {
            let first = collection.splits().first().copied();
            let Some(split) = collection.available_splits().next().or(first) else {
                let hint = "the documentation lists the names of files of requests and judgements \
                            (reference, Formats); --requests and --qrels name files";
                let expected = "requests with judgements, such as `requests.train.jsonl` and `qrels.train.txt`";
                bail!(collection.location(), expected, "documents alone", hint)
            };
            TuningLabels::Split(split)
        }
    };
    let usual = if collection.question_bank().is_some() { "R@30" } else { "nDCG@10" };
    let measure = arguments.measure.as_deref().unwrap_or(usual);
    let by = RECALLS.iter().position(|recall| *recall == measure);
    let shown = by.map_or(measure.to_owned(), |_| RECALLS.join(","));
    let measures = named_measures(&[shown])?;
    let by = by.unwrap_or(0);
    let session = settings.session(&*collection, Some(&arguments.place))?;
    let system = &arguments.config;
    let task = arguments.task.as_deref();
    let grid = &grid;
    let measures = &measures;
    let folds = arguments.folds;
    let rewrites = arguments.rewritten.read()?;
    let rewrites = rewrites.as_ref();
    let search = GridSearch { system, rewrites, grid, labels, task, measures, by, folds };
    let tuned = search.run(&session)?;
    let names = measures.iter().map(|m| m.clariq_documents().unwrap_or_else(|| m.name()));
    let columns: Vec<String> = ["parameters".to_owned()].into_iter().chain(names).collect();
    let mut sheet = Sheet::new(&columns);
    let mut row = |name: String, means: &[f64]| {
        let means = means.iter().map(|&mean| Cell::Number(mean, 6));
        sheet.row([Cell::text(name)].into_iter().chain(means).collect());
    };
    for trial in tuned.best_first().into_iter().take(arguments.top) {
        row(trial.to_string(), &trial.means);
    }
    let held_out = tuned.held_out();
    row("held out".to_owned(), &held_out.means);
    if let Some(before) = &tuned.as_it_is {
        row("as it is".to_owned(), &before.means);
    }
    sheet.print(settings.format)?;
    if let (Some(output), Some(best)) = (&arguments.output, tuned.best_first().first()) {
        let on = match labels {
            TuningLabels::Split(split) => split.to_string(),
            TuningLabels::Files { .. } => "requests of its own".to_owned(),
        };
        let measure = measures[by].name();
        let description = format!("{system} with the best {measure} on {on}: {best}");
        let parameters = grid.parameters(&best.values);
        let name = name_of(output);
        let text = SystemConfig::write_with(system, &parameters, &name, &description)?;
        Target::new(output).write(|out| out.write_all(text.as_bytes()))?;
        let output = output.display();
        let best = Hint::from(format!("{output} is the best of them: "));
        settings.advise(&best.and(Hint::on_all_data(format!("run {output}"))));
    }
    for (fold, choice) in (1..).zip(&held_out.choices) {
        settings.note(&format!("fold {fold}: best on the other folds: {choice}"));
    }
    settings.note("held out: each fold, scored with the parameters that were best on the others");
    if let Some(gain) = tuned.gain(&held_out, settings.options.seed) {
        let TuningGain { difference, interval: (low, high) } = gain;
        let verdict = if low > 0.0 { "better" } else { "no better" };
        settings.note(&format!(
            "{verdict} than the system as it is: {measure} held out - as it is = {difference:.4} (95 % \
             interval {low:.4} to {high:.4})"
        ));
    }
    Ok(Outcome::Done)
}
