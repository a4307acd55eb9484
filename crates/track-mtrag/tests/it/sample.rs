//! The sample is read in all of its forms.

use crate::common::{copy, open, sample, sample_folder};
use clariq_collections::{Collection, DataDir, NeedLabel, SystemClass};
use clariq_core::{Doc, Error, Request, Utterance};
use clariq_track_mtrag::{Domain, KIND, Mtrag, PASSAGES, splits};
use clariq_tracks::TRACKS;
use std::fs;

fn requests(mtrag: &Mtrag, split: &str, task: &str, class: SystemClass) -> Vec<Request> {
    let mtrag: &dyn Collection = mtrag;
    let task = mtrag.find_task(task).unwrap();
    let split = mtrag.find_split(split).unwrap();
    let requests = mtrag.requests_seen(split, task, class.into()).unwrap();
    requests.collect::<Result<_, Error>>().unwrap()
}

fn ids(requests: &[Request]) -> Vec<&str> {
    requests.iter().map(|request| request.id.as_str()).collect()
}

#[test]
fn the_folder_is_recognised() {
    let kind = TRACKS.kind_of(&DataDir::Folder(sample_folder())).unwrap();
    assert_eq!(kind.name, KIND.name);
}

#[test]
fn a_request_is_the_conversation_with_both_speakers() {
    let sample = sample();
    let class = SystemClass::Automatic;
    let un = requests(&sample, "mtrag-un", "passages", class);
    assert_eq!(
        ids(&un),
        [
            "cc01<::>2",
            "cc02<::>2",
            "cc03<::>1",
            "cc04<::>1",
            "dd01<::>2",
            "dd02<::>1",
            "dd03<::>1",
            "dd04<::>2"
        ]
    );
    assert_eq!(
        *un[0].said,
        [
            Utterance::user("Do I need a licence for fishing?"),
            Utterance::system("From the age of sixteen."),
            Utterance::user("what does it cost"),
        ]
    );
    let of_cloud = requests(&sample, "mtrag-un", "cloud", class);
    assert_eq!(ids(&of_cloud), ["dd01<::>2", "dd02<::>1", "dd03<::>1", "dd04<::>2"]);
    assert_eq!(sample.conversation_of("dd01<::>2"), "dd01");
    assert_eq!(sample.turn_before("dd01<::>2", 1).unwrap(), "dd01<::>1");
    assert_eq!(sample.turn_before("dd01<::>2", 2), None);
}

#[test]
fn a_manual_system_sees_rewritten_utterances() {
    let sample = sample();
    let manual = requests(&sample, "mtrag", "govt", SystemClass::Manual);
    assert_eq!(manual[1].id.as_str(), "aa01::2");
    assert_eq!(
        *manual[1].said,
        [
            Utterance::user("how do I get a library card"),
            Utterance::system("Residents get one for free at any branch."),
            Utterance::user("What do visitors pay for a library card?"),
        ]
    );
    let Err(error) = sample.requests_seen(splits::MTRAG_UN, PASSAGES, SystemClass::Manual.into())
    else {
        panic!("no rewritten requests were released for it")
    };
    let expected =
        format!("{}: expected rewritten requests of mtrag-un, found none", sample.location());
    assert_eq!(error.to_string(), expected);
    assert!(error.to_problem().hint.contains("--split mtrag"), "{}", error.to_problem().hint);
}

#[test]
fn without_tasks_requests_are_those_of_retrieval() {
    let folder = tempfile::tempdir().unwrap();
    copy(&sample_folder(), folder.path());
    fs::remove_dir_all(folder.path().join("mtrag-human/generation_tasks")).unwrap();
    let mtrag = open(folder.path());
    let all = requests(&mtrag, "mtrag", "passages", SystemClass::Automatic);
    assert_eq!(
        ids(&all),
        ["bb01<::>1", "bb01<::>2", "aa01<::>1", "aa01<::>2", "aa02<::>1", "aa02<::>2"]
    );
    assert_eq!(
        *all[3].said,
        [Utterance::user("how do I get a library card"), Utterance::user("and visitors?")]
    );
}

#[test]
fn each_domain_has_its_passages_packed_or_plain() {
    let sample = sample();
    let count = |task| sample.documents(task).unwrap().len();
    assert_eq!(
        (count(PASSAGES), count(Domain::Cloud.task()), count(Domain::Govt.task())),
        (13, 6, 7)
    );
    let all = sample.documents(PASSAGES).unwrap();
    assert_eq!((all.id(Doc(0)).as_ref(), all.id(Doc(6)).as_ref()), ("c1-0-70", "g1-0-90"));
    assert_eq!(
        all.text(Doc(0)).unwrap(),
        "Buckets\nA bucket stores objects of up to ten gigabytes. Its name is unique in a region \
         and cannot be changed."
    );
    assert_eq!(all.find("g2-0-80").map(|doc| all.id(doc).into_owned()).as_deref(), Some("g2-0-80"));
    let part = sample.part_of(PASSAGES, "cc01<::>2").unwrap();
    assert_eq!((part.task, part.first), (Domain::Govt.task(), 6));
    assert_eq!(sample.part_of(Domain::Govt.task(), "cc01<::>2"), None);
    assert_eq!(sample.part_of(PASSAGES, "nobody"), None);
    assert_eq!(sample.remark(splits::MTRAG_UN), None);
    assert!(sample.documents(Domain::Telco.task()).is_err());
}

