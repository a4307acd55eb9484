//! The track's files as a collection: statements and passages that are ranked for the turns of
//! conversations.

use super::answers::{IkatAnswerForm, statement_number};
use super::evaluation::{IkatEvaluation, names};
use super::folder::{IkatFolder, SAMPLE, location};
use super::opened::{Ikat, PASSAGES, STATEMENTS, changed};
use super::qrels::{citation_judgements, statement_judgements, to_qrels};
use super::splits::IkatSplit;
use super::validate::validate;
use clariq_collections::documents::{read_all, read_bank};
use clariq_collections::evaluation::Evaluation;
use clariq_collections::{
    Annotation, AnswerForm, Collection, Kind, Requests, Sight, Split, Statistics, Submitter,
    SystemClass, Task,
};
use clariq_core::{Documents, Error, ProblemKind, Request, Said, TextKeeper, bail, problem};
use clariq_files::{Qrels, Source};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;

/// TREC iKAT: statements of a user and passages, ranked for every turn.
pub static KIND: Kind = Kind {
    name: "iKAT",
    sign: "2023_test_topics.json",
    tasks: &TASKS,
    usual: "data/ikat",
    splits: &IkatSplit::SPLITS,
    usual_split: IkatSplit::TEST_2023.as_split(),
    endings: &[".json", ".jsonl"],
    sample: Some(SAMPLE),
    is_in: |data| !data.track_splits().is_empty(),
    files: super::check::files,
    open: |data, keeper| Ok(Box::new(Ikat::open(data.clone(), keeper)?)),
    check: super::check::check,
    validate: |data, split, run, options| {
        data.check_track_files()?;
        validate(run, &data.topics(named(split)?)?, options)
    },
    figures: || names().collect(),
    released: Some(clariq_collections::Release {
        at: "https://raw.githubusercontent.com/",
        table: include_str!("../released/ikat.tsv"),
    }),
};

/// The reason why figures of passages cannot be compared with published ones.
const SUBSTITUTE: &str = "passages are those that the organisers' responses cite, a substitute for \
                          the licensed collection: scores on them only compare with each other";

const TASKS: [Task; 2] = [PASSAGES, STATEMENTS];

fn split_of(split: Split) -> Result<IkatSplit, Error> {
    named(split.name())
}

