//! Splits, tasks and ranked documents of a collection, found by their names.

use crate::{Collection, Split, Task};
use clariq_core::{Doc, Documents, Problem, SplitRole, problem, similar};
use std::any::Any;

impl dyn Collection {
    /// The document that runs of a task name `id` in the ranking for a request, which may have documents
    /// of its `own`.
    pub fn find_ranked(
        &self,
        request: &str,
        task: Task,
        documents: &dyn Documents,
        own: Option<&[Doc]>,
        id: &str,
    ) -> Option<Doc> {
        documents.find(id).or_else(|| {
            let mut own = own?.iter().copied();
            own.find(|doc| self.name_in_runs(request, task, &documents.id(*doc)) == id)
        })
    }

    /// The splits whose requests are in the folder.
    pub fn available_splits(&self) -> impl Iterator<Item = Split> {
        self.splits().iter().copied().filter(|split| self.has(*split))
    }

    /// Finds a split by its name, even if its files are missing: reading them gives the error. The
    /// problem of an unknown name lists the available splits.
    pub fn find_split(&self, name: &str) -> Result<Split, Problem> {
        if let Some(split) = self.splits().iter().find(|split| split.name() == name) {
            return Ok(*split);
        }
        let mut names: Vec<&str> = self.available_splits().map(Split::name).collect();
        if names.is_empty() {
            names = self.splits().iter().map(|split| split.name()).collect();
        }
        if names.is_empty() {
            return Err(self.no_requests(name));
        }
        Err(self.unknown(("--split", "split"), name, &names))
    }

    /// The problem of a folder without requests.
    fn no_requests(&self, split: &str) -> Problem {
        let expected = format!("the requests of {split}, `requests.{split}.jsonl`");
        let hint = "--requests FILE names any file of requests; other names of such files in the folder are in \
                    the documentation (reference, Formats)";
        problem!(self.location(), expected, "documents alone", hint)
    }

    /// The problem of a name that is not among those of an option, with what is meant if that is known.
    fn unknown(&self, (option, what): (&str, &str), name: &str, names: &[&str]) -> Problem {
        let expected = match names {
            [only] => format!("`{only}`, the {what} of this collection"),
            names => format!("one of the {what}s {}", names.join(", ")),
        };
        let several: Vec<&str> = name.split([',', ' ']).filter(|part| !part.is_empty()).collect();
        let each =
            |meant: &[&str]| format!("`{option} {}`", meant.join(&format!("` or `{option} ")));
        let also = self.splits().iter().find(|split| split.role().also().contains(&name));
        let also = also.map(|split| split.name()).filter(|name| names.contains(name));
        let meant = meant_names(name, names);
        let meant: Vec<&str> = if meant.is_empty() { also.into_iter().collect() } else { meant };
        let hint = match &meant[..] {
            _ if several.len() > 1 && several.iter().all(|part| names.contains(part)) => {
                format!("one {what} at a time: {}", each(&several))
            }
            [] => self.hint(),
            meant => format!("did you mean {}? {}", each(meant), self.hint()),
        };
        let found = if name.is_empty() { "nothing".to_owned() } else { format!("`{name}`") };
        problem!(option, expected, found, hint)
    }

    /// Finds a split by its name; without a name, the only available split, or else the first one with
    /// a role.
    ///
    /// # Errors
    ///
    /// No split of that name, or no name and no split with that role in the folder.
    pub fn find_split_or(&self, name: Option<&str>, role: SplitRole) -> Result<Split, Problem> {
        let usual = self.splits().iter().copied().find(|split| split.role() == role);
        self.named_or(name, usual)
    }

    /// Finds the split that a run is scored on by its name; without a name, the only available split,
    /// or else the usual one of the collection's kind.
    ///
    /// # Errors
    ///
    /// No split of that name, or no name and no usual split in the folder.
    pub fn find_scored_split(&self, name: Option<&str>) -> Result<Split, Problem> {
        let usual = self.registered().usual_split.name();
        if self.splits().is_empty() {
            let split = name.unwrap_or(usual);
            let expected = format!(
                "requests with judgements: `requests.{split}.jsonl` and `qrels.{split}.txt`"
            );
            let hint = "--qrels names a file of judgements; other names of such files are in the documentation \
                        (reference, Formats)";
            return Err(problem!(self.location(), expected, "documents alone", hint));
        }
        self.named_or(name, self.splits().iter().copied().find(|split| split.name() == usual))
    }

