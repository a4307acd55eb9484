//! `clariq reproduce`: the check that every system reaches the scores in its configuration.

use crate::arguments::{IndexPlace, folder};
use crate::failure::Outcome;
use crate::labels::note_remark;
use crate::learned;
use crate::messages::say;
use crate::on_interrupt;
use crate::output::{Cell, Format, Sheet};
use crate::settings::Settings;
use crate::target::collection_for;
use clap::Args;
use clariq_collections::Collection;
use clariq_core::Result;
use clariq_experiment::installed;
use clariq_experiment::reproduce::{
    ReproducedScore, Verdict, check, expecting, published, summary,
};
use clariq_experiment::run::usual_path;
use clariq_systems::{SystemConfig, built_in, check_names_differ};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Args)]
pub(crate) struct ReproduceArgs {
    /// Built-in systems or configuration files [default: for each split, the built-in systems with
    /// expected scores, or all if none has any]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Folder for the run files
    #[arg(long, value_name = "DIR", default_value = "runs", value_parser = folder())]
    runs: PathBuf,
    /// Only this split [default: every split with labels]
    #[arg(long, value_name = "SPLIT")]
    split: Option<String>,
    #[command(flatten)]
    place: IndexPlace,
}

pub(crate) fn reproduce(settings: &Settings, arguments: &ReproduceArgs) -> Result<Outcome> {
    // Some of the built-in systems need models.
    if arguments.names.is_empty() && learned::program().is_some() {
        settings.take_over()?;
    }
    let load = |name: &String| settings.load(name, &[]);
    let configs: Vec<SystemConfig> = arguments.names.iter().map(load).collect::<Result<_, _>>()?;
    check_names_differ(&configs)?;
    let collection = collection_for(settings, &configs, arguments.split.as_deref())?;
    let systems = if configs.is_empty() { built_in(settings, &*collection)? } else { configs };
    systems.iter().try_for_each(|config| config.check_tasks(&*collection))?;
    let only = arguments.split.as_deref().map(|name| collection.find_split(name)).transpose()?;
    let session = settings.session(&*collection, Some(&arguments.place))?;
    let for_reading = matches!(settings.format, None | Some(Format::Table));
    let table = Arc::new(Mutex::new(empty_sheet(for_reading)));
    print_at_interrupt(&table, settings.format);
    let mut verdicts = Vec::new();
    let mut any_uses = false;
    for &split in collection.splits().iter().filter(|split| only.is_none_or(|only| only == **split))
    {
        if !collection.has(split) && only.is_none() {
            continue;
        }
        if collection.qrels(split, session.task)?.is_none() {
            let data = collection.location();
            let scores = published(&session, &systems, split);
            let shown = if scores.is_empty() { "left out" } else { "not run" };
            settings.note(&format!("note: {split} has no labels in {data} and is {shown}"));
            for score in scores {
                any_uses |= !score.uses.is_empty();
                table.lock().row(row(split.name(), &score, for_reading));
            }
            continue;
        }
        note_remark(settings, &*collection, split);
        let session = session.clone().answering(split);
        let checked = if arguments.names.is_empty() {
            expecting(&session, &systems, split)
        } else {
            systems.iter().collect()
        };
        check(&session, checked, split, &arguments.runs, &mut |score| {
            verdicts.extend(score.verdict);
            any_uses |= !score.uses.is_empty();
            table.lock().row(row(split.name(), &score, for_reading));
        })?;
    }
    print_table(&table, settings.format)?;
    if for_reading && any_uses {
        settings.note(
            "note: uses: t labels of train, d labels of dev (only for test), b the batch, l a \
             language model, c parameters chosen by labels",
        );
    }
    if let Some(first) = systems.first() {
        let path = usual_path(&arguments.runs, &session, first, "");
        let folder = path.parent().unwrap_or(&arguments.runs);
        settings.note(&format!("run files are in {}", folder.display()));
    }
    settings.note(&summary(&verdicts));
    let failed = verdicts.contains(&Verdict::Fail);
    Ok(if failed { Outcome::CheckFailed } else { Outcome::Done })
}

