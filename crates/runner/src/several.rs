//! Several data folders at once: the runs of each system over each collection, and the values that one
//! table shows, with the means.

use crate::runs;
use crate::settings::Settings;
use clariq_collections::evaluation::{ComparisonOptions, ValuesByRequest};
use clariq_collections::{Collection, Split};
use clariq_core::{RequestId, Result, bail, count_of};
use clariq_eval::Column;
use clariq_experiment::record;
use clariq_files::Source;
use std::path::{Path, PathBuf};

/// Several data folders, as messages call them.
pub(crate) const SEVERAL: &str = "several collections";

/// A collection with its name in tables.
struct NamedCollection {
    name: String,
    collection: Box<dyn Collection>,
}

/// A run with the split that it is scored on.
struct PlacedRun {
    path: PathBuf,
    split: Split,
}

/// The runs of a system, by the collections.
struct SystemRuns {
    name: String,
    runs: Vec<Option<PlacedRun>>,
}

/// A system with its values over each collection, by the same measures.
pub(crate) struct ScoredSystem {
    pub(crate) name: String,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) columns: Vec<Vec<Column>>,
}

/// The systems, and the collections that they were run on.
pub(crate) struct SeveralScores {
    pub(crate) systems: Vec<ScoredSystem>,
    places: Vec<NamedCollection>,
    splits: Vec<Split>,
}

/// The part of a table with the mean of the collections.
pub(crate) const MEAN: &str = "mean";
/// The part of a table with the mean of all requests.
pub(crate) const WEIGHTED: &str = "weighted";

/// The names of folders in a table: those of the folders, or whole paths where these are not unique.
pub(crate) fn folder_names(all: &[Settings]) -> Vec<String> {
    let paths: Vec<PathBuf> = all.iter().map(|one| PathBuf::from(one.data.to_string())).collect();
    let names = paths.iter().map(|path| path.file_name());
    let names: Vec<Option<String>> =
        names.map(|name| Some(name?.to_string_lossy().into_owned())).collect();
    let is_unique =
        |name: &Option<String>| names.iter().filter(|other| *other == name).count() == 1;
    let named = names.iter().zip(&paths).map(|(name, path)| match name {
        Some(text) if is_unique(name) => text.clone(),
        _ => path.display().to_string(),
    });
    named.collect()
}

impl NamedCollection {
    /// True if a run ranks the documents of this collection: by its record, or by its first document.
    fn has(&self, run: &Path) -> Result<bool> {
        let task = self.collection.tasks()[0];
        let documents = self.collection.documents(task)?;
        if let Some(checksum) = record::documents_of(run) {
            return Ok(checksum == *documents.checksum());
        }
        let first = clariq_files::read_run(&Source::new(run))?.lines.into_iter().next();
        Ok(first.is_some_and(|line| documents.find(line.document.as_str()).is_some()))
    }

    fn split_of(&self, run: &Path, named: Option<&str>) -> Result<Split> {
        let recorded = record::split_of(run);
        Ok(self.collection.find_scored_split(named.or(recorded.as_deref()))?)
    }
}

impl SeveralScores {
    /// Scores runs over the collections of several folders. Every system needs a run over each.
    pub(crate) fn read(
        all: &[Settings],
        paths: &[PathBuf],
        split: Option<&str>,
        by: &ComparisonOptions,
    ) -> Result<Self> {
        let mut places = Vec::with_capacity(all.len());
        for (name, settings) in folder_names(all).into_iter().zip(all) {
            places.push(NamedCollection { name, collection: settings.collection()? });
        }
        let systems = assign(&places, &runs::without_records(paths.to_vec()), split)?;
        let mut scored: Vec<ScoredSystem> = Vec::with_capacity(systems.len());
        for system in &systems {
            let name = system.name.clone();
            scored.push(ScoredSystem { name, paths: Vec::new(), columns: Vec::new() });
        }
        let mut splits = Vec::with_capacity(places.len());
        for (index, (place, settings)) in places.iter().zip(all).enumerate() {
            let mut of_place = Vec::with_capacity(systems.len());
            for SystemRuns { name, runs } in &systems {
                let Some(run) = &runs[index] else {
                    let expected = format!("a run of `{name}` over {}", place.name);
                    let hint =
                        "`clariq run` with the same --data makes the runs of all collections";
                    bail!("RUN", expected, "none", hint);
                };
                of_place.push(run);
            }
            let split = of_place[0].split;
            if let Some(other) = of_place.iter().find(|run| run.split != split) {
                let expected = format!("runs over one split of {}", place.name);
                let found = format!("{split} and {}", other.split);
                bail!(&*other.path, expected, found, "--split names the split of all runs");
            }
            let evaluation = place.collection.evaluation(split)?;
            settings.warn(evaluation.warnings());
            runs::note_remark(settings, &*place.collection, split);
            for (system, run) in scored.iter_mut().zip(&of_place) {
                let source = Source::new(&run.path);
                let of_run = ComparisonOptions { depth: record::depth_of(&run.path), ..*by };
                let ValuesByRequest { columns, warnings } = evaluation.columns(&source, &of_run)?;
                for warning in warnings {
                    settings.note(&format!("warning: {}: {warning}", source.name()));
                }
                system.paths.push(run.path.clone());
                system.columns.push(columns);
            }
            splits.push(split);
        }
        keep_common(&mut scored)?;
        Ok(Self { systems: scored, places, splits })
    }

