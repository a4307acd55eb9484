//! The property that a system without `uses = ["batch"]` finds the same for a request whatever is
//! ranked with it: alone, in any block, in any order, and before the rest of its conversation exists.

use super::{Folder, root};
use clariq_collections::{Collection, DataDir, SystemClass};
use clariq_core::{Engine, Request, Utterance};
use clariq_experiment::{
    Contexts, NeedScope, RankedPart, Ranker, RankerOutcome, Session, SessionOptions, Statements,
    UserRequest, open_system,
};
use clariq_files::Source;
use clariq_rank::Uses;
use clariq_systems::SystemConfig;
use clariq_systems::built_in::names;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;
use std::fs;
use tempfile::TempDir;

/// The results of requests as lines, by the ids of the requests.
type Found = BTreeMap<String, Vec<String>>;

/// The space of systems without an encoder.
pub(crate) const CHARACTERS: &str = "characters = 1.0";

/// A built-in system with another space, and without its expected figures; `None` if it declares
/// that it uses the batch, needs a model beside those of its space, or has no models where those of a
/// space are tried.
fn built_in(name: &str, space: &str) -> Option<SystemConfig> {
    let text = fs::read_to_string(root().join(format!("configs/{name}.toml"))).unwrap();
    let (system, _) = text.split_once("\n[[expected]]").unwrap_or((&text, ""));
    let without_characters = |line: &&str| !line.starts_with("characters = ");
    let with_space = |line| if str::starts_with(line, "models = ") { space } else { line };
    let lines = system.lines().filter(without_characters).map(with_space);
    let system = lines.collect::<Vec<_>>().join("\n");
    let source = Source::memory(format!("{name}.toml"), system.into_bytes());
    let config = SystemConfig::read(&source, &[]).unwrap();
    let models = config.plan.models();
    let has_models = models.iter().all(|model| space.contains(&format!("{:?}", model.name)));
    // A system without models is the same over any space.
    let is_repeated = space != CHARACTERS && models.is_empty();
    let is_checked = has_models && !is_repeated && !config.uses.contains(&Uses::Batch);
    is_checked.then_some(config)
}

/// The requests of a split as the system sees them.
fn requests(collection: &dyn Collection, split: &str, config: &SystemConfig) -> Vec<UserRequest> {
    let split = collection.find_split(split).unwrap();
    let Some(answer) = config.plan.answer() else {
        let task = collection.tasks()[0];
        return collection.requests(split, task).unwrap().map(|one| one.unwrap().into()).collect();
    };
    let seen = |task| {
        let task = collection.find_task(task).unwrap();
        collection.requests_seen(split, task, answer.class.into()).unwrap()
    };
    let query = |(request, of_user): (Result<Request, _>, Result<Request, _>)| UserRequest {
        request: request.unwrap(),
        statements: Statements::Known(of_user.unwrap().candidates),
    };
    seen("passages").zip(seen("statements")).map(query).collect()
}

/// Conversations of one to three turns about the requests of a split.
fn conversations(queries: &[UserRequest]) -> Vec<UserRequest> {
    let mut all = Vec::new();
    for (number, query) in queries.iter().enumerate() {
        let mut query = query.clone();
        let reply = &queries[(number + 1) % queries.len()].request;
        for turn in 1..=1 + number % 3 {
            let question = format!("do you mean {}", reply.opening());
            query.request.said.push(Utterance::system(question));
            query.request.said.push(Utterance::user(if turn == 2 { "no" } else { "yes please" }));
            query.request.id = format!("{}-{turn}", query.request.id).as_str().into();
            all.push(query.clone());
        }
    }
    all
}

/// Every document with the bits of its score, and the answer.
fn describe(system: &Ranker, query: &UserRequest, outcome: &RankerOutcome) -> Vec<String> {
    let mut lines = Vec::new();
    let mut list = |what: &str, part: RankedPart, ranking: &[clariq_core::Hit]| {
        for hit in ranking {
            let name = system.name(query, part, hit.doc).unwrap();
            lines.push(format!("{what} {name} {:x} {}", hit.score.to_bits(), hit.score));
        }
    };
    list("document", RankedPart::Documents, &outcome.ranking);
    if let Some(answer) = &outcome.answer {
        list("statement", RankedPart::Statements, &answer.statements);
        list("chosen", RankedPart::Statements, &answer.chosen);
        lines.push(format!("answer {:?} {:?}", answer.responses, answer.asks));
    }
    lines
}

/// Ranks blocks of requests one after the other.
fn rank(system: &Ranker, blocks: &[Vec<UserRequest>]) -> Found {
    let mut found = Found::new();
    for block in blocks {
        for (query, outcome) in block.iter().zip(system.rank(block).unwrap()) {
            found.insert(query.request.id.to_string(), describe(system, query, &outcome));
        }
    }
    found
}

/// Asserts that results are equal, and names the first difference.
fn assert_same(name: &str, found: &Found, whole: &Found) {
    for (id, found) in found {
        let differs = found.iter().zip(&whole[id]).find(|(one, other)| one != other);
        assert_eq!(differs, None, "{name}: request {id} alone or with others");
        assert_eq!(found.len(), whole[id].len(), "{name}: request {id}");
    }
}

/// An engine, if there is one, and the cache that systems share: vectors of documents do not
/// concern the property.
struct Lab<'e> {
    engine: Option<&'e dyn Engine>,
    cache: TempDir,
}