/// The split of that name.
fn named(name: &str) -> Result<IkatSplit, Error> {
    IkatSplit::parse(name).ok_or_else(|| {
        let expected = format!("one of {}", KIND.split_names().join(", "));
        problem!("--split", expected, "`{name}`", "these are the splits of iKAT").into()
    })
}

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
        self.topics.iter().any(|(known, _)| known.as_split() == split)
    }

    fn documents(&self, task: Task) -> Result<&dyn Documents, Error> {
        let documents = self.ranked_in(task);
        // A user may have no statements.
        if documents.is_empty() && task == PASSAGES {
            let hint = "put passages into that folder; `clariq data segment` makes them of pages";
            let expected = "passages, such as `passages.jsonl`";
            let problem = problem!(self.location(), expected, "only topics", hint);
            return Err(problem.kind(ProblemKind::Empty).into());
        }
        Ok(documents)
    }

    fn source(&self, split: Split) -> Result<Source, Error> {
        let split = split_of(split)?;
        self.data.track_file(split.topics_file()).ok_or_else(|| changed(split))
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
        let split = split_of(split)?;
        let ranks_statements = task == STATEMENTS;
        let topics = self.topics(split)?;
        let mut labels = topics.turns().filter_map(|(_, turn)| turn.relevant_statements.as_ref());
        if sight.relevant_statements && labels.all(Vec::is_empty) {
            let hint = "leave `relevant-statements` out of the system's `uses`";
            let found = "topics without `ptkb_provenance`";
            bail!(split.topics_file(), "the relevant statements of turns", found, hint);
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

    fn answer_form(&self, split: Split, submitter: Submitter) -> Option<Box<dyn AnswerForm + '_>> {
        let year = IkatSplit::parse(split.name())?.year();
        let statements = &self.statements;
        let passages = &*self.passages;
        Some(Box::new(IkatAnswerForm { year, submitter, statements, passages }))
    }

    /// The statements of earlier conversations are numbered after those of this conversation.
    fn name_in_runs<'i>(&self, request: &str, task: Task, id: &'i str) -> Cow<'i, str> {
        if task != STATEMENTS {
            return id.into();
        }
        let number = self.conversation_of(request);
        let earlier = || {
            let (split, rest) = id.split_once('/')?;
            let split =
                IkatSplit::parse(split).filter(|_| !rest.starts_with(&format!("{number}/")))?;
            let topics = self.topics(split).ok()?;
            let docs =
                self.statements_of(split, topics.conversation(number)?, topics.before(number));
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
            self.topics.iter().find_map(|(_, topics)| topics.turn(request))?;
        let index = conversation.turns.iter().position(|known| known.id == turn.id)?;
        let before = index.checked_sub(back)?;
        Some(conversation.turns[before].id.to_string())
    }

    fn is_sample(&self) -> bool {
        self.data == SAMPLE
    }

    fn own_evaluation(&self, split: Split) -> Result<Option<Box<dyn Evaluation + '_>>, Error> {
        Ok(Some(Box::new(IkatEvaluation::open(self, split_of(split)?)?)))
    }

    fn remark(&self, _split: Split) -> Option<String> {
        (!self.is_sample()).then(|| SUBSTITUTE.to_owned())
    }

    fn take_passages(
        &mut self,
        files: &[Source],
        wanted: Option<&HashSet<&str>>,
        keeper: &dyn TextKeeper,
    ) -> Result<(), Error> {
        self.passages = match wanted {
            Some(wanted) => Box::new(read_bank(files, &|id| wanted.contains(id), true)?),
            None => read_all(files, Some(keeper))?,
        };
        Ok(())
    }

    fn qrels(&self, split: Split, task: Task) -> Result<Option<Qrels>, Error> {
        let split = split_of(split)?;
        let topics = self.topics(split)?;
        if task != STATEMENTS {
            return to_qrels(split.topics_file(), &citation_judgements(topics));
        }
        let mut labels = statement_judgements(topics);
        for label in &mut labels {
            let conversation = self.conversation_of(&label.topic);
            label.document = format!("{split}/{conversation}/{}", label.document).into();
        }
        to_qrels(split.topics_file(), &labels)
    }

    fn annotations(&self, split: Split) -> Result<Vec<Annotation>, Error> {
        let topics = self.topics(split_of(split)?)?;
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
mod tests {
    use super::*;
    use clariq_collections::DataDir;
    use serde_json::json;

    fn sample() -> Ikat {
        Ikat::open(SAMPLE, None).unwrap()
    }

    #[test]
    fn a_request_has_what_its_class_may_see() {
        let sample = sample();
        let split = IkatSplit::TEST_2023;
        let requests = |task, class: SystemClass| -> Vec<Request> {
            let requests = sample.requests_seen(split.as_split(), task, class.into()).unwrap();
            requests.map(Result::unwrap).collect()
        };
        let topics = sample.topics(split).unwrap();
        let turns: Vec<_> = topics.turns().map(|(_, turn)| turn).collect();
        let automatic = requests(PASSAGES, SystemClass::Automatic);
        assert_eq!(automatic.len(), turns.len());
        for (request, turn) in automatic.iter().zip(&turns) {
            assert_eq!(request.id.as_str(), turn.id.as_str());
            assert_eq!(request.said.last().unwrap().text, turn.utterance);
            assert_eq!(request.said.len(), 2 * turn.number as usize - 1);
            assert!(request.candidates.is_none());
        }
        let manual = requests(PASSAGES, SystemClass::Manual);
        assert_eq!(manual[1].said[0].text, turns[0].resolved);
        assert_eq!(manual[1].said[2].text, turns[1].resolved);
        let given = requests(PASSAGES, SystemClass::OnlyResponse);
        for (request, turn) in given.iter().zip(&turns) {
            let cited = turn.citations.as_ref().map(Vec::len);
            assert_eq!(request.candidates.as_ref().map(Vec::len), cited, "{}", turn.id);
        }
    }

    #[test]
    fn a_turn_with_none_of_the_passages_ranks_all_of_them() {
        let sample = sample();
        assert_eq!(sample.find_passages(&[]), None);
        assert_eq!(sample.find_passages(&["clueweb22-en0000-00-00000:0".to_owned()]), None);
    }

    #[test]
    fn every_user_has_statements_of_their_own() {
        let sample = sample();
        let split = IkatSplit::TEST_2023;
        let bank = sample.ranked_in(STATEMENTS);
        let requests: Vec<Request> =
            sample.requests(split.as_split(), STATEMENTS).unwrap().map(Result::unwrap).collect();
        for (request, (conversation, _)) in
            requests.iter().zip(sample.topics(split).unwrap().turns())
        {
            let own = request.candidates.as_ref().unwrap();
            assert_eq!(own.len(), conversation.statements.len());
            for &doc in own {
                let number: usize = statement_number(&bank.id(doc)).parse().unwrap();
                assert_eq!(bank.text(doc).unwrap(), conversation.statements[number - 1]);
            }
        }
    }

    #[test]
    fn an_earlier_turn_is_found_beyond_a_gap_in_the_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let turn = |number: u32| json!({"turn_id": number, "utterance": "u", "response": "s"});
        let turns = [turn(1), turn(2), turn(4)];
        let topics =
            json!([{"number": "1-1", "title": "t", "ptkb": {"1": "I ride."}, "turns": turns}]);
        std::fs::write(folder.path().join("2023_test_topics.json"), topics.to_string()).unwrap();
        let ikat = Ikat::open(DataDir::Folder(folder.path().to_owned()), None).unwrap();
        assert_eq!(ikat.turn_before("1-1_4", 1).as_deref(), Some("1-1_2"));
        assert_eq!(ikat.turn_before("1-1_4", 2).as_deref(), Some("1-1_1"));
        assert_eq!(ikat.turn_before("1-1_4", 3), None);
    }

    fn seeing(class: SystemClass, earlier_conversations: bool) -> Sight {
        Sight { earlier_conversations, ..Sight::from(class) }
    }

    #[test]
    fn earlier_conversations_are_part_of_requests_if_the_system_uses_them() {
        let folder = tempfile::tempdir().unwrap();
        let conversation = |number: &str, statements: &[&str]| {
            let turn = |turn: u32| {
                json!({
                    "turn_id": turn,
                    "user_utterance": format!("utterance {number} {turn}"),
                    "resolved_utterance": format!("resolved {number} {turn}"),
                    "response": format!("response {number} {turn}"),
                })
            };
            json!({"number": number, "title": "t", "ptkb": statements, "responses": [turn(1), turn(2)]})
        };
        let topics = json!([
            conversation("1-1", &["I ride.", "I am tall."]),
            conversation("1-2", &["I am tall.", "I cook."]),
            conversation("11-1", &["I cook."]),
        ]);
        std::fs::write(folder.path().join("2025_test_topics.json"), topics.to_string()).unwrap();
        let ikat = Ikat::open(DataDir::Folder(folder.path().to_owned()), None).unwrap();
        let bank = ikat.ranked_in(STATEMENTS);
        let seen = |class, earlier| -> Vec<String> {
            let requests = ikat
                .requests_seen(
                    IkatSplit::parse("2025").unwrap().as_split(),
                    STATEMENTS,
                    seeing(class, earlier),
                )
                .unwrap();
            let shown = requests.map(|request| {
                let Request { id, said, candidates, .. } = request.unwrap();
                let names = candidates.unwrap().into_iter().map(|doc| {
                    let name =
                        ikat.name_in_runs(id.as_str(), STATEMENTS, &bank.id(doc)).into_owned();
                    format!("{name} {}", bank.text(doc).unwrap())
                });
                let said: Vec<&str> = said.iter().map(|said| said.text.as_str()).collect();
                format!("{id}: {} | {}", said.join(", "), names.collect::<Vec<_>>().join(" "))
            });
            shown.collect()
        };
        let alone = seen(SystemClass::Automatic, false);
        let known = seen(SystemClass::Automatic, true);
        assert_eq!(alone[2], "1-2_1: utterance 1-2 1 | 1 I am tall. 2 I cook.");
        for other in [0, 1, 4, 5] {
            assert_eq!(alone[other], known[other], "nothing came before");
        }
        assert_eq!(
            known[2],
            "1-2_1: utterance 1-1 1, response 1-1 1, utterance 1-1 2, response 1-1 2, \
             utterance 1-2 1 | 3 I ride. 1 I am tall. 2 I cook."
        );
        let manual = &seen(SystemClass::Manual, true)[2];
        assert!(manual.starts_with("1-2_1: resolved 1-1 1, response 1-1 1, res"), "{manual}");
        // In 2023, two conversations are of two users.
        let sample = sample();
        let of_sample = |earlier| -> Vec<Request> {
            let requests = sample.requests_seen(
                IkatSplit::TEST_2023.as_split(),
                STATEMENTS,
                seeing(SystemClass::Manual, earlier),
            );
            requests.unwrap().map(Result::unwrap).collect()
        };
        assert_eq!(of_sample(true), of_sample(false));
    }

    #[test]
    fn judgements_name_documents() {
        let sample = sample();
        for task in TASKS {
            let qrels = sample.qrels(IkatSplit::TEST_2023.as_split(), task).unwrap().unwrap();
            for (_, judgements) in qrels.topics() {
                let bank = sample.ranked_in(task);
                let mut documents = judgements.documents();
                assert!(documents.all(|(id, _)| bank.find(id.as_str()).is_some()), "{task}");
            }
        }
        assert!(sample.requests(IkatSplit::parse("2024").unwrap().as_split(), PASSAGES).is_err());
    }
}
