//! The mixed-initiative task of 2022 as a collection: a pool of questions, and the user turns that
//! they are ranked for.

use super::pool::{NO_QUESTION, parse_pool, read_pool};
use super::resolved::{RESOLVED_2019, resolved_turns};
use super::topics::{Topics, Turn, parse_resolved};
use crate::statistics::{Amount, Statistics, StatisticsRow, count_words, mean};
use crate::validation::by_topics;
use crate::{Bank, CheckReport, Collection, DataDir, Kind, Requests, ResolvedTurn};
use clariq_core::{Documents, Error, Location, Problem, ProblemKind, Request};
use clariq_files::{Qrels, Source, protect, read_qrels};
use serde_json::json;

/// `CAsT` 2022: a pool of clarifying questions, ranked for the user turns of 18 conversations.
pub(crate) const KIND: Kind = Kind {
    name: NAME,
    sign: POOL,
    tasks: &TASKS,
    usual: "data/cast",
    splits: &SPLITS,
    usual_split: SPLITS[0],
    endings: &[],
    has_sample: false,
    is_in: |data| data.file(POOL).is_some(),
    open: |data, _| Ok(Box::new(Cast::open(data)?)),
    check,
    validate: by_topics,
    figures: Vec::new,
};

const NAME: &str = "CAsT";
const TASKS: [&str; 1] = ["questions"];
const SPLITS: [&str; 1] = ["2022"];

/// The released files, under the names that the track gave them with the year in front.
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
        for source in [Some(&pool), data.file(TOPICS).as_ref()].into_iter().flatten() {
            if let Source::Path(path) = source {
                protect(path);
            }
        }
        let questions = Bank::new(read_pool(&pool)?, NO_QUESTION);
        Ok(Self { data: data.clone(), questions })
    }

    fn topics_file(&self) -> Result<Source, Error> {
        self.data.file(TOPICS).ok_or_else(|| {
            let at = Location::file(self.location());
            let expected = format!("`{TOPICS}` in the data folder");
            Problem::new(at, ProblemKind::MissingFile, expected, "nothing")
                .hint("the track releases it in the folder `2022` of its public repository")
                .into()
        })
    }

    /// The topics with the utterances that a model resolved.
    pub fn topics(&self) -> Result<Topics, Error> {
        Topics::read(&self.topics_file()?)
    }
}

/// A user turn as the organisers' runs took it: its utterance as a model rewrote it to be
/// understood alone.
fn request(turn: &Turn) -> Request {
    let text = turn.rewritten.as_ref().or(turn.utterance.as_ref());
    Request::new(turn.id.as_str(), text.map_or("", String::as_str))
}

impl Collection for Cast {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn label(&self) -> String {
        "cast".to_owned()
    }

    fn location(&self) -> String {
        self.data.to_string()
    }

    fn tasks(&self) -> &'static [&'static str] {
        &TASKS
    }

    fn splits(&self) -> &'static [&'static str] {
        &SPLITS
    }

    fn has(&self, split: &str) -> bool {
        SPLITS.contains(&split) && self.data.file(TOPICS).is_some()
    }

    fn documents(&self, _task: &str) -> Result<&dyn Documents, Error> {
        Ok(&self.questions)
    }

    fn source(&self, _split: &str) -> Result<Source, Error> {
        self.topics_file()
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
        let topics = self.topics()?;
        let count = |text: &String| count_words(text);
        let turns = topics.user_turns().map(|(conversation, index)| &conversation.turns[index]);
        let words: Vec<usize> =
            turns.filter_map(|turn| turn.rewritten.as_ref().map(count)).collect();
        let pool: Vec<usize> =
            self.questions.rows().iter().map(|row| count_words(&row.text)).collect();
        let row = |name, split: Option<Amount>, pool: Option<Amount>| StatisticsRow {
            name,
            amounts: vec![split, pool],
        };
        let longest = pool.iter().copied().max().unwrap_or(0);
        let conversations = topics.conversations.len();
        let rows = vec![
            row("conversations", Some(Amount::Count(conversations)), None),
            row("user turns", Some(Amount::Count(words.len())), None),
            row("words per resolved utterance, mean", Some(Amount::Mean(mean(&words))), None),
            row("questions in the pool", None, Some(Amount::Count(pool.len()))),
            row("words per question, mean", None, Some(Amount::Mean(mean(&pool)))),
            row("words of the longest question", None, Some(Amount::Count(longest))),
        ];
        let named = json!({
            "conversations": conversations,
            "user_turns": words.len(),
            "request_words": mean(&words),
            "questions": pool.len(),
            "question_words": mean(&pool),
            "longest_question": longest,
            "pool": self.questions.checksum(),
        });
        Ok(Statistics { columns: vec![SPLITS[0], "pool"], rows, named })
    }
}

/// Reads the pool and every file of topics, whatever its year.
fn check(data: &DataDir) -> Result<CheckReport, Error> {
    let mut report = CheckReport::default();
    report.read(POOL, data.file(POOL), |input, sink| drop(parse_pool(input, sink)))?;
    for name in super::topics::FILES {
        report.read(name, data.file(name), |input, sink| drop(Topics::parse(input, sink)))?;
    }
    report.read(RESOLVED_2019, data.file(RESOLVED_2019), parse_resolved)?;
    report.findings.sort(&report.files);
    Ok(report)
}
