//! The released files of `CAsT` are read in full.

use crate::released::{file, released};
use clariq_collections::cast::{Cast, Conversation, NO_QUESTION, Topics};
use clariq_collections::clariq::DataDir;
use clariq_core::Speaker;
use clariq_files::Source;
use std::collections::HashSet;
use std::path::Path;

fn topics(folder: &Path, name: &str) -> Topics {
    Topics::read(&file(folder, &format!("{name}.json"))).expect("topics")
}

#[test]
fn topics_of_all_years_are_read_in_full() {
    let Some(folder) = released("cast") else { return };
    let files = [
        ("2019_evaluation_topics_v1.0", (50, 479, 0, 0, 0)),
        ("2020_manual_evaluation_topics_v1.0", (25, 216, 216, 216, 0)),
        ("2021_manual_evaluation_topics_v1.0", (26, 239, 239, 239, 239)),
        ("2022_evaluation_topics_tree_v1.0", (18, 205, 205, 0, 203)),
        ("2022_automatic_evaluation_topics_tree_v1.0", (18, 205, 0, 205, 203)),
        ("2022_evaluation_topics_flattened_duplicated_v1.0", (50, 284, 284, 0, 278)),
    ];
    for (name, expected) in files {
        let topics = topics(&folder, name);
        let turns = || topics.conversations.iter().flat_map(|conversation| &conversation.turns);
        let found = (
            topics.conversations.len(),
            topics.user_turns().count(),
            turns().filter(|turn| turn.resolved.is_some()).count(),
            turns().filter(|turn| turn.rewritten.is_some()).count(),
            turns().filter(|turn| turn.response.is_some()).count(),
        );
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn resolved_utterances_of_2019_find_their_turns() {
    let Some(folder) = released("cast") else { return };
    let mut topics = topics(&folder, "2019_evaluation_topics_v1.0");
    topics
        .add_resolved(&file(&folder, "2019_evaluation_topics_annotated_resolved_v1.0.tsv"))
        .unwrap();
    assert!(topics.conversations.iter().flat_map(|c| &c.turns).all(|turn| turn.resolved.is_some()));
    let stranger = Source::memory("resolved.tsv", *b"999_1\tWhat?\n");
    assert!(topics.add_resolved(&stranger).is_err());
}

#[test]
fn resolved_utterances_of_all_years_stand_behind_what_was_said() {
    let Some(folder) = released("cast") else { return };
    let collection = clariq_collections::open(&DataDir::Folder(folder)).unwrap();
    let turns = collection.resolved_turns().unwrap();
    let of = |year: &str| turns.iter().filter(|turn| turn.id.starts_with(year)).count();
    assert_eq!(["2019/", "2020/", "2021/", "2022/"].map(of), [479, 216, 239, 205]);
    let ids: HashSet<&str> = turns.iter().map(|turn| turn.id.as_str()).collect();
    let conversations: HashSet<&str> =
        turns.iter().map(|turn| turn.conversation.as_str()).collect();
    assert_eq!((ids.len(), conversations.len()), (1139, 50 + 25 + 26 + 18));
    for turn in &turns {
        assert_eq!(turn.said.last().unwrap().speaker, Speaker::User, "{}", turn.id);
        assert!(!turn.resolved.is_empty(), "{}", turn.id);
    }
    let responses = turns.iter().flat_map(|turn| &turn.said);
    let responses: HashSet<&str> = responses
        .filter(|said| said.speaker == Speaker::System)
        .map(|said| said.text.as_str())
        .collect();
    assert!(responses.len() > 300, "{}", responses.len());
}

/// A path of the tree is the flattened conversation that ends at the same turn.
#[test]
fn paths_of_the_tree_are_the_flattened_conversations() {
    let Some(folder) = released("cast") else { return };
    let tree = topics(&folder, "2022_evaluation_topics_tree_v1.0");
    let flat = topics(&folder, "2022_evaluation_topics_flattened_duplicated_v1.0");
    let said = |conversation: &Conversation, index: usize| {
        let said = conversation.said(index).into_iter();
        said.map(|said| format!("{:?}: {}", said.speaker, said.text)).collect::<Vec<_>>()
    };
    let paths: HashSet<Vec<String>> =
        tree.user_turns().map(|(conversation, index)| said(conversation, index)).collect();
    assert_eq!(paths.len(), 205);
    for (conversation, index) in flat.user_turns() {
        let path = said(conversation, index);
        assert!(paths.contains(&path), "{}: {path:#?}", conversation.turns[index].id);
    }
}

#[test]
fn the_organisers_runs_rank_the_pool() {
    let Some(folder) = released("cast") else { return };
    let cast = Cast::open(&DataDir::Folder(folder.clone())).unwrap();
    let pool = cast.questions.rows();
    assert_eq!(pool.len(), 4497);
    assert_eq!((pool[0].id.as_str(), pool[0].text.as_str()), (NO_QUESTION, ""));
    let ids: HashSet<&str> = pool.iter().map(|question| question.id.as_str()).collect();
    let tree = topics(&folder, "2022_automatic_evaluation_topics_tree_v1.0");
    let turns: HashSet<&str> = tree
        .user_turns()
        .map(|(conversation, index)| conversation.turns[index].id.as_str())
        .collect();
    for name in ["bm25_baseline", "miniLM_bert_sample"] {
        let name = format!("2022_mi_ranking_{name}_mi_run.json.gz");
        let bytes = file(&folder, &name).read().unwrap().bytes;
        let run: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let ranked = run["turns"].as_array().unwrap();
        assert_eq!(ranked.len(), 205);
        for turn in ranked {
            assert!(turns.contains(turn["turn_id"].as_str().unwrap()), "{turn}");
            let mut questions = turn["questions"].as_array().unwrap().iter();
            let is_of_pool = |id: &serde_json::Value| ids.contains(id.as_str().unwrap());
            assert!(questions.all(|ranked| is_of_pool(&ranked["question"])), "{turn}");
        }
    }
}

#[test]
fn the_released_folder_is_recognised_and_opened() {
    let Some(folder) = released("cast") else { return };
    let data = DataDir::Folder(folder);
    let collection = clariq_collections::open(&data).unwrap();
    assert_eq!((collection.kind(), collection.splits()), ("CAsT", &["2022"][..]));
    let task = collection.tasks()[0];
    let requests: Vec<_> =
        collection.requests("2022", task).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!((requests.len(), requests[0].id.as_str()), (205, "132_1-1"));
    assert!(requests.iter().all(|request| !request.opening().is_empty()));
    let documents = collection.documents(task).unwrap();
    assert_eq!(documents.silence(), documents.find(NO_QUESTION));
    assert!(collection.qrels("2022", task).unwrap().is_none());
    assert!(collection.find_split("dev").unwrap_err().expected.contains("`2022`"));
    let report = clariq_collections::check(&data).unwrap();
    assert_eq!((report.files.len(), report.absent.len()), (8, 0));
    assert_eq!(report.findings.iter().count(), 0);
}
