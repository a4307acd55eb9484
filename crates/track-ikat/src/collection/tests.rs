use super::*;
use clariq_collections::DataDir;
use serde_json::json;

fn sample() -> Ikat {
    Ikat::open(SAMPLE, None).unwrap()
}

#[test]
fn a_request_has_what_its_class_may_see() {
    let sample = sample();
    let split = splits::TEST_2023;
    let requests = |task, class: SystemClass| -> Vec<Request> {
        let requests = sample.requests_seen(split, task, class.into()).unwrap();
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
    let split = splits::TEST_2023;
    let bank = sample.ranked_in(STATEMENTS);
    let requests: Vec<Request> =
        sample.requests(split, STATEMENTS).unwrap().map(Result::unwrap).collect();
    for (request, (conversation, _)) in requests.iter().zip(sample.topics(split).unwrap().turns()) {
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
    let topics = json!([{"number": "1-1", "title": "t", "ptkb": {"1": "I ride."}, "turns": turns}]);
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
            .requests_seen(KIND.find_split("2025").unwrap(), STATEMENTS, seeing(class, earlier))
            .unwrap();
        let shown = requests.map(|request| {
            let Request { id, said, candidates, .. } = request.unwrap();
            let names = candidates.unwrap().into_iter().map(|doc| {
                let name = ikat.name_in_runs(id.as_str(), STATEMENTS, &bank.id(doc)).into_owned();
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
            splits::TEST_2023,
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
        let qrels = sample.qrels(splits::TEST_2023, task).unwrap().unwrap();
        for (_, judgements) in qrels.topics() {
            let bank = sample.ranked_in(task);
            let mut documents = judgements.documents();
            assert!(documents.all(|(id, _)| bank.find(id.as_str()).is_some()), "{task}");
        }
    }
    assert!(sample.requests(KIND.find_split("2024").unwrap(), PASSAGES).is_err());
}

#[test]
fn the_limit_of_responses_is_that_of_the_year() {
    let sample = sample();
    let limits = KIND.splits.iter().map(|split| sample.response_limit(*split).unwrap());
    let limits: Vec<_> = limits.map(|limit| (limit.tokens, limit.together)).collect();
    assert_eq!(limits, [(250, false), (250, false), (250, false), (250, true)]);
}
