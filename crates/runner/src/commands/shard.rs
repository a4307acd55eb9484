//! `clariq data shard`, and `clariq run` over one shard or with the parts of all.

use crate::arguments::IndexPlace;
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::{Args, value_parser};
use clariq_collections::cut_documents;
use clariq_core::{Result, bail};
use clariq_experiment::shards::{Planned, cut};
use clariq_experiment::{Contexts, Loaded};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct ShardArgs {
    /// Conversations (a pickle, JSON lines or the human-generated table), or requests as JSON
    /// lines, in the format of `clariq rank`; with --parts, documents, or a folder with them; `-`
    /// for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Folder for the shards and `plan.json`, or for the parts and `parts.json`
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// Number of contexts or requests per shard; the last one may have fewer
    #[arg(long, value_name = "N", required_unless_present = "parts")]
    contexts: Option<NonZeroUsize>,
    /// Number of parts to cut documents into, by ranges of their ids
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=500),
          conflicts_with_all = ["contexts", "system", "skip_bad"])]
    parts: Option<u16>,
    /// System to plan for: its parameters and weights become part of the plan, and other ones are
    /// refused
    #[arg(long, value_name = "CONFIG")]
    system: Option<String>,
    /// Skip bad conversations or lines, and report how many
    #[arg(long)]
    skip_bad: bool,
    #[command(flatten)]
    place: IndexPlace,
}

pub(crate) fn shard(settings: &Settings, arguments: &ShardArgs) -> Result<Outcome> {
    let ShardArgs { file, output, contexts: count, skip_bad, .. } = arguments;
    let Some(count) = count else {
        let parts = cut_documents(file, arguments.parts.unwrap_or(1).into(), output)?;
        let mut sheet = Sheet::new(&["file", "documents"]);
        for (path, documents) in parts {
            sheet.row(vec![Cell::path(&path), Cell::count(documents)]);
        }
        return sheet.print(settings.format);
    };
    let load = |name: &String| settings.load(name, &[])?.of_one_task();
    let system = arguments.system.as_ref().map(load).transpose()?;
    let collection = settings.collection()?;
    let session = settings.session(&*collection, Some(&arguments.place))?;
    let contexts = Contexts::new(&session);
    let plan = cut(&contexts, file, *skip_bad, *count, output, system.as_ref())?;
    Sheet::of([
        ("shards", Cell::count(plan.shards.len())),
        ("contexts", Cell::Count(plan.shards.iter().map(|shard| shard.contexts).sum())),
        ("plan", Cell::text(output.join("plan.json").display().to_string())),
    ])
    .print(settings.format)
}

pub(super) fn run_shard(
    settings: &Settings,
    shard: &str,
    output: Option<&Path>,
    contexts: &Contexts,
    systems: &[Loaded],
) -> Result<Outcome> {
    let (plan, index) = parse_shard(shard)?;
    let planned = Planned::read(&plan)?;
    let mut sheet = Sheet::new(&["system", "shard", "contexts", "part"]);
    for loaded in systems {
        let part = planned.run_shard(contexts, loaded, index, output)?;
        sheet.row(vec![
            Cell::text(&loaded.name),
            Cell::count(index),
            Cell::Count(planned.plan.shards[index].contexts),
            Cell::path(&part),
        ]);
    }
    sheet.print(settings.format)
}

pub(super) fn merge(
    settings: &Settings,
    plan: &Path,
    system: Option<&str>,
    output: &Path,
) -> Result<Outcome> {
    let planned = Planned::read(plan)?;
    let system = system.map(|name| Loaded::open(name, &[])).transpose()?;
    planned.merge(system.as_ref().map(|loaded| &*loaded.name), output)?;
    Sheet::of([
        ("parts", Cell::count(planned.plan.shards.len())),
        ("contexts", Cell::Count(planned.plan.shards.iter().map(|shard| shard.contexts).sum())),
        ("run file", Cell::path(output)),
    ])
    .print(settings.format)
}

/// `PLAN:I`; the path may hold colons of its own.
fn parse_shard(text: &str) -> Result<(PathBuf, usize)> {
    let parts = text.rsplit_once(':').and_then(|(plan, index)| Some((plan, index.parse().ok()?)));
    let Some((plan, index)) = parts.filter(|(plan, _)| !plan.is_empty()) else {
        let expected = "a plan and the number of a shard, as plan.json:0";
        bail!("--shard", expected, "`{text}`", "shards count from 0; plan.json lists them");
    };
    Ok((plan.into(), index))
}
