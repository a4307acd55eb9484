//! TREC `CAsT`, 2019 to 2022: topics with resolved utterances of all years, and the mixed-initiative
//! task of 2022 as a collection.
//!
//! The mixed-initiative task is question ranking as in `ClariQ`: for every user turn, rank a pool
//! of clarifying questions.

mod pool;
mod resolved;
mod topics;

pub use pool::{NO_QUESTION, parse_pool, read_pool};
pub(crate) use resolved::{check_file, resolved_turns, training_files};
pub use topics::{Conversation, Topics, Turn};

use crate::clariq::by_topics;
use crate::statistics::{Figure, Statistics, Words};
use crate::{Bank, CheckReport, Collection, DataDir, Kind, Release, Requests, ResolvedTurn};
use clariq_core::{Documents, Error, Request};
use clariq_files::{Qrels, Source, read_qrels};
use resolved::RESOLVED_2019;
use serde_json::json;

/// `CAsT` 2022: a pool of clarifying questions, ranked for the user turns of 18 conversations.
pub(crate) const KIND: Kind = Kind {
    name: "CAsT",
    sign: POOL,
    tasks: &["questions"],
    usual: "data/cast",
    splits: &SPLITS,
    usual_split: SPLITS[0],
    endings: &[],
    has_sample: false,
    is_in: |data| data.file(POOL).is_some(),
    files: |data| {
        let others = [POOL, QRELS, RESOLVED_2019].into_iter();
        others.chain(topics::FILES).filter_map(|name| data.file(name)).collect()
    },
    open: |data, _| Ok(Box::new(Cast::open(data)?)),
    check,
    validate: by_topics,
    figures: Vec::new,
    released: Some(Release {
        at: "https://raw.githubusercontent.com/daltonj/treccastweb/33846610b736da392efeab00e4c6f4519e0dacf1/",
        table: include_str!("../released/cast.tsv"),
    }),
};

const SPLITS: [&str; 1] = ["2022"];

/// The released files have the year in front of their names, which some have not at the origin.
const POOL: &str = "2022_mixed_initiative_question_pool.json";
const TOPICS: &str = "2022_automatic_evaluation_topics_tree_v1.0.json";

/// Judgements of questions, which the track did not release: TREC qrels of user turns.
const QRELS: &str = "2022_mixed_initiative.qrels";

/// The questions of the mixed-initiative task of 2022, and the topics of that year.
#[derive(Debug, Clone)]
pub struct Cast {
    data: DataDir,
    /// All questions of the pool; [`NO_QUESTION`] stands for asking nothing.
    pub questions: Bank,
}

impl Cast {
    /// Opens a folder and reads the question pool.
    pub fn open(data: &DataDir) -> Result<Self, Error> {
        let pool = data.require(POOL)?;
        let questions = Bank::new(read_pool(&pool)?, NO_QUESTION);
        Ok(Self { data: data.clone(), questions })
    }

    /// The topics with the utterances that a model resolved.
    pub fn topics(&self) -> Result<Topics, Error> {
        Topics::read(&self.data.require(TOPICS)?)
    }
}

/// A user turn as the organisers' runs took it: its utterance as a model rewrote it to be
/// understood alone.
fn request(turn: &Turn) -> Request {
    let text = turn.rewritten.as_ref().or(turn.utterance.as_ref());
    Request::new(turn.id.as_str(), text.map_or("", String::as_str))
}

impl Collection for Cast {
    fn registered(&self) -> &'static Kind {
        &KIND
    }

    fn label(&self) -> String {
        "cast".to_owned()
    }

    fn location(&self) -> String {
        self.data.to_string()
    }

    fn has(&self, split: &str) -> bool {
        SPLITS.contains(&split) && self.data.file(TOPICS).is_some()
    }

    fn documents(&self, _task: &str) -> Result<&dyn Documents, Error> {
        Ok(&self.questions)
    }

    fn source(&self, _split: &str) -> Result<Source, Error> {
        self.data.require(TOPICS)
    }

    fn requests(&self, _split: &str, _task: &str) -> Result<Requests<'_>, Error> {
        let topics = self.topics()?;
        let turns = topics.user_turns().map(|(conversation, index)| &conversation.turns[index]);
        let requests: Vec<_> = turns.map(|turn| Ok(request(turn))).collect();
        Ok(Box::new(requests.into_iter()))
    }

    /// The track released no judgements of questions; whoever has some puts them into the folder.
    fn qrels(&self, _split: &str, _task: &str) -> Result<Option<Qrels>, Error> {
        let Some(file) = self.data.file(QRELS) else { return Ok(None) };
        Ok(Some(Qrels::from_judgements(&file.name(), &read_qrels(&file)?)?))
    }

    fn resolved_turns(&self) -> Result<Vec<ResolvedTurn>, Error> {
        resolved_turns(&self.location(), |name| self.data.file(name))
    }

    fn statistics(&self) -> Result<Statistics, Error> {
        const FIGURES: [Figure<(usize, Words)>; 3] = [
            ("conversations", |(conversations, _)| Some((*conversations).into())),
            ("user turns", |(_, words)| Some(words.texts.into())),
            ("words per resolved utterance, mean", |(_, words)| Some(words.mean.into())),
        ];
        let topics = self.topics()?;
        let turns = topics.user_turns().map(|(conversation, index)| &conversation.turns[index]);
        let words = Words::of(turns.filter_map(|turn| turn.rewritten.as_deref()));
        let pool = Words::of_documents(&self.questions)?;
        let of_pool = [
            ("questions in the pool", pool.texts.into()),
            ("words per question, mean", pool.mean.into()),
            ("words of the longest question", pool.longest.into()),
        ];
        let named = json!({
            "conversations": topics.conversations.len(),
            "user_turns": words.texts,
            "request_words": words.mean,
            "questions": pool.texts,
            "question_words": pool.mean,
            "longest_question": pool.longest,
            "pool": self.questions.checksum(),
        });
        let split = (SPLITS[0], (topics.conversations.len(), words));
        Ok(Statistics::new(&[split], &FIGURES, ("pool", &of_pool), named))
    }
}

/// Reads the pool and every file of topics, whatever its year.
fn check(data: &DataDir) -> Result<CheckReport, Error> {
    let mut report = CheckReport::default();
    report.read(POOL, data.file(POOL), parse_pool)?;
    for name in topics::FILES.into_iter().chain([RESOLVED_2019]) {
        check_file(&mut report, name, data.file(name))?;
    }
    report.findings.sort(&report.files);
    Ok(report)
}