/// The scores so far. An interrupt prints them from another thread.
type SharedSheet = Arc<Mutex<Sheet>>;

fn print_at_interrupt(table: &SharedSheet, format: Option<Format>) {
    let table = Arc::clone(table);
    on_interrupt(move || {
        say("interrupted; the scores so far:");
        let _ = print_table(&table, format);
    });
}

fn print_table(table: &SharedSheet, format: Option<Format>) -> Result<Outcome> {
    table.lock().print(format)
}

/// The built-in systems for a collection that this build can check.
fn built_in(settings: &Settings, collection: &dyn Collection) -> Result<Vec<SystemConfig>> {
    let mut systems = Vec::new();
    let label = collection.label();
    let expects =
        |config: &SystemConfig| config.expected.iter().any(|expected| expected.collection == label);
    let all: Vec<SystemConfig> = built_in::names()
        .map(|name| SystemConfig::open_any(name, &[]))
        .collect::<Result<_, _>>()?;
    let any_expects = all.iter().any(expects);
    let mut left_out = Vec::new();
    let mut without_base: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, config) in built_in::names().zip(all) {
        // A system for conversations has no scores on a split.
        if config.expected.is_empty()
            || !config.is_for(collection)
            || any_expects && !expects(&config)
        {
            continue;
        }
        if settings.engine.is_none() && config.needs_models() {
            left_out.push(name);
        } else if let Some(base) = missing_base(&config, settings)? {
            without_base.entry(base).or_default().push(name);
        } else {
            systems.push(config);
        }
    }
    for (base, names) in without_base {
        settings.note(&format!(
            "note: {base} is not installed; {} left out: {} installs it",
            names.join(", "),
            installed::how_to_install(&base)
        ));
    }
    if !left_out.is_empty() {
        settings.note(&format!(
            "note: this build has no learned models; {} left out: `clariq doctor` shows how to add them",
            left_out.join(", ")
        ));
    }
    Ok(systems)
}

/// A model that a system needs and that is not installed.
fn missing_base(config: &SystemConfig, settings: &Settings) -> Result<Option<String>> {
    let models = settings.options.cache.join("models");
    Ok(config.bases()?.into_iter().find(|base| installed::find(&models, base).is_none()))
}

fn empty_sheet(for_reading: bool) -> Sheet {
    let columns = ["system", "split", "uses", "measure", "published", "expected", "obtained"];
    let difference = (!for_reading).then_some("difference");
    let columns: Vec<_> = columns.into_iter().chain(difference).chain(["verdict"]).collect();
    Sheet::new(&columns)
}

fn row(split: &str, score: &ReproducedScore, for_reading: bool) -> Vec<Cell> {
    let number = |value: Option<f64>| value.map_or(Cell::Nothing, |value| Cell::Number(value, 6));
    let mut row = vec![
        Cell::text(score.system),
        Cell::text(split),
        uses_cell(&score.uses, for_reading),
        Cell::text(&score.measure),
        number(score.published),
        number(score.expected),
        number(score.obtained),
    ];
    if !for_reading {
        let difference =
            score.expected.zip(score.obtained).map(|(expected, obtained)| obtained - expected);
        // A difference that is shown as zero has no sign.
        row.push(number(difference.map(|by| if by.abs() < 5e-7 { 0.0 } else { by })));
    }
    let verdict = score.verdict.map_or("-".to_owned(), |verdict| verdict.to_string());
    row.push(Cell::text(verdict));
    row
}

/// The uses of a system, as letters if they must fit into a line of a terminal.
fn uses_cell(uses: &[String], in_letters: bool) -> Cell {
    if !in_letters || uses.is_empty() {
        return Cell::list(uses);
    }
    Cell::text(uses.iter().filter_map(|name| name.chars().next()).collect::<String>())
}
