//! The repository's folder as a collection: passages that are ranked for the turns of conversations.

use crate::answers::{MtragSubmissionForm, TaskKind};
use crate::domains::Domain;
use crate::evaluation::MtragEvaluation;
use crate::folder::{files, qrels_file, request_files};
use crate::ids::{key, parts, with_turn};
use crate::opened::{Mtrag, PASSAGES};
use crate::passages::no_passages;
use crate::splits;
use clariq_collections::evaluation::Evaluation;
use clariq_collections::{
    Annotation, Collection, DocumentPart, Kind, NeedLabel, Requests, Sight, Split, Statistics,
    SubmissionForm, Submitter, SystemClass, Task,
};
use clariq_core::{Documents, Error, Request, RequestId, bail, problem};
use clariq_files::{Judgement, Qrels, Source, read_qrels};
use std::path::PathBuf;

/// MTRAG and MTRAG-UN: passages of several domains, ranked for every turn.
pub static KIND: Kind = Kind {
    name: "MTRAG",
    signs: &["mtrag-human"],
    tasks: &TASKS,
    usual: "data/mtrag",
    splits: &splits::ALL,
    usual_split: splits::MTRAG_UN,
    endings: &[],
    sample: None,
    is_in: |data| splits::ALL.iter().any(|split| !request_files(data, *split).is_empty()),
    files,
    open: |data, keeper| Ok(Box::new(Mtrag::open(data.clone(), keeper)?)),
    check: crate::check::check,
    validate: |data, split, run, _| {
        let split = KIND.find_split(split)?;
        crate::validate::validate(&Mtrag::open(data.clone(), None)?, split, run)
    },
    rankings: crate::submission::rankings,
    scores: crate::evaluation::names,
    released: Some(clariq_collections::Release {
        at: "https://raw.githubusercontent.com/IBM/mt-rag-benchmark/cc5b1d481b391181b89f7ced860308482e785463/",
        table: include_str!("../released/mtrag.tsv"),
    }),
};

const TASKS: [Task; 1 + Domain::ALL.len()] = {
    let mut tasks = [PASSAGES; 1 + Domain::ALL.len()];
    let mut index = 0;
    while index < Domain::ALL.len() {
        tasks[index + 1] = Domain::ALL[index].task();
        index += 1;
    }
    tasks
};

