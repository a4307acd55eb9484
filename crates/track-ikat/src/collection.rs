//! The track's files as a collection: statements and passages that are ranked for the turns of
//! conversations.

use super::answers::{IkatSubmissionForm, statement_number};
use super::evaluation::{IkatEvaluation, names};
use super::folder::{SAMPLE, check_track_files, location, read_topics, track_file, track_splits};
use super::opened::{Ikat, PASSAGES, STATEMENTS, changed};
use super::qrels::{
    JudgedPassages, LabelKind, citation_judgements, statement_judgements, to_qrels,
};
use super::splits;
use super::topics::TopicFile;
use super::validate::validate_with;
use clariq_collections::documents::{read_all, read_bank};
use clariq_collections::evaluation::Evaluation;
use clariq_collections::{
    Annotation, Collection, DataDir, Kind, Requests, ResponseLimit, Sight, Split, Statistics,
    SubmissionForm, Submitter, SystemClass, Task,
};
use clariq_core::{Documents, Error, ProblemKind, Request, Said, TextKeeper, bail, problem};
use clariq_files::{Qrels, Source, read_qrels};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;

/// TREC iKAT: statements of a user and passages, ranked for every turn.
pub static KIND: Kind = Kind {
    name: "iKAT",
    signs: &["2023_test_topics.json"],
    tasks: &TASKS,
    usual: "data/ikat",
    splits: &splits::ALL,
    usual_split: splits::TEST_2023,
    endings: &[".json", ".jsonl"],
    sample: Some(SAMPLE),
    is_in: |data| !track_splits(data).is_empty(),
    files: super::check::files,
    open: |data, keeper| Ok(Box::new(Ikat::open(data.clone(), keeper)?)),
    check: super::check::check,
    validate: |data, split, run, options| {
        check_track_files(data)?;
        let split = KIND.find_split(split)?;
        let topics = read_topics(data, split)?;
        validate_with(run, &topics, &judged_passages(data, split, &topics), options)
    },
    rankings: |_| None,
    scores: || names().collect(),
    released: Some(clariq_collections::Release {
        at: "https://raw.githubusercontent.com/",
        table: include_str!("../released/ikat.tsv"),
    }),
};

/// The passages that the topics cite, and those of labels that can be read.
fn judged_passages(data: &DataDir, split: Split, topics: &TopicFile) -> JudgedPassages {
    let mut judgements = citation_judgements(topics);
    for (name, kind) in splits::files(split).labels {
        if matches!(kind, LabelKind::Passages(_))
            && let Some(file) = track_file(data, name)
        {
            // `eval` and `data check` refuse what cannot be read.
            judgements.extend(read_qrels(&file).unwrap_or_default());
        }
    }
    judgements.into_iter().map(|judged| (judged.topic.into(), judged.document.into())).collect()
}

/// The reason why figures of passages cannot be compared with published ones.
const SUBSTITUTE: &str = "passages are those that the organisers' responses cite, a substitute for \
                          the licensed collection: scores on them only compare with each other";

const TASKS: [Task; 2] = [PASSAGES, STATEMENTS];

