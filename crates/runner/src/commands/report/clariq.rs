//! The page about runs and need files of `ClariQ`, checked against its labels.

use super::{Asked, Rendered, uses};
use crate::failure::Failure;
use crate::runs::{self, Topics};
use crate::settings::Settings;
use clariq_collections::Collection;
use clariq_collections::clariq::evaluation::page::{Comparison, Entry, NeedEntry};
use clariq_collections::clariq::{ClariQ, Split, read_need_file};
use clariq_eval::Ties;
use clariq_files::{Source, read_run};
use std::path::{Path, PathBuf};

/// The page; `None` for other collections.
pub(super) fn render(
    settings: &Settings,
    collection: &dyn Collection,
    asked: &Asked,
) -> Result<Option<Rendered>, Failure> {
    let split = Split::named(asked.split);
    let (Some(clariq), Some(split)) = (collection.downcast::<ClariQ>(), split) else {
        return Ok(None);
    };
    let labels = clariq.labelled(split)?;
    let topics = Topics::new(&labels.name, labels.topics.iter().map(|topic| &topic.id));
    let named = asked.paths.iter().zip(&asked.names);
    let runs = named.map(|(path, name)| entry(settings, path, name, &topics));
    let runs = runs.collect::<Result<Vec<_>, _>>()?;
    let needs = needs(&asked.arguments.needs, &topics)?;
    let page = clariq_collections::clariq::evaluation::page::render(&Comparison {
        title: &asked.title("ClariQ"),
        split,
        bank: &clariq.bank,
        labels: &labels,
        runs: &runs,
        baseline: asked.baseline,
        needs: &needs,
        seed: settings.seed,
    });
    Ok(Some(Rendered { page, topics: labels.topics.len() }))
}

fn entry(settings: &Settings, path: &Path, name: &str, topics: &Topics) -> Result<Entry, Failure> {
    let source = Source::new(path);
    let run = read_run(&source)?;
    topics.check_answered(&source, run.lines.iter().map(|line| &line.topic))?;
    // The page says more; this cannot wait until somebody reads it.
    topics.warn(settings, &source, &run, Ties::Official);
    Ok(Entry { name: name.to_owned(), run, uses: uses(settings, path, "run") })
}

fn needs(paths: &[PathBuf], topics: &Topics) -> Result<Vec<NeedEntry>, Failure> {
    runs::check_differ(paths, "--need")?;
    let mut entries = Vec::new();
    for (path, name) in paths.iter().zip(runs::names(paths)) {
        let source = Source::new(path);
        let lines = read_need_file(&source)?;
        topics.check_answered(&source, lines.iter().map(|line| &line.topic))?;
        entries.push(NeedEntry { name, lines });
    }
    Ok(entries)
}