impl Collection for Mtrag {
    fn registered(&self) -> &'static Kind {
        &KIND
    }

    fn label(&self) -> String {
        "mtrag".to_owned()
    }

    fn location(&self) -> String {
        self.data.to_string()
    }

    fn unread_files(&self) -> &[PathBuf] {
        &self.unread
    }

    fn has(&self, split: Split) -> bool {
        self.splits[split].is_some()
    }

    fn documents(&self, task: Task) -> Result<&dyn Documents, Error> {
        let Some(domain) = Domain::parse(task.name()) else {
            if self.passages.is_empty() {
                // If there is no split either, its tasks are what is missing.
                if self.splits.available().next().is_none() {
                    self.tasks(splits::MTRAG)?;
                }
                return Err(no_passages(&self.location(), "a domain").into());
            }
            return Ok(&self.passages);
        };
        match self.passages.of(domain) {
            Some(part) => Ok(&*part.documents),
            None => Err(no_passages(&self.location(), task.name()).into()),
        }
    }

    fn source(&self, split: Split) -> Result<Source, Error> {
        self.tasks(split)?;
        let files = request_files(&self.data, split);
        files.into_iter().next().ok_or_else(|| {
            problem!(self.location(), "the tasks of {split}", "none any more").into()
        })
    }

    fn labels_of(&self, split: Split) -> Result<Vec<Source>, Error> {
        let mut files = vec![self.source(split)?];
        files
            .extend(Domain::ALL.iter().filter_map(|domain| qrels_file(&self.data, split, *domain)));
        Ok(files)
    }

    fn requests(&self, split: Split, task: Task) -> Result<Requests<'_>, Error> {
        self.requests_seen(split, task, SystemClass::Automatic.into())
    }

    /// A manual system gets the rewritten utterances in place of the user's.
    fn requests_seen(&self, split: Split, task: Task, sight: Sight) -> Result<Requests<'_>, Error> {
        let domain = Domain::parse(task.name());
        let is_manual = sight.class == SystemClass::Manual;
        let tasks = self.tasks(split)?;
        if is_manual && tasks.iter().all(|task| task.rewritten.is_none()) {
            let hint = "the split `mtrag` has them, in its retrieval_tasks (--split mtrag); --rewrites takes others";
            bail!(self.location(), "rewritten requests of {split}", "none", hint);
        }
        let tasks = tasks.iter().filter(move |task| domain.is_none_or(|it| it == task.domain));
        Ok(Box::new(tasks.map(move |task| {
            let said = if is_manual { self.rewritten(split, task)? } else { task.said.clone() };
            Ok(Request {
                id: task.id.clone(),
                said: said.into(),
                candidates: None,
                need: None,
                statements: Vec::new(),
            })
        })))
    }

    fn submission_form(
        &self,
        split: Split,
        submitter: Submitter,
    ) -> Option<Box<dyn SubmissionForm + '_>> {
        let tasks = self.tasks(split).ok()?;
        let kind = if submitter.responds { TaskKind::C } else { TaskKind::A };
        Some(Box::new(MtragSubmissionForm::new(kind, tasks, &self.passages)))
    }

    fn ranking_form(&self, split: Split) -> Option<Box<dyn SubmissionForm + '_>> {
        let tasks = self.tasks(split).ok()?;
        Some(Box::new(MtragSubmissionForm::new(TaskKind::A, tasks, &self.passages)))
    }

    fn part_of(&self, task: Task, request: &str) -> Option<DocumentPart> {
        if task != PASSAGES {
            return None;
        }
        // The passages of other domains do not stand in for those that are missing.
        let domain = self.find(request)?.domain;
        let first = self.passages.of(domain).map_or(0, |part| part.first);
        Some(DocumentPart { task: domain.task(), first })
    }

    fn is_named(&self, request: &RequestId, name: &str) -> bool {
        key(request.as_str()) == key(name)
    }

    fn conversation_of<'r>(&self, request: &'r str) -> &'r str {
        parts(request).map_or(request, |(conversation, _)| conversation)
    }

    fn turn_before(&self, request: &str, back: usize) -> Option<String> {
        let turn: usize = parts(request)?.1.parse().ok()?;
        with_turn(request, turn.checked_sub(back).filter(|turn| *turn > 0)?)
    }

    /// The reason why figures cannot be compared with published ones.
    fn remark(&self, split: Split) -> Option<String> {
        let tasks = self.tasks(split).ok()?;
        let replaced = self.passages.substituted(tasks.iter().map(|task| task.domain));
        let names: Vec<&str> = replaced.iter().map(|domain| domain.name()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "the passages of {} are those of the references, a substitute for the collection \
                 in corpora/passage_level: scores over them only compare with each other",
                names.join(", ")
            )
        })
    }

    fn own_evaluation(&self, split: Split) -> Result<Option<Box<dyn Evaluation + '_>>, Error> {
        Ok(Some(Box::new(MtragEvaluation::open(self, split)?)))
    }

    fn qrels(&self, split: Split, task: Task) -> Result<Option<Qrels>, Error> {
        let ids = self.ids(split)?;
        let mut name = String::new();
        let mut judgements: Vec<Judgement> = Vec::new();
        let wanted = Domain::parse(task.name());
        for domain in Domain::ALL.into_iter().filter(|it| wanted.is_none_or(|one| one == *it)) {
            let Some(file) = qrels_file(&self.data, split, domain) else { continue };
            for mut judgement in read_qrels(&file)? {
                if let Some(id) = ids.get(&key(&judgement.topic)) {
                    judgement.topic = id.as_str().into();
                }
                judgements.push(judgement);
            }
            name = file.name();
        }
        if judgements.is_empty() {
            return Ok(None);
        }
        Qrels::from_judgements(&name, &judgements).map(Some)
    }

    fn annotations(&self, split: Split) -> Result<Vec<Annotation>, Error> {
        let tasks = self.tasks(split)?;
        let annotations = tasks.iter().map(|task| Annotation {
            id: task.id.to_string(),
            resolved: task.rewritten.clone(),
            need: task.answerability.map(|label| NeedLabel::Name(label.name().to_owned())),
            answer: task.targets.first().cloned(),
            ..Annotation::default()
        });
        Ok(annotations.collect())
    }

    fn statistics(&self) -> Result<Statistics, Error> {
        crate::stats::statistics(self)
    }
}
