//! `clariq reproduce`: whether every system still reaches the figures in its configuration.

use crate::arguments::IndexPlace;
use crate::commands::reproduce_ikat::reproduce_ikat;
use crate::failure::{Failure, Outcome};
use crate::learned;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::kind_of;
use clariq_experiment::reproduce::{Figure, Verdict, check};
use clariq_experiment::run::folder_of;
use clariq_experiment::systems::{self, check_names_differ};
use clariq_experiment::{Loaded, Registry};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct ReproduceArgs {
    /// Systems: configuration files, or names of built-in ones [default: all built-in ones]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Folder for the run files
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Only this split [default: every split with labels]
    #[arg(long, value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
}

impl ReproduceArgs {
    /// Whether a system asks for a learned model; some built-in ones do.
    pub(crate) fn needs_models(&self) -> bool {
        match &self.names[..] {
            [] => learned::program().is_some(),
            names => names.iter().any(|name| learned::is_needed_by(name, &[])),
        }
    }
}

const COLUMNS: [&str; 8] =
    ["system", "split", "measure", "published", "expected", "obtained", "difference", "verdict"];

pub(crate) fn reproduce(
    settings: &Settings,
    arguments: &ReproduceArgs,
) -> Result<Outcome, Failure> {
    let systems = systems(settings, &arguments.names)?;
    if systems.iter().any(|loaded| !loaded.system.tasks.is_empty()) {
        return reproduce_ikat(settings, arguments, &systems);
    }
    let collection = settings.collection()?;
    let only = arguments.split.as_deref().map(|name| collection.find_split(name)).transpose()?;
    let session = settings.session(&*collection, &arguments.place)?;
    let (mut sheet, mut failed) = (new_sheet(), false);
    for &split in collection.splits().iter().filter(|split| only.is_none_or(|only| only == **split))
    {
        if !collection.has(split) || collection.qrels(split, session.task)?.is_none() {
            let data = collection.location();
            settings.note(&format!("note: {split} has no labels in {data} and is left out"));
            continue;
        }
        let session = session.clone().answering(split);
        let models = Registry::new(&session);
        for figure in check(&session, &models, &systems, split, &arguments.runs)? {
            failed |= figure.verdict == Some(Verdict::Fail);
            sheet.row(figure_cells(&figure, split));
        }
    }
    sheet.print(settings.format)?;
    let folder = folder_of(&arguments.runs, &*collection);
    settings.note(&format!("run files are in {}", folder.display()));
    Ok(if failed { Outcome::CheckFailed } else { Outcome::Done })
}

/// The systems that are named; without names, all built-in ones that this build can check.
fn systems(settings: &Settings, names: &[String]) -> Result<Vec<Loaded>, Failure> {
    if names.is_empty() {
        return if kind_of(&settings.data)?.name == "iKAT" {
            all_systems(settings, systems::ikat_names())
        } else {
            all_systems(settings, systems::names())
        };
    }
    let mut systems = Vec::with_capacity(names.len());
    for name in names {
        systems.push(Loaded::open_any(name, &[])?);
    }
    check_names_differ(&systems)?;
    Ok(systems)
}

fn all_systems(
    settings: &Settings,
    names: impl Iterator<Item = &'static str>,
) -> Result<Vec<Loaded>, Failure> {
    let (mut systems, mut left_out) = (Vec::new(), Vec::new());
    for name in names {
        let loaded = Loaded::open_any(name, &[])?;
        // A system for conversations has no figures on a split.
        if loaded.system.expected.is_empty() {
            continue;
        }
        if settings.engine.is_none() && !loaded.system.models().is_empty() {
            left_out.push(name);
        } else {
            systems.push(loaded);
        }
    }
    if !left_out.is_empty() {
        settings.note(&format!(
            "note: this build has no learned stages; {} left out: scripts/install adds them",
            left_out.join(", ")
        ));
    }
    Ok(systems)
}

/// A table of figures, without a row.
pub(crate) fn new_sheet() -> Sheet {
    Sheet::new(&COLUMNS)
}

/// A row of such a table.
pub(crate) fn figure_cells(figure: &Figure, split: &str) -> Vec<Cell> {
    let number = |value: Option<f64>| value.map_or(Cell::Nothing, |value| Cell::Figure(value, 6));
    let difference = figure.expected.map(|expected| figure.obtained - expected);
    // A difference that is shown as zero has no sign.
    let difference =
        difference.map(|difference| if difference.abs() < 5e-7 { 0.0 } else { difference });
    vec![
        Cell::text(figure.system),
        Cell::text(split),
        Cell::text(&figure.measure),
        number(figure.published),
        number(figure.expected),
        Cell::Figure(figure.obtained, 6),
        number(difference),
        Cell::text(match figure.verdict {
            Some(Verdict::Equal) => "OK",
            Some(Verdict::Close) => "close",
            Some(Verdict::Fail) => "FAIL",
            None => "-",
        }),
    ]
}