impl<'e> Lab<'e> {
    fn new(engine: Option<&'e dyn Engine>) -> Self {
        Self { engine, cache: tempfile::tempdir().unwrap() }
    }

    /// Opens a collection and a system, and calls `test` with both.
    fn open(
        &self,
        data: &DataDir,
        config: &SystemConfig,
        split: &str,
        test: impl FnOnce(&dyn Collection, &Ranker) -> Found,
    ) -> Found {
        let collection = clariq_tracks::TRACKS.open(data).unwrap();
        let options =
            SessionOptions { cache: self.cache.path().to_owned(), ..SessionOptions::default() };
        let split = collection.find_split(split).unwrap();
        let mut session = Session::new(&*collection, options).unwrap().answering(split);
        session.engine = self.engine;
        let contexts = Contexts::new(&session);
        test(&*collection, &open_system(&contexts, config, NeedScope::ForStages).unwrap())
    }
}

/// Ranks requests in one block, one by one and in random blocks. Returns the results.
fn check(system: &Ranker, queries: Vec<UserRequest>) -> Found {
    let name = &system.config.name;
    let whole = rank(system, std::slice::from_ref(&queries));
    assert!(whole.values().any(|lines| !lines.is_empty()), "{name} finds nothing");
    let one_by_one: Vec<Vec<UserRequest>> =
        queries.iter().map(|query| vec![query.clone()]).collect();
    assert_same(name, &rank(system, &one_by_one), &whole);
    let cuts = prop::collection::vec(1..12_usize, 1..5);
    let cases = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1) };
    TestRunner::new(cases)
        .run(&(Just(queries).prop_shuffle(), cuts), |(mut queries, cuts)| {
            let mut blocks = Vec::new();
            for &cut in cuts.iter().cycle() {
                if queries.is_empty() {
                    break;
                }
                let rest = queries.split_off(cut.min(queries.len()));
                blocks.push(std::mem::replace(&mut queries, rest));
            }
            assert_same(name, &rank(system, &blocks), &whole);
            Ok(())
        })
        .unwrap();
    whole
}

/// Checks every built-in system that ranks, over a collection.
pub(crate) fn check_ranking(engine: Option<&dyn Engine>, space: &str) -> Vec<&'static str> {
    let lab = Lab::new(engine);
    let mut checked = Vec::new();
    for name in names() {
        let Some(config) = built_in(name, space).filter(|config| !config.answers()) else {
            continue;
        };
        // The last utterance alone finds nothing in a bank, where it is an answer such as "no".
        if name.starts_with("mtrag") {
            check_mtrag(&lab, &config);
            checked.push(name);
            continue;
        }
        lab.open(&clariq_track_clariq::SAMPLE, &config, "dev", |collection, system| {
            let mut single = requests(collection, "dev", &config);
            // An encoder takes longer than all that is checked here.
            single.truncate(if engine.is_some() { 6 } else { usize::MAX });
            check(system, conversations(&single));
            check(system, single)
        });
        checked.push(name);
    }
    checked
}

/// Checks a system over the requests of the MTRAG sample, together and without those of later
/// turns.
fn check_mtrag(lab: &Lab, config: &SystemConfig) {
    let sight = if config.uses.contains(&Uses::RewritesByPeople) {
        SystemClass::Manual
    } else {
        SystemClass::Automatic
    };
    let sample = DataDir::Folder(root().join("data/sample-mtrag"));
    lab.open(&sample, config, "mtrag", |collection, system| {
        let split = collection.find_split("mtrag").unwrap();
        let seen = collection.requests_seen(split, collection.tasks()[0], sight.into()).unwrap();
        let queries: Vec<UserRequest> = seen.map(|one| one.unwrap().into()).collect();
        let whole = check(system, queries.clone());
        let first: Vec<UserRequest> =
            queries.into_iter().filter(|query| query.request.turns().count() == 0).collect();
        let found = rank(system, &[first]);
        assert!(!found.is_empty() && found.len() < whole.len());
        assert_same(&config.name, &found, &whole);
        whole
    });
}

/// Checks every built-in system that answers, over all turns. Topics that end early or lack other
/// conversations get the same.
pub(crate) fn check_answering(engine: Option<&dyn Engine>, space: &str) -> Vec<&'static str> {
    let folder = Folder::new();
    folder.write_ikat("whole", |topics| topics.truncate(2));
    folder.write_ikat("early", |topics| {
        topics.truncate(2);
        for conversation in topics {
            conversation["turns"].as_array_mut().unwrap().truncate(3);
        }
    });
    folder.write_ikat("one", |topics| *topics = vec![topics[1].clone()]);
    let split = "2023-test";
    let lab = Lab::new(engine);
    let mut checked = Vec::new();
    for name in names() {
        let Some(config) = built_in(name, space).filter(SystemConfig::answers) else { continue };
        assert!(config.class() != Some(SystemClass::Manual) || name.starts_with("ikat-manual"));
        let data = |name: &str| DataDir::Folder(folder.path(name));
        let whole = lab.open(&data("whole"), &config, split, |collection, system| {
            check(system, requests(collection, split, &config))
        });
        for part in ["early", "one"] {
            let found = lab.open(&data(part), &config, split, |collection, system| {
                rank(system, &[requests(collection, split, &config)])
            });
            assert!(found.len() < whole.len() && !found.is_empty());
            assert_same(name, &found, &whole);
        }
        checked.push(name);
    }
    checked
}
