//! Several data folders at once: the runs of each system over each collection, and the values that one
//! table shows, with the means.

use crate::run_names::stem;
use crate::settings::Settings;
use crate::target::open_collection;
use crate::{labels, runs};
use clariq_collections::evaluation::{Answers, ScoreOptions};
use clariq_collections::{Collection, Split};
use clariq_core::{RequestId, Result, bail, count_of};
use clariq_eval::{Score, keep_common};
use clariq_experiment::record::RecordedFile;
use clariq_files::Source;
use std::path::PathBuf;

/// Several data folders, as messages call them.
pub(crate) const SEVERAL: &str = "several collections";

/// A collection with its name in tables.
struct NamedCollection {
    name: String,
    collection: Box<dyn Collection>,
}

/// A run with the split that it is scored on.
struct PlacedRun {
    file: RecordedFile,
    split: Split,
}

/// The runs of a system, by the collections.
struct SystemRuns {
    name: String,
    runs: Vec<Option<PlacedRun>>,
}

/// A system with its scores over each collection, by the same measures.
pub(crate) struct ScoredSystem {
    pub(crate) name: String,
    pub(crate) scores: Vec<Vec<Score>>,
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
    let paths: Vec<PathBuf> =
        all.iter().map(|one| PathBuf::from(one.data.first.to_string())).collect();
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
    fn has(&self, run: &RecordedFile) -> Result<bool> {
        let task = self.collection.tasks()[0];
        let documents = self.collection.documents(task)?;
        if let Some(checksum) = run.documents() {
            return Ok(checksum == *documents.checksum());
        }
        let first = clariq_files::read_run(&Source::new(run.path()))?.lines.into_iter().next();
        Ok(first.is_some_and(|line| documents.find(line.document.as_str()).is_some()))
    }

    fn split_of(&self, run: &RecordedFile, named: Option<&str>) -> Result<Split> {
        Ok(self.collection.find_scored_split(named.or(run.split()))?)
    }
}

impl SeveralScores {
    /// Scores runs over the collections of several folders. Every system needs a run over each.
    pub(crate) fn read(
        all: &[Settings],
        paths: &[PathBuf],
        split: Option<&str>,
        by: &ScoreOptions,
    ) -> Result<Self> {
        let mut places = Vec::with_capacity(all.len());
        for (name, settings) in folder_names(all).into_iter().zip(all) {
            places.push(NamedCollection { name, collection: open_collection(settings)? });
        }
        let systems = assign(&places, &runs::without_records(paths)?, split)?;
        let mut scored: Vec<ScoredSystem> = Vec::with_capacity(systems.len());
        for system in &systems {
            let name = system.name.clone();
            scored.push(ScoredSystem { name, scores: Vec::new() });
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
                bail!(other.file.path(), expected, found, "--split names the split of all runs");
            }
            let evaluation = place.collection.evaluation(split)?;
            settings.warn(evaluation.warnings());
            labels::note_remark(settings, &*place.collection, split);
            for (system, run) in scored.iter_mut().zip(&of_place) {
                let source = Source::new(run.file.path());
                let of_run = ScoreOptions { depth: run.file.depth(), ..*by };
                let cases = evaluation.cases(Answers::File(&source), &of_run)?.compared();
                for warning in &cases.warnings {
                    settings.note(&format!("warning: {}: {warning}", source.name()));
                }
                system.scores.push(cases.scores);
            }
            splits.push(split);
        }
        let systems = scored.iter_mut().flat_map(|system| &mut system.scores);
        keep_common(&mut systems.collect::<Vec<_>>());
        if scored[0].scores[0].is_empty() {
            bail!("-m", "a measure of all collections", "none", "for example -m nDCG@10");
        }
        Ok(Self { systems: scored, places, splits })
    }

    /// The names of the columns of means, as [`ScoredSystem::means`] gives them.
    pub(crate) fn columns(&self) -> Vec<String> {
        let names = self.places.iter().map(|place| place.name.as_str());
        names.chain([MEAN, WEIGHTED]).map(str::to_owned).collect()
    }

    /// The scores of a system, each in the part of its collection or mean.
    pub(crate) fn parts(&self, system: &ScoredSystem, measures: usize) -> Vec<Score> {
        let mut all = Vec::new();
        for (place, scores) in self.places.iter().zip(&system.scores) {
            let count = scores[0].values.len();
            let part = format!("{}, {}", place.name, count_of(count, "request"));
            for score in scores {
                all.push(Score { part: part.clone(), measure: score.name(), ..score.clone() });
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
        self.systems[0].scores[0].iter().map(Score::name).collect()
    }
}

impl ScoredSystem {
    /// The means of a measure: over each collection, of the collections, and of all requests.
    pub(crate) fn means(&self, measure: usize) -> Vec<f64> {
        let mut means: Vec<f64> =
            self.scores.iter().map(|scores| scores[measure].value()).collect();
        means.push(self.mean(measure).value());
        means.push(self.pooled(measure).value());
        means
    }

    /// The scores of the requests of all collections, one for each measure.
    pub(crate) fn all_pooled(&self, measures: usize) -> Vec<Score> {
        (0..measures).map(|measure| self.pooled(measure)).collect()
    }

    /// The means over the collections as cases.
    pub(crate) fn mean(&self, measure: usize) -> Score {
        let mut values = Vec::with_capacity(self.scores.len());
        for (index, scores) in self.scores.iter().enumerate() {
            let name: RequestId = index.to_string().as_str().into();
            values.push((name, scores[measure].value()));
        }
        let name = self.scores[0][measure].name();
        Score { part: MEAN.to_owned(), measure: name, values, ..self.scores[0][measure].clone() }
    }

    /// The requests of all collections as cases.
    pub(crate) fn pooled(&self, measure: usize) -> Score {
        let mut values = Vec::new();
        for (index, scores) in self.scores.iter().enumerate() {
            for (request, value) in &scores[measure].values {
                values.push((format!("{index}/{request}").as_str().into(), *value));
            }
        }
        let name = self.scores[0][measure].name();
        Score {
            part: WEIGHTED.to_owned(),
            measure: name,
            values,
            ..self.scores[0][measure].clone()
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
        let file = RecordedFile::open(path);
        let mut having = Vec::new();
        for (index, place) in places.iter().enumerate() {
            if place.has(&file)? {
                having.push(index);
            }
        }
        let [index] = having[..] else {
            let found = if having.is_empty() { "none of them" } else { "several of them" };
            let hint = "the record beside a run names its documents; --data names their folders";
            bail!(&**path, "a run over one of the collections", found, hint);
        };
        let split = places[index].split_of(&file, split)?;
        let stem = stem(path);
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
            let found = format!("`{}` beside it", first.file.path().display());
            bail!(&**path, expected, found, "leave one of them out");
        }
        *slot = Some(PlacedRun { file, split });
    }
    Ok(systems)
}
