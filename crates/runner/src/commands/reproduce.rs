//! `clariq reproduce`: whether every system still reaches the figures in its configuration.

pub(crate) mod arguments;
pub(crate) mod figures;

use crate::commands::reproduce_ikat::reproduce_ikat;
use crate::failure::{Failure, Outcome};
use crate::settings::Settings;
use arguments::ReproduceArgs;
use clariq_collections::kind_of;
use clariq_experiment::reproduce::{Verdict, check};
use clariq_experiment::run::folder_of;
use clariq_experiment::systems::{self, check_names_differ};
use clariq_experiment::{Loaded, Registry};
use figures::{figure_cells, new_sheet};

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
            "note: this build has no learned stages; {} left out: `clariq doctor` says how to add them",
            left_out.join(", ")
        ));
    }
    Ok(systems)
}
