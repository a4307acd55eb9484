//! Runs and their labels, as `compare`, `eval` and `report` read them.

use crate::arguments::RunArguments;
use crate::settings::Settings;
use crate::target::Target;
use clariq_collections::evaluation::{ByQrels, Evaluation};
use clariq_collections::requests::last_said_in;
use clariq_collections::{Collection, OWN, Split, Task};
use clariq_core::{Doc, DocId, RequestId, Result, bail};
use clariq_experiment::record::{self, RecordedFile};
use clariq_files::{MOST_OF_A_RUN, Qrels, Source, TopicJudgements};
use clariq_report::{JudgedPage, PageRequest, RenderedPage, page_of};
use clariq_tracks::TRACKS;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The endings of runs: TREC runs, and submissions to iKAT.
const RUNS: [&str; 3] = [".run", ".json", ".jsonl"];

/// The name of a file without `.gz` and the ending of a run or need file.
pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let whole = name.strip_suffix(".gz").unwrap_or(&name);
    let mut endings = RUNS.iter().chain(&[".need"]);
    let stem = endings.find_map(|ending| whole.strip_suffix(ending));
    stem.unwrap_or(whole).to_owned()
}

/// File names without their endings; whole paths where these are not unique.
pub(crate) fn names(paths: &[PathBuf]) -> Vec<String> {
    let names: Vec<String> = paths.iter().map(|path| stem(path)).collect();
    let mut seen = HashSet::new();
    if names.iter().all(|name| seen.insert(name)) {
        return names;
    }
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// The names of runs of a split, without the split if all names have it.
pub(crate) fn names_on(paths: &[PathBuf], split: &str) -> Vec<String> {
    let names = names(paths);
    let ending = format!(".{split}");
    let short: Option<Vec<&str>> = names.iter().map(|name| name.strip_suffix(&*ending)).collect();
    match short {
        Some(short) => short.into_iter().map(str::to_owned).collect(),
        None => names,
    }
}

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

/// Judgements of a file, for TREC runs and submissions.
pub(crate) fn judgements_of(qrels: &Source) -> Result<ByQrels<'static>> {
    let mut judgements = ByQrels::read(qrels)?;
    judgements.read_run = |run| TRACKS.read_run(run);
    Ok(judgements)
}

/// The labels: judgements of a file with the texts of its requests, or the collection of a split.
pub(crate) enum LabelSource {
    File(Source, HashMap<RequestId, String>),
    Split(Box<dyn Collection>, Split),
}

impl LabelSource {
    /// The named file of labels, or the collection of the split; the default split is that of one of the
    /// runs. Refuses runs of other documents, as [`check_origin`] does.
    pub(crate) fn open(
        settings: &Settings,
        compared: &RunArguments,
        runs: &[RecordedFile],
        names_split: &RecordedFile,
    ) -> Result<Self> {
        let judged = &compared.judged;
        let Some(qrels) = &judged.qrels else {
            let target = Target::of(settings, compared.split.as_deref(), names_split)?;
            for run in runs {
                check_origin(settings, &*target.collection, run)?;
            }
            return Ok(Self::Split(target.collection, target.split));
        };
        let requests = judged.requests.as_ref();
        let texts = requests.map(|file| last_said_in(&Source::new(file))).transpose()?;
        Ok(Self::File(Source::new(qrels), texts.unwrap_or_default()))
    }

    /// The name of the split or of the file, and that of its collection.
    pub(crate) fn names(&self) -> (String, String) {
        match self {
            Self::File(qrels, _) => (qrels.name(), "qrels".to_owned()),
            Self::Split(collection, split) => {
                let is_own = collection.kind() == OWN.name;
                let name =
                    if is_own { collection.folder_name() } else { collection.kind().to_owned() };
                (split.to_string(), name)
            }
        }
    }

    /// Their files.
    pub(crate) fn files(&self) -> Result<Vec<Source>> {
        match self {
            Self::File(qrels, _) => Ok(vec![qrels.clone()]),
            Self::Split(collection, split) => collection.labels_of(*split),
        }
    }

    /// The evaluation of their split. Its warnings are printed.
    pub(crate) fn evaluation(&self, settings: &Settings) -> Result<Box<dyn Evaluation + '_>> {
        let evaluation: Box<dyn Evaluation> = match self {
            Self::File(qrels, _) => Box::new(judgements_of(qrels)?),
            Self::Split(collection, split) => collection.evaluation(*split)?,
        };
        settings.warn(evaluation.warnings());
        if let Self::Split(collection, split) = self {
            note_remark(settings, &**collection, *split);
        }
        Ok(evaluation)
    }

    /// The page of runs over the split.
    pub(crate) fn page(&self, request: &PageRequest) -> Result<RenderedPage> {
        match self {
            Self::Split(collection, split) => page_of(&**collection, *split, request),
            Self::File(file, texts) => {
                let judged = judgements_of(file)?;
                let page = JudgedPage {
                    evaluation: &judged,
                    qrels: &judged.qrels,
                    split: "the qrels",
                    requests: texts.clone(),
                    documents: None,
                };
                page.page(request)
            }
        }
    }

    /// The grades and texts of the documents of a part of the runs for a topic.
    pub(crate) fn judged(&self, topic: &str, part: Option<&str>) -> Result<ShownDocuments<'_>> {
        let (collection, split) = match self {
            Self::File(qrels, _) => {
                let grades = Qrels::read(qrels)?.topic(&topic.into()).cloned();
                return Ok(ShownDocuments { topic: topic.into(), grades, ranked: None });
            }
            Self::Split(collection, split) => (&**collection, *split),
        };
        let task = match part {
            Some(part) => collection.find_task(part)?,
            None => collection.tasks()[0],
        };
        let mut id = RequestId::from(topic);
        let mut own = None;
        for request in collection.requests(split, task)? {
            let request = request?;
            if collection.is_named(&request.id, topic) {
                (id, own) = (request.id, request.candidates);
                break;
            }
        }
        let qrels = collection.qrels(split, task)?;
        Ok(ShownDocuments {
            grades: qrels.and_then(|qrels| qrels.topic(&id).cloned()),
            topic: id,
            ranked: Some(TaskDocuments { collection, task, own }),
        })
    }

    /// True if a name is that of a topic, in any spelling of the collection.
    pub(crate) fn is_named(&self, topic: &RequestId, name: &str) -> bool {
        match self {
            Self::File(..) => topic.as_str() == name,
            Self::Split(collection, _) => collection.is_named(topic, name),
        }
    }

    pub(crate) fn last_said(&self) -> Result<HashMap<RequestId, String>> {
        match self {
            Self::File(_, texts) => Ok(texts.clone()),
            Self::Split(collection, split) => Ok(collection.last_said(*split)?),
        }
    }
}

