//! The repository's folder, opened: the tasks of all splits, and the passages that are ranked for them.

use crate::domains::Domain;
use crate::folder::{
    FormKind, check_single, form_file, request_files, tasks_file, tasks_name, unread,
};
use crate::ids::{key, with_turn};
use crate::passages::AllPassages;
use crate::splits;
use crate::tasks::{MtragTask, TaskContext, TaskFile};
use crate::{forms, tasks};
use clariq_collections::{DataDir, PerSplit, Split, Task};
use clariq_core::{Error, ProblemKind, RequestId, Speaker, TextKeeper, Utterance, problem};
use clariq_files::{MOST_OF_A_RUN, MOST_OF_A_TABLE, read_strictly};
use std::collections::HashMap;
use std::path::PathBuf;

/// The task of all domains: the passages of its domain are ranked for each request.
pub const PASSAGES: Task = Task::new("passages");

/// The splits of a folder with the passages that are ranked for them.
pub struct Mtrag {
    pub(crate) data: DataDir,
    /// The tasks of the splits that the folder has.
    pub(crate) splits: PerSplit<Option<Vec<MtragTask>>>,
    pub(crate) passages: AllPassages,
    /// Files beside the passages that are not read.
    pub(crate) unread: Vec<PathBuf>,
}

impl Mtrag {
    /// Opens a folder: reads the tasks of all splits that it has, and the passages. `keeper` stores
    /// passages that are too many for memory.
    pub fn open(data: DataDir, keeper: Option<&dyn TextKeeper>) -> Result<Self, Error> {
        check_single(&data)?;
        let mut contexts = Vec::new();
        let splits = splits::ALL.into_iter().map(|split| {
            if request_files(&data, split).is_empty() {
                return Ok((split, None));
            }
            let (tasks, found) = read_split(&data, split)?;
            contexts.extend(found);
            Ok((split, Some(tasks)))
        });
        let splits = splits.collect::<Result<_, Error>>()?;
        let passages = AllPassages::read(&data, contexts, keeper)?;
        let unread = unread(&data)?;
        Ok(Self { data, splits, passages, unread })
    }

    /// The tasks of a split, in the order of their files.
    pub fn tasks(&self, split: Split) -> Result<&[MtragTask], Error> {
        self.splits[split].as_deref().ok_or_else(|| {
            problem!(self.data.path_of(&tasks_name(split)), "the tasks of {split}", "none")
                .kind(ProblemKind::MissingData)
                .into()
        })
    }

    /// The task of a request.
    pub(crate) fn find(&self, request: &str) -> Option<&MtragTask> {
        let mut all = self.splits.available().flat_map(|(_, tasks)| tasks);
        all.find(|task| task.id.as_str() == request)
    }

    /// The ids of the requests of a split by their keys, which both spellings share.
    pub(crate) fn ids(&self, split: Split) -> Result<HashMap<String, &RequestId>, Error> {
        Ok(self.tasks(split)?.iter().map(|task| (key(task.id.as_str()), &task.id)).collect())
    }

    /// The conversation up to a task, with the utterances that people rewrote in place of the user's.
    pub(crate) fn rewritten(
        &self,
        split: Split,
        task: &MtragTask,
    ) -> Result<Vec<Utterance>, Error> {
        let mut said = task.said.clone();
        let users = said.iter_mut().filter(|utterance| utterance.speaker == Speaker::User);
        for (turn, utterance) in (1..).zip(users) {
            let id = with_turn(task.id.as_str(), turn);
            let mut of_turn = self.tasks(split)?.iter();
            let found = of_turn.find(|known| Some(known.id.as_str()) == id.as_deref());
            if let Some(text) = found.and_then(|known| known.rewritten.as_ref()) {
                utterance.text.clone_from(text);
            }
        }
        Ok(said)
    }
}

/// Reads the tasks of a split: those of `generation_tasks`, and requests that only `retrieval_tasks`
/// has, where the responses of the agent are missing.
fn read_split(data: &DataDir, split: Split) -> Result<(Vec<MtragTask>, Vec<TaskContext>), Error> {
    let mut file = TaskFile::default();
    if let Some(source) = tasks_file(data, split) {
        file = read_strictly(&source, MOST_OF_A_RUN, tasks::parse)?;
    }
    let TaskFile { mut tasks, contexts } = file;
    let mut places: HashMap<String, usize> =
        tasks.iter().zip(0..).map(|(task, place)| (key(task.id.as_str()), place)).collect();
    for domain in Domain::ALL {
        for form in FormKind::ALL {
            let Some(source) = form_file(data, split, domain, form) else { continue };
            for (id, said) in read_strictly(&source, MOST_OF_A_TABLE, forms::parse)? {
                let place = *places.entry(key(&id)).or_insert_with(|| {
                    tasks.push(MtragTask::new(&id, domain, said.clone()));
                    tasks.len() - 1
                });
                if form == FormKind::Rewrite {
                    let last = said.last().map(|last| last.text.clone());
                    tasks[place].rewritten = last;
                }
            }
        }
    }
    Ok((tasks, contexts))
}
