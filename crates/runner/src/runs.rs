//! The runs that a command names: their files, their names among each other, and what they are scored on.

use crate::arguments::RunArguments;
use crate::kept_scores::KeptScores;
use crate::labels::LabelSource;
use crate::run_names::names_on;
use crate::settings::Settings;
use clariq_core::{Problem, Result, bail, problem};
use clariq_experiment::record::{self, RecordedFile};
use clariq_files::{Source, protect};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Refuses a file that is not there, before labels of its split are asked for.
pub(crate) fn check_exists(path: &Path) -> Result<()> {
    match Source::new(path) {
        // Only a missing file is opened: a pipe can be read once.
        source @ Source::Path(_) if !path.exists() => source.stream().map(drop),
        _ => Ok(()),
    }
}

/// Refuses a file that is named twice, even by different paths: it would be compared with itself.
pub(crate) fn check_differ(paths: &[PathBuf], argument: &str) -> Result<()> {
    let mut seen = HashSet::new();
    let file = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let Some(again) = paths.iter().find(|path| !seen.insert(file(path))) else { return Ok(()) };
    let again = again.display();
    let hint = "--baseline names the run that the others are compared with";
    bail!(argument, "every file once", "`{again}` twice", hint)
}

/// The runs of a list, which has their records as well if it is a glob.
pub(crate) fn without_records(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let runs: Vec<_> = paths.iter().filter(|path| !record::is_record(path)).cloned().collect();
    if runs.is_empty() {
        let found = format!("the record `{}`", paths[0].display());
        bail!("RUN", "a run", found, "name the run that is beside its record");
    }
    Ok(runs)
}

/// A run among others.
pub(crate) struct OpenedRun {
    /// Its name among the others.
    pub(crate) name: String,
    pub(crate) file: RecordedFile,
    /// The file, if it is scores that were kept.
    pub(crate) kept: Option<KeptScores>,
}

pub(crate) struct OpenedRuns {
    pub(crate) runs: Vec<OpenedRun>,
    /// The position of the baseline.
    pub(crate) baseline: usize,
    pub(crate) labels: LabelSource,
    /// Need files that are shown beside the runs, by their names.
    pub(crate) needs: Vec<(String, Source)>,
}

impl OpenedRuns {
    /// Opens runs that are all there, each named once, and at least so many, with the need files that are
    /// shown beside them. No output may replace any of them.
    pub(crate) fn open(
        settings: &Settings,
        named: &RunArguments,
        needs: &[PathBuf],
        least: usize,
    ) -> Result<Self> {
        let (paths, baseline) = paths_of(named)?;
        check_differ(needs, "--need")?;
        if let [only] = &paths[..]
            && least > 1
        {
            return Err(one_run(only).into());
        }
        for path in paths.iter().chain(needs) {
            protect(path);
            protect(&record::path_of(path));
        }
        let files: Vec<RecordedFile> = paths.iter().map(|path| RecordedFile::open(path)).collect();
        let kept: Vec<Option<KeptScores>> = files
            .iter()
            .map(|file| KeptScores::read(&Source::new(file.path())))
            .collect::<Result<_>>()?;
        // Kept scores have no record that could name their split.
        let names_split = kept.iter().position(Option::is_none).unwrap_or(0);
        let labels = LabelSource::open(settings, named, &files, &files[names_split])?;
        let split = labels.names().0;
        let runs = files.into_iter().zip(kept).zip(names_on(&paths, &split));
        let runs = runs.map(|((file, kept), name)| OpenedRun { name, file, kept }).collect();
        let sources = needs.iter().map(Source::new);
        let needs = names_on(needs, &split).into_iter().zip(sources).collect();
        Ok(Self { runs, baseline, labels, needs })
    }
}

/// The files of the runs, and the position of the baseline: one that is not among them comes first.
fn paths_of(named: &RunArguments) -> Result<(Vec<PathBuf>, usize)> {
    let mut paths = without_records(&named.runs)?;
    let mut position = 0;
    if let Some(baseline) = &named.baseline {
        match paths.iter().position(|path| path == baseline) {
            Some(named) => position = named,
            None => paths.insert(0, baseline.clone()),
        }
    }
    paths.iter().try_for_each(|path| check_exists(path))?;
    check_differ(&paths, "RUN")?;
    Ok((paths, position))
}

/// The problem of a run alone.
fn one_run(only: &Path) -> Problem {
    let hint = if only.is_dir() {
        format!("name the runs in it: `{}`", only.join("*.run").display())
    } else {
        "`clariq eval` scores a single run".to_owned()
    };
    problem!("RUN", "two runs or more", (format!("`{}` alone", only.display())), hint)
}