    /// The names of the columns of means, as [`ScoredSystem::means`] gives them.
    pub(crate) fn columns(&self) -> Vec<String> {
        let names = self.places.iter().map(|place| place.name.as_str());
        names.chain([MEAN, WEIGHTED]).map(str::to_owned).collect()
    }

    /// The columns of a system, each in the part of its collection or mean.
    pub(crate) fn parts(&self, system: &ScoredSystem, measures: usize) -> Vec<Column> {
        let mut all = Vec::new();
        for (place, columns) in self.places.iter().zip(&system.columns) {
            let count = columns[0].values.len();
            let part = format!("{}, {}", place.name, count_of(count, "request"));
            for column in columns {
                all.push(Column { part: part.clone(), measure: column.name(), ..column.clone() });
            }
        }
        all.extend((0..measures).map(|measure| system.mean(measure)));
        all.extend(system.all_pooled(measures));
        all
    }

    /// The remarks of the collections on their figures.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for (place, split) in self.places.iter().zip(&self.splits) {
            if let Some(remark) = place.collection.remark(*split) {
                remarks.push(format!("{}: {remark}", place.name));
            }
        }
        remarks
    }

    /// The names of the measures.
    pub(crate) fn measures(&self) -> Vec<String> {
        self.systems[0].columns[0].iter().map(Column::name).collect()
    }
}

impl ScoredSystem {
    /// The means of a measure: over each collection, of the collections, and of all requests.
    pub(crate) fn means(&self, measure: usize) -> Vec<f64> {
        let mut means: Vec<f64> =
            self.columns.iter().map(|columns| columns[measure].mean()).collect();
        means.push(self.mean(measure).mean());
        means.push(self.pooled(measure).mean());
        means
    }

    /// The requests of all collections as columns, one for each measure.
    pub(crate) fn all_pooled(&self, measures: usize) -> Vec<Column> {
        (0..measures).map(|measure| self.pooled(measure)).collect()
    }

    /// The means over the collections as a column.
    pub(crate) fn mean(&self, measure: usize) -> Column {
        let mut values = Vec::with_capacity(self.columns.len());
        for (index, columns) in self.columns.iter().enumerate() {
            let name: RequestId = index.to_string().as_str().into();
            values.push((name, columns[measure].mean()));
        }
        let name = self.columns[0][measure].name();
        Column { part: MEAN.to_owned(), measure: name, values, ..self.columns[0][measure].clone() }
    }

    /// The requests of all collections as a column.
    pub(crate) fn pooled(&self, measure: usize) -> Column {
        let mut values = Vec::new();
        for (index, columns) in self.columns.iter().enumerate() {
            for (request, value) in &columns[measure].values {
                values.push((format!("{index}/{request}").as_str().into(), *value));
            }
        }
        let name = self.columns[0][measure].name();
        Column {
            part: WEIGHTED.to_owned(),
            measure: name,
            values,
            ..self.columns[0][measure].clone()
        }
    }
}

/// The runs of each system, by the collections.
fn assign(
    places: &[NamedCollection],
    paths: &[PathBuf],
    split: Option<&str>,
) -> Result<Vec<SystemRuns>> {
    let mut systems: Vec<SystemRuns> = Vec::new();
    for path in paths {
        let mut having = Vec::new();
        for (index, place) in places.iter().enumerate() {
            if place.has(path)? {
                having.push(index);
            }
        }
        let [index] = having[..] else {
            let found = if having.is_empty() { "none of them" } else { "several of them" };
            let hint = "the record beside a run names its documents; --data names their folders";
            bail!(&**path, "a run over one of the collections", found, hint);
        };
        let split = places[index].split_of(path, split)?;
        let stem = runs::stem(path);
        let name = stem.strip_suffix(&format!(".{split}")).unwrap_or(&stem);
        let known = systems.iter().position(|system| system.name == name);
        let system = known.unwrap_or_else(|| {
            let runs = places.iter().map(|_| None).collect();
            systems.push(SystemRuns { name: name.to_owned(), runs });
            systems.len() - 1
        });
        let slot = &mut systems[system].runs[index];
        if let Some(first) = slot {
            let expected = format!("one run of `{name}` over {}", places[index].name);
            let found = format!("`{}` beside it", first.path.display());
            bail!(&**path, expected, found, "leave one of them out");
        }
        *slot = Some(PlacedRun { path: path.clone(), split });
    }
    Ok(systems)
}

/// Keeps the measures that all runs have.
fn keep_common(systems: &mut [ScoredSystem]) -> Result<()> {
    let names = |columns: &Vec<Column>| columns.iter().map(Column::name).collect::<Vec<_>>();
    let all: Vec<Vec<String>> =
        systems.iter().flat_map(|system| system.columns.iter().map(names)).collect();
    let common: Vec<String> =
        all[0].iter().filter(|name| all.iter().all(|one| one.contains(name))).cloned().collect();
    if common.is_empty() {
        bail!("-m", "a measure of all collections", "none", "for example -m nDCG@10");
    }
    for columns in systems.iter_mut().flat_map(|system| &mut system.columns) {
        columns.retain(|column| common.contains(&column.name()));
        columns.sort_by_key(|column| common.iter().position(|name| *name == column.name()));
    }
    Ok(())
}
