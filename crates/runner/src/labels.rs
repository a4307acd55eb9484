//! The labels that runs are scored on, and whether a run is of their documents.

use crate::arguments::RunArguments;
use crate::settings::Settings;
use crate::target::Target;
use clariq_collections::evaluation::{ByQrels, Evaluation};
use clariq_collections::requests::last_said_in;
use clariq_collections::{Collection, OWN, Split, Task};
use clariq_core::{Doc, DocId, RequestId, Result, bail};
use clariq_experiment::record::RecordedFile;
use clariq_files::{MOST_OF_A_RUN, Qrels, Source, TopicJudgements};
use clariq_report::{JudgedPage, PageRequest, RenderedPage, page_of};
use clariq_tracks::TRACKS;
use std::collections::HashMap;

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