    fn named_or(&self, name: Option<&str>, usual: Option<Split>) -> Result<Split, Problem> {
        if let Some(name) = name {
            return self.find_split(name);
        }
        let present: Vec<Split> = self.available_splits().collect();
        match (&present[..], usual) {
            ([only], _) => Ok(*only),
            ([], Some(usual)) => Ok(usual),
            ([], None) => self.find_split(self.registered().usual_split.name()),
            (_, Some(usual)) if present.contains(&usual) => Ok(usual),
            _ => {
                let names: Vec<&str> = present.iter().map(|split| split.name()).collect();
                let expected = format!("--split {}", names.join(" or --split "));
                let missing = usual.map_or("several splits".to_owned(), |it| format!("no {it}"));
                let found = format!("no --split, and {missing} in {}", self.location());
                Err(problem!("--split", expected, found, (self.hint())))
            }
        }
    }

    /// Finds a task by its name. The problem of an unknown name lists all tasks.
    pub fn find_task(&self, name: &str) -> Result<Task, Problem> {
        self.tasks().iter().copied().find(|task| task.name() == name).ok_or_else(|| {
            let names: Vec<&str> = self.tasks().iter().map(|task| task.name()).collect();
            let problem = self.unknown(("--task", "task"), name, &names);
            let what = "a task is what is ranked, and needs are predicted beside it";
            if problem.hint.starts_with("did you mean") { problem } else { problem.hint(what) }
        })
    }

    /// The hint of problems about names: the collection that they were looked up in.
    fn hint(&self) -> String {
        format!("{} was read as {}", self.location(), self.described())
    }

    /// Its kind, for messages.
    pub fn described(&self) -> &'static str {
        if self.kind() == "own" { "documents of your own" } else { self.kind() }
    }

    /// This collection as its concrete type, or `None` if it has another one.
    pub fn downcast<C: Collection>(&self) -> Option<&C> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The names that a mistyped one may mean: those that it is a part of, as `2023` and `test` are of iKAT's
/// `2023-test`, or else the most similar one.
fn meant_names<'n>(name: &str, known: &[&'n str]) -> Vec<&'n str> {
    let has_part = |known: &&str| known.split('-').any(|part| part == name);
    let having: Vec<&str> = known.iter().copied().filter(has_part).collect();
    if !having.is_empty() {
        return having;
    }
    similar(name, known.iter().copied()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataDir, OWN};
    use std::fs;

    /// Documents with requests of these splits.
    fn own(splits: &[&str]) -> (tempfile::TempDir, Box<dyn Collection>) {
        let folder = tempfile::tempdir().unwrap();
        let line = "{\"id\": \"1\", \"text\": \"tea\"}\n";
        fs::write(folder.path().join("documents.jsonl"), line).unwrap();
        for split in splits {
            fs::write(folder.path().join(format!("requests.{split}.jsonl")), line).unwrap();
        }
        let own = (OWN.open)(&DataDir::Folder(folder.path().to_owned()), None).unwrap();
        (folder, own)
    }

    #[test]
    fn documents_alone_are_told_the_files_that_a_command_reads() {
        let (_folder, own) = own(&[]);
        let refused = own.find_split_or(None, SplitRole::Tune).unwrap_err();
        assert_eq!(refused.expected, "the requests of dev, `requests.dev.jsonl`");
        assert_eq!(refused.found, "documents alone");
        assert!(refused.hint.starts_with("--requests FILE"), "{}", refused.hint);
        let refused = own.find_scored_split(Some("test")).unwrap_err();
        let expected = "requests with judgements: `requests.test.jsonl` and `qrels.test.txt`";
        assert_eq!(refused.expected, expected);
        assert!(refused.hint.starts_with("--qrels names a file"), "{}", refused.hint);
    }

    #[test]
    fn a_split_or_task_that_is_not_there_is_told_what_may_be_meant() {
        let (_folder, own) = own(&["train", "dev"]);
        for (name, hint) in [
            ("train,dev", "one split at a time: `--split train` or `--split dev`"),
            ("validation", "did you mean `--split dev`? "),
            ("nonsense", "/"),
        ] {
            let refused = own.find_split(name).unwrap_err();
            assert_eq!(refused.expected, "one of the splits train, dev");
            assert!(refused.hint.starts_with(hint), "{}", refused.hint);
        }
        for (name, hint) in [
            ("document", "did you mean `--task documents`? "),
            ("need", "a task is what is ranked, and needs are predicted beside it"),
        ] {
            let refused = own.find_task(name).unwrap_err();
            assert_eq!(refused.expected, "`documents`, the task of this collection");
            assert!(refused.hint.starts_with(hint), "{}", refused.hint);
        }
    }
}