impl Collection for Ikat {
    fn registered(&self) -> &'static Kind {
        &KIND
    }

    fn label(&self) -> String {
        if self.is_sample() { "ikat-sample".to_owned() } else { "ikat".to_owned() }
    }

    fn location(&self) -> String {
        location(&self.data)
    }

    fn unread_files(&self) -> &[PathBuf] {
        &self.unread
    }

    fn has(&self, split: Split) -> bool {
        self.topics[split].is_some()
    }

    fn documents(&self, task: Task) -> Result<&dyn Documents, Error> {
        let documents = self.ranked_in(task);
        // A user may have no statements.
        if documents.is_empty() && task == PASSAGES {
            let hint = "put passages, or segments of pages, into that folder";
            let expected = "passages, such as `passages.jsonl`";
            let problem = problem!(self.location(), expected, "only topics", hint);
            return Err(problem.kind(ProblemKind::Empty).into());
        }
        Ok(documents)
    }

    fn source(&self, split: Split) -> Result<Source, Error> {
        track_file(&self.data, splits::files(split).topics).ok_or_else(|| changed(split))
    }

    fn labels_of(&self, split: Split) -> Result<Vec<Source>, Error> {
        let mut files = vec![self.source(split)?];
        let labels = splits::files(split).labels.iter();
        files.extend(labels.filter_map(|(name, _)| track_file(&self.data, name)));
        Ok(files)
    }

    fn requests(&self, split: Split, task: Task) -> Result<Requests<'_>, Error> {
        self.requests_seen(split, task, SystemClass::Automatic.into())
    }

    /// A manual system gets the resolved utterances in place of the utterances. A system that only
    /// responds gets the organisers' passages as candidates; if there are none, it ranks all passages,
    /// because a run needs a response to every turn. With earlier conversations, a request begins with
    /// their utterances, and their new statements are candidates, too. With relevant statements, these
    /// follow the utterance of each turn.
    fn requests_seen(&self, split: Split, task: Task, sight: Sight) -> Result<Requests<'_>, Error> {
        let ranks_statements = task == STATEMENTS;
        let topics = self.topics(split)?;
        let mut labels = topics.turns().filter_map(|(_, turn)| turn.relevant_statements.as_ref());
        if sight.relevant_statements && labels.all(Vec::is_empty) {
            let hint = "leave `relevant-statements` out of the system's `uses`";
            let found = "topics without `ptkb_provenance`";
            bail!(splits::files(split).topics, "the relevant statements of turns", found, hint);
        }
        Ok(Box::new(topics.conversations.iter().flat_map(move |conversation| {
            let before = topics.before(&conversation.number);
            let before = before.filter(move |_| sight.earlier_conversations);
            let own = ranks_statements.then(|| {
                let mut docs = self.statements_of(split, conversation, before.clone());
                docs.sort_unstable();
                docs
            });
            let mut said: Vec<_> = before.flat_map(|before| before.all_utterances(sight)).collect();
            let earlier = said.len();
            said.extend(conversation.all_utterances(sight));
            let said = Said::from(said);
            (0..conversation.turns.len()).map(move |index| {
                let released =
                    || self.find_passages(conversation.given_passages(index, sight.class)?);
                let candidates = own.clone().or_else(released);
                let id = conversation.turns[index].id.clone();
                // Its turn is an utterance of the user and, unseen, the response to it.
                let said = said.up_to(earlier + 2 * index + 1);
                Ok(Request { id, said, candidates, need: None, statements: Vec::new() })
            })
        })))
    }

    fn submission_form(
        &self,
        split: Split,
        submitter: Submitter,
    ) -> Option<Box<dyn SubmissionForm + '_>> {
        let year = splits::files(split).year;
        let statements = &self.statements;
        let passages = &*self.passages;
        Some(Box::new(IkatSubmissionForm { year, submitter, statements, passages }))
    }

    fn response_limit(&self, split: Split) -> Option<ResponseLimit> {
        Some(splits::files(split).year.response_limit())
    }

    /// The statements of earlier conversations are numbered after those of this conversation.
    fn name_in_runs<'i>(&self, request: &str, task: Task, id: &'i str) -> Cow<'i, str> {
        if task != STATEMENTS {
            return id.into();
        }
        let number = self.conversation_of(request);
        let earlier = || {
            let (split, rest) = id.split_once('/')?;
            let mut all = self.topics.available();
            let (split, topics) = all.find(|(known, _)| known.name() == split)?;
            if rest.starts_with(&format!("{number}/")) {
                return None;
            }
            let conversation = topics.conversation(number)?;
            let docs = self.statements_of(split, conversation, topics.before(number));
            let index = docs.iter().position(|&doc| self.statements.id(doc).as_str() == id)?;
            Some((index + 1).to_string())
        };
        earlier().map_or_else(|| statement_number(id).into(), Cow::Owned)
    }

    fn conversation_of<'r>(&self, request: &'r str) -> &'r str {
        request.rsplit_once('_').map_or(request, |(conversation, _)| conversation)
    }

    /// The turns of a file may have gaps in their numbers.
    fn turn_before(&self, request: &str, back: usize) -> Option<String> {
        let (conversation, turn) =
            self.topics.available().find_map(|(_, topics)| topics.turn(request))?;
        let index = conversation.turns.iter().position(|known| known.id == turn.id)?;
        let before = index.checked_sub(back)?;
        Some(conversation.turns[before].id.to_string())
    }

    fn is_sample(&self) -> bool {
        self.data == SAMPLE
    }

    fn own_evaluation(&self, split: Split) -> Result<Option<Box<dyn Evaluation + '_>>, Error> {
        Ok(Some(Box::new(IkatEvaluation::open(self, split)?)))
    }

    fn remark(&self, _split: Split) -> Option<String> {
        self.is_substitute.then(|| SUBSTITUTE.to_owned())
    }

    fn take_passages(
        &mut self,
        files: &[Source],
        wanted: Option<&HashSet<&str>>,
        keeper: &dyn TextKeeper,
    ) -> Result<(), Error> {
        self.passages = match wanted {
            Some(wanted) => Box::new(read_bank(files, &|id| wanted.contains(id))?),
            None => read_all(files, Some(keeper))?,
        };
        self.is_substitute = false;
        Ok(())
    }

    fn qrels(&self, split: Split, task: Task) -> Result<Option<Qrels>, Error> {
        let topics = self.topics(split)?;
        if task != STATEMENTS {
            return to_qrels(splits::files(split).topics, &citation_judgements(topics));
        }
        let mut labels = statement_judgements(topics);
        for label in &mut labels {
            let conversation = self.conversation_of(&label.topic);
            label.document = format!("{split}/{conversation}/{}", label.document).into();
        }
        to_qrels(splits::files(split).topics, &labels)
    }

    fn annotations(&self, split: Split) -> Result<Vec<Annotation>, Error> {
        let topics = self.topics(split)?;
        let mut annotations = Vec::new();
        for (conversation, turn) in topics.turns() {
            annotations.push(Annotation {
                id: turn.id.to_string(),
                resolved: (!turn.resolved.trim().is_empty()).then(|| turn.resolved.clone()),
                statements: conversation.statements.clone(),
                ..Annotation::default()
            });
        }
        Ok(annotations)
    }

    fn statistics(&self) -> Result<Statistics, Error> {
        super::stats::statistics(&self.topics, &*self.passages)
    }
}

#[cfg(test)]
mod tests;