#[test]
fn reference_passages_stand_in_for_missing_collections() {
    let folder = tempfile::tempdir().unwrap();
    copy(&sample_folder(), folder.path());
    fs::remove_file(folder.path().join("corpora/passage_level/govt.jsonl.zip")).unwrap();
    let mtrag = open(folder.path());
    assert_eq!(mtrag.documents(Domain::Govt.task()).unwrap().len(), 7);
    assert_eq!(mtrag.documents(Domain::Cloud.task()).unwrap().len(), 6);
    let remark = mtrag.remark(splits::MTRAG_UN).unwrap();
    let expected = "the passages of govt are those of the references, a substitute for the";
    assert!(remark.starts_with(expected), "{remark}");
    // A packing that is not read, and an explanation.
    for name in ["govt.jsonl.tar.gz", "README.md"] {
        crate::common::write(folder.path(), &format!("corpora/passage_level/{name}"), "");
    }
    let unread = open(folder.path()).unread_files().to_vec();
    assert_eq!(unread, [folder.path().join("corpora/passage_level/govt.jsonl.tar.gz")]);
}

#[test]
fn judgements_are_found_under_both_spellings() {
    let sample = sample();
    let qrels = sample.qrels(splits::MTRAG, PASSAGES).unwrap().unwrap();
    assert_eq!(qrels.topics().count(), 6);
    let judged = qrels.topic(&"aa02::2".into()).unwrap();
    assert_eq!(judged.relevant(1), 2);
    assert_eq!(
        sample.qrels(splits::MTRAG_UN, Domain::Cloud.task()).unwrap().unwrap().topics().count(),
        2
    );
}

#[test]
fn the_sample_has_no_defects() {
    let report = TRACKS.check(&DataDir::Folder(sample_folder())).unwrap();
    let found: Vec<String> =
        report.findings.iter().map(|finding| finding.to_problem().to_string()).collect();
    assert_eq!(found, [""; 0]);
    assert_eq!(report.files.len(), 14);
    assert_eq!(report.absent, [""; 0]);
}

#[test]
fn labels_are_counted() {
    let sample = sample();
    let named = sample.statistics().unwrap().named;
    let un = &named["splits"]["mtrag-un"];
    assert_eq!(un["requests"], 8);
    assert_eq!(un["answerability"]["UNDERSPECIFIED"], 2);
    assert_eq!(un["question_types"]["Factoid"], 5);
    assert_eq!(un["domains"]["cloud"], 4);
    assert_eq!(named["splits"]["mtrag"]["multi_turn"]["Follow-up"], 4);
    let annotation = &sample.annotations(splits::MTRAG_UN).unwrap()[2];
    assert_eq!(annotation.need, Some(NeedLabel::Name("UNDERSPECIFIED".to_owned())));
    assert!(annotation.answer.as_ref().unwrap().ends_with('?'));
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let refused = |line: &str| {
        let folder = tempfile::tempdir().unwrap();
        let name = "mtragun-human/generation_tasks/reference.jsonl";
        crate::common::write(folder.path(), name, line);
        let opened = Mtrag::open(DataDir::Folder(folder.path().to_owned()), None);
        let problem = opened.err().unwrap().to_problem();
        format!("{}: {}, not {}", problem.at.line.unwrap(), problem.expected, problem.found)
    };
    let line = |collection: &str, speaker: &str| {
        format!(
            "\n{{\"task_id\": \"a::1\", \"Collection\": \"{collection}\", \"input\": \
             [{{\"speaker\": \"{speaker}\", \"text\": \"hello\"}}]}}\n"
        )
    };
    assert_eq!(
        refused(&line("wiki", "user")),
        "2: a `Collection` of one of the domains banking, clapnq, cloud, fiqa, govt, telco, not `wiki`"
    );
    assert_eq!(refused(&line("govt", "bot")), "2: the speaker `user` or `agent`, not `bot`");
    assert_eq!(
        refused(&line("govt", "agent")),
        "2: a last utterance of the user in `input`, not one of the agent"
    );
    let twice = line("govt", "user") + &line("govt", "user").replace("a::1", "a<::>1");
    assert_eq!(
        refused(&twice),
        "4: an id that no other task has, not `a<::>1`, which is on line 2 already"
    );
}
