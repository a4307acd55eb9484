//! The released files. The tests are skipped without them.

use crate::common::{open, released};
use clariq_collections::{Collection, DataDir};
use clariq_track_mtrag::{Domain, KIND, Mtrag, PASSAGES, splits};

#[test]
fn two_domains_are_read_as_they_were_released() {
    let Some(folder) = released() else { return };
    let mtrag: Mtrag = open(&folder);
    let count = |task| mtrag.documents(task).unwrap().len();
    assert_eq!(
        (count(Domain::Clapnq.task()), count(Domain::Govt.task()), count(PASSAGES)),
        (312, 435, 747)
    );
    assert!(mtrag.remark(splits::MTRAG_UN).is_some());
    let named = mtrag.statistics().unwrap().named;
    let un = &named["splits"]["mtrag-un"];
    let answerability: Vec<(&str, u64)> = un["answerability"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, count)| (name.as_str(), count.as_u64().unwrap()))
        .collect();
    assert_eq!(
        answerability,
        [("ANSWERABLE", 153), ("PARTIAL", 35), ("UNANSWERABLE", 49), ("UNDERSPECIFIED", 62)]
    );
    assert_eq!((&un["requests"], &un["judged_requests"]), (&299.into(), &188.into()));
    assert_eq!(named["splits"]["mtrag"]["rewritten"], 409);
    let requests = mtrag.requests(splits::MTRAG, PASSAGES).unwrap();
    for request in requests {
        let request = request.unwrap();
        assert!(request.said.iter().all(|said| !said.text.contains("|user|")), "{}", request.id);
    }
    let report = (KIND.check)(&DataDir::Folder(folder)).unwrap();
    assert!(!report.findings.has_errors());
}