/// The grades and texts of the documents that runs rank for a topic.
pub(crate) struct ShownDocuments<'a> {
    topic: RequestId,
    grades: Option<TopicJudgements>,
    /// The documents, where they are known.
    ranked: Option<TaskDocuments<'a>>,
}

struct TaskDocuments<'a> {
    collection: &'a dyn Collection,
    task: Task,
    /// The documents that can be ranked for the topic; `None` for all of the task.
    own: Option<Vec<Doc>>,
}

impl ShownDocuments<'_> {
    pub(crate) fn has_texts(&self) -> bool {
        self.ranked.is_some()
    }

    /// The grade of a document by its name in runs, and its text.
    pub(crate) fn of(&self, id: &DocId) -> Result<(Option<i32>, Option<String>)> {
        let grade = |id: &DocId| self.grades.as_ref().and_then(|grades| grades.grade(id));
        let Some(TaskDocuments { collection, task, own }) = &self.ranked else {
            return Ok((grade(id), None));
        };
        let documents = collection.documents(*task)?;
        let topic = self.topic.as_str();
        let found = collection.find_ranked(topic, *task, documents, own.as_deref(), id.as_str());
        let Some(doc) = found else { return Ok((grade(id), None)) };
        Ok((grade(&DocId::from(&*documents.id(doc))), Some(documents.text(doc)?.into_owned())))
    }
}

/// Refuses a file whose record names other documents than those that it is scored on: its scores would
/// be 0, or wrong. Documents of one's own may have changed since, which is a warning.
fn check_origin(
    settings: &Settings,
    collection: &dyn Collection,
    file: &RecordedFile,
) -> Result<()> {
    let [task] = collection.tasks() else { return Ok(()) };
    let documents = collection.documents(*task)?;
    match file.documents() {
        Some(checksum) if checksum != *documents.checksum() => {
            let run = file.run().display().to_string();
            let short = checksum.short();
            let bank = documents.checksum().short();
            let location = collection.location();
            // Documents of one's own grow, and the run is still a run of most of them.
            if collection.kind() == OWN.name {
                settings.note(&format!(
                    "warning: {run}: made on other documents ({short}) than {location} has now \
                     ({bank}); those that were added since cannot be in it"
                ));
                return Ok(());
            }
            let hint = "--data names the folder that the run was made on";
            let expected = format!("a run on the documents that {location} has now ({bank})");
            bail!(run, expected, "made on other documents ({short}), says its record", hint);
        }
        None if file.path().is_file() => {
            let file = file.path().display();
            settings.detail(&format!(
                "cannot check which documents {file} was made on (no record beside it)"
            ));
        }
        _ => {}
    }
    Ok(())
}

/// Checks a file against the record beside it: refuses one of other documents, as [`check_origin`] does,
/// and warns of a file that differs from its record, because the command that wrote it was interrupted.
pub(crate) fn check_record(
    settings: &Settings,
    collection: &dyn Collection,
    file: &RecordedFile,
) -> Result<()> {
    check_origin(settings, collection, file)?;
    if file.has_record()
        && file.contradicts(&Source::new(file.path()).read_bytes(MOST_OF_A_RUN)?) == Some(true)
    {
        let kind = file.kind();
        settings.note(&format!(
            "warning: the record beside the {kind} is of another {kind}; was the command that wrote it interrupted?"
        ));
    }
    Ok(())
}

/// Prints what the collection says beside the scores of a split.
pub(crate) fn note_remark(settings: &Settings, collection: &dyn Collection, split: Split) {
    if let Some(remark) = collection.remark(split) {
        settings.note(&format!("note: {remark}"));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_after_their_files_if_the_names_are_unique() {
        let paths = |names: [&str; 2]| names.map(PathBuf::from);
        assert_eq!(
            names(&paths(["runs/bm25.dev.run", "old/dense.dev.run.gz"])),
            ["bm25.dev", "dense.dev"]
        );
        assert_eq!(names(&paths(["a/bm25.run", "b/bm25.run"])), ["a/bm25.run", "b/bm25.run"]);
        assert_eq!(names(&paths(["a.2023-test.json", "b.need"])), ["a.2023-test", "b"]);
        assert_eq!(names_on(&paths(["a.dev.run", "b.dev.run"]), "dev"), ["a", "b"]);
        assert_eq!(names_on(&paths(["a.dev.run", "mine.run"]), "dev"), ["a.dev", "mine"]);
    }
}
