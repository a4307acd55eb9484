//! A made-up release in all of its forms: six domains, packed and plain passages, both spellings of
//! ids and both kinds of `Collection`, among the other files of the repository.

use crate::common::{copy, open, write};
use clariq_collections::evaluation::{Answers, ScoreCell, ScoreOptions};
use clariq_collections::{Collection, DataDir, OfficialVerdict, Split, ValidationOptions};
use clariq_core::Documents;
use clariq_files::Source;
use clariq_track_mtrag::{Domain, KIND, Mtrag, PASSAGES, splits};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use zip::write::FileOptions;

/// The domains of MTRAG with the names of their collections in its files.
const MTRAG: [(&str, &str); 4] = [
    ("clapnq", "mt-rag-clapnq-elser-512-100-20240503"),
    ("cloud", "mt-rag-ibmcloud-elser-512-100-20240502"),
    ("fiqa", "mt-rag-fiqa-beir-elser-512-100-20240501"),
    ("govt", "mt-rag-govt-elser-512-100-20240611"),
];

/// The domains of MTRAG-UN as its files call them.
const MTRAG_UN: [&str; 6] = ["clapnq", "ibmcloud", "fiqa", "govt", "banking", "telco"];

const LABELS: [&str; 4] = ["ANSWERABLE", "PARTIAL", "UNANSWERABLE", "UNDERSPECIFIED"];

fn passage_id(domain: &str, number: usize) -> String {
    format!("{}-{number}-0-{}", domain.strip_prefix("ibm").unwrap_or(domain), number + 90)
}

/// The passages of a domain; the word `keyN` is in the passage N alone.
fn passages(domain: &str) -> String {
    let mut all = Vec::new();
    for number in 0..8 {
        let title = format!("Title {number}");
        let text = format!("{title}\nkey{number} of {domain}");
        let id = passage_id(domain, number);
        all.push(json!({ "id": id, "_id": id, "url": "", "text": text, "title": title }));
    }
    // Python's `json` writes a missing title so.
    lines(&all).replace("\"Title 7\"", "NaN")
}

fn write_zip(folder: &Path, name: &str, member: &str, text: &str) {
    write(folder, name, "");
    let mut archive = zip::ZipWriter::new(File::create(folder.join(name)).unwrap());
    let options = FileOptions::default();
    for (member, text) in [(format!("__MACOSX/._{member}"), "\0"), (member.to_owned(), text)] {
        archive.start_file(member, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
}

/// A task whose last utterance has the word of one passage.
fn task(id: &str, collection: &str, domain: &str, number: usize, label: &str) -> Value {
    let context = |number| {
        json!({
            "document_id": passage_id(domain, number), "text": "words of the reference",
            "title": "", "source": "", "score": 12.5, "feedback": { "relevant": { "a": { "value": "yes" } } },
        })
    };
    let input = json!([
        { "speaker": "user", "text": "hello?", "metadata": { "author_type": "human" } },
        { "speaker": "agent", "text": "hello", "metadata": {} },
        { "speaker": "user", "text": format!("what of key{number}?"), "metadata": {} },
    ]);
    json!({
        "conversation_id": id.split(':').next(), "task_id": id, "task_type": "rag", "turn": "2",
        "dataset": "made up", "contexts": [context(number), context(number + 1)], "input": input,
        "targets": [{ "speaker": "agent", "text": "which one?" }], "answerability": [label],
        "Question Type": ["Factoid"], "Multi-Turn": ["Follow-up"], "No. References": "Multiple (2)",
        "Collection": collection,
    })
}

fn lines(values: &[Value]) -> String {
    let lines: Vec<String> = values.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

/// Writes the whole release.
pub(crate) fn write_release(folder: &Path) {
    let mut tasks = Vec::new();
    for (domain, collection) in MTRAG {
        let mut forms = ["questions", "lastturn", "rewrite"].map(|form| (form, Vec::new()));
        let mut qrels = vec!["query-id\tcorpus-id\tscore".to_owned()];
        for (number, label) in LABELS[..3].iter().enumerate() {
            let key = format!("{domain}{number}");
            tasks.push(task(&format!("{key}::2"), collection, domain, number, label));
            if number > 1 {
                continue;
            }
            let texts = [
                format!("|user|: hello?\n|user|: what of key{number}?"),
                format!("|user|: what of key{number}?"),
                format!("|user|: what is key{number} of {domain}?"),
            ];
            for ((_, of_form), text) in forms.iter_mut().zip(texts) {
                of_form.push(json!({ "_id": format!("{key}<::>2"), "text": text }));
            }
            qrels.push(format!("{key}<::>2\t{}\t1", passage_id(domain, number)));
        }
        for (form, of_form) in forms {
            write(
                folder,
                &format!("mtrag-human/retrieval_tasks/{domain}/{domain}_{form}.jsonl"),
                &lines(&of_form),
            );
        }
        write(
            folder,
            &format!("mtrag-human/retrieval_tasks/{domain}/qrels/dev.tsv"),
            &qrels.join("\n"),
        );
    }
    for name in ["reference", "reference+RAG", "RAG"] {
        // Python's `json` writes scores that are not known in this way.
        let text = lines(&tasks).replacen("12.5", "NaN", 1);
        write(folder, &format!("mtrag-human/generation_tasks/{name}.jsonl"), &text);
    }
    let mut tasks = Vec::new();
    for domain in MTRAG_UN {
        let mut qrels = vec!["query-id\tcorpus-id\tscore".to_owned()];
        for (number, label) in LABELS.iter().enumerate() {
            let id = format!("un{domain}{number}<::>2");
            tasks.push(task(&id, domain, domain, number, label));
            if number < 2 {
                qrels.push(format!("{id}\t{}\t1", passage_id(domain, number)));
            }
        }
        // The two last domains have none that were released.
        if !["banking", "telco"].contains(&domain) {
            let domain = domain.strip_prefix("ibm").unwrap_or(domain);
            write(
                folder,
                &format!("mtragun-human/retrieval_tasks/qrels/{domain}.tsv"),
                &qrels.join("\n"),
            );
        }
    }
    write(folder, "mtragun-human/generation_tasks/reference.jsonl", &lines(&tasks));
    let corpora = "corpora/passage_level";
    write_zip(folder, &format!("{corpora}/clapnq.jsonl.zip"), "clapnq.jsonl", &passages("clapnq"));
    write_zip(folder, &format!("{corpora}/cloud.json.zip"), "cloud.jsonl", &passages("cloud"));
    write_zip(folder, &format!("{corpora}/govt.jsonl.zip"), "govt.jsonl", &passages("govt"));
    write(folder, &format!("{corpora}/fiqa.jsonl"), &passages("fiqa"));
    for (name, text) in [
        ("README.md", "# MTRAG"),
        ("LICENSE", "…"),
        ("corpora/README.md", "# Corpora"),
        ("corpora/document_level/govt.jsonl", "{}"),
        ("mtrag-human/README.md", "# MTRAG"),
        ("mtrag-human/conversations/conversations.json", "[{\"messages\": []}]"),
        ("mtrag-human/evaluations/x.json", "{}"),
        ("mtrag-human/retrieval_tasks/README.md", "# Retrieval"),
        ("mtrag-synthetic/generation_tasks/reference.jsonl", "{}"),
        ("mtragun-human/README.md", "# MTRAG-UN"),
        ("scripts/evaluation/run_retrieval_eval.py", "print()"),
    ] {
        write(folder, name, text);
    }
}

/// A submission to Task A that finds the passage of each request.
pub(crate) fn submission(mtrag: &Mtrag, split: Split) -> String {
    let mut answers = Vec::new();
    for request in mtrag.requests(split, PASSAGES).unwrap() {
        let request = request.unwrap();
        let part = mtrag.part_of(PASSAGES, request.id.as_str()).unwrap();
        let last = request.last_said();
        let key = last.trim_start_matches("what of key").trim_end_matches('?');
        let id = passage_id(part.task.name(), key.parse().unwrap());
        let contexts = json!([{ "document_id": id, "score": 1.5, "text": "" }]);
        answers.push(json!({ "task_id": request.id, "Collection": "x", "contexts": contexts }));
    }
    lines(&answers)
}

/// The domains of a table with their passages and counts, and the last figure of each row.
fn figures(mtrag: &Mtrag, split: Split, file: &Path) -> Vec<String> {
    let collection: &dyn Collection = mtrag;
    let evaluation = collection.evaluation(split).unwrap();
    let file = Source::new(file);
    let result = evaluation.cases(Answers::File(&file), &ScoreOptions::default()).unwrap();
    let show = |cell: &ScoreCell| match cell {
        ScoreCell::Text(text) => text.clone(),
        ScoreCell::Count(count) => count.to_string(),
        ScoreCell::Score(figure, _) => format!("{figure:.1}"),
        ScoreCell::Empty => "-".to_owned(),
    };
    let rows = result.tables[0].rows.iter();
    rows.map(|row| row[..5].iter().map(show).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn the_whole_release_is_read_scored_and_validated() {
    let folder = tempfile::tempdir().unwrap();
    write_release(folder.path());
    let report = (KIND.check)(&DataDir::Folder(folder.path().to_owned())).unwrap();
    let found: Vec<String> =
        report.findings.iter().map(|finding| finding.to_problem().to_string()).collect();
    assert_eq!(found, [""; 0]);
    assert_eq!(report.files.len(), 2 + 12 + 8 + 4);
    assert_eq!(
        report.absent,
        ["corpora/passage_level/banking.jsonl.zip", "corpora/passage_level/telco.jsonl.zip"]
    );
    let mtrag = open(folder.path());
    let [human, un] = splits::ALL;
    let find = |task| (&mtrag as &dyn Collection).find_task(task).unwrap();
    let counts = ["banking", "clapnq", "cloud", "fiqa", "govt", "telco", "passages"]
        .map(|task| mtrag.documents(find(task)).unwrap().len());
    assert_eq!(counts, [5, 8, 8, 8, 8, 5, 42], "two domains have the passages of references");
    assert_eq!(mtrag.remark(human), None);
    assert!(mtrag.remark(un).unwrap().starts_with("the passages of banking, telco are"));
    let named = mtrag.statistics().unwrap().named;
    assert_eq!(named["splits"]["mtrag"]["requests"], 12);
    assert_eq!(named["splits"]["mtrag"]["rewritten"], 8);
    assert_eq!(named["splits"]["mtrag-un"]["answerability"]["UNDERSPECIFIED"], 6);
    for (split, expected) in [
        (
            human,
            &[
                "clapnq collection 3 2 1.0",
                "cloud collection 3 2 1.0",
                "fiqa collection 3 2 1.0",
                "govt collection 3 2 1.0",
                "all collection 12 8 1.0",
            ][..],
        ),
        (
            un,
            &[
                "clapnq collection 4 2 1.0",
                "cloud collection 4 2 1.0",
                "fiqa collection 4 2 1.0",
                "govt collection 4 2 1.0",
                "all collection 16 8 1.0",
            ][..],
        ),
    ] {
        let name = format!("{split}.jsonl");
        write(folder.path(), &name, &submission(&mtrag, split));
        let file = folder.path().join(&name);
        assert_eq!(figures(&mtrag, split, &file), expected);
        let options = ValidationOptions::new(&|_| 0, 0);
        let data = DataDir::Folder(folder.path().to_owned());
        let validation =
            (KIND.validate)(&data, split.name(), &Source::new(&file), &options).unwrap();
        assert_eq!(validation.verdict, OfficialVerdict::Accepted { warnings: 0 });
    }
    let manual =
        mtrag.requests_seen(human, find("fiqa"), clariq_collections::SystemClass::Manual.into());
    let first = manual.unwrap().next().unwrap().unwrap();
    assert_eq!(first.last_said(), "what is key0 of fiqa?");
}

#[test]
fn pieces_may_be_missing() {
    let remaining = |removed: &[&str]| -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        write_release(folder.path());
        for name in removed {
            fs::remove_dir_all(folder.path().join(name)).unwrap();
        }
        let mtrag = open(folder.path());
        let mut found = Vec::new();
        for split in splits::ALL.into_iter().filter(|split| mtrag.has(*split)) {
            let requests = mtrag.requests(split, PASSAGES).unwrap().count();
            let judged = mtrag.qrels(split, PASSAGES).unwrap();
            let judged = judged.map_or(0, |qrels| qrels.topics().count());
            let passages = mtrag.documents(PASSAGES).map_or(0, Documents::len);
            found.push(format!("{split}: {requests} {judged} {passages}"));
        }
        found
    };
    assert_eq!(remaining(&["corpora"]), ["mtrag: 12 8 30", "mtrag-un: 24 8 30"]);
    assert_eq!(remaining(&["mtrag-human"]), ["mtrag-un: 24 8 42"]);
    assert_eq!(
        remaining(&["mtrag-human/generation_tasks", "mtragun-human"]),
        ["mtrag: 8 8 32"],
        "requests that only retrieval_tasks has"
    );
    assert_eq!(
        remaining(&["mtragun-human/retrieval_tasks", "mtrag-human/retrieval_tasks"]),
        ["mtrag: 12 0 42", "mtrag-un: 24 0 42"]
    );
    assert_eq!(
        remaining(&["mtrag-human/generation_tasks", "mtragun-human", "corpora"]),
        ["mtrag: 8 8 0"]
    );
}

#[test]
fn an_unpacked_file_beside_its_archive_is_read_and_any_other_pair_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_release(folder.path());
    let refused = || {
        let opened = Mtrag::open(DataDir::Folder(folder.path().to_owned()), None);
        let found = opened.err()?.to_problem().found;
        Some(found.replace(&format!("{}/", folder.path().display()), ""))
    };
    // As README tells: "download and uncompress".
    write(folder.path(), "corpora/passage_level/cloud.jsonl", &passages("cloud"));
    assert_eq!(refused(), None);
    assert_eq!(open(folder.path()).documents(Domain::Cloud.task()).unwrap().len(), 8);
    write(folder.path(), "corpora/passage_level/cloud.jsonl", &passages("govt"));
    assert_eq!(
        refused().unwrap(),
        "`corpora/passage_level/cloud.jsonl` and `corpora/passage_level/cloud.json.zip`"
    );
    fs::remove_file(folder.path().join("corpora/passage_level/cloud.jsonl")).unwrap();
    write(folder.path(), "mtragun-human/retrieval_tasks/qrels/ibmcloud.tsv", "");
    assert_eq!(
        refused().unwrap(),
        "`mtragun-human/retrieval_tasks/qrels/cloud.tsv` and \
         `mtragun-human/retrieval_tasks/qrels/ibmcloud.tsv`"
    );
}

#[test]
fn the_earlier_name_of_a_folder_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_release(folder);
    let ids = || -> Vec<String> {
        let mtrag = open(folder);
        let requests = mtrag.requests(splits::MTRAG, PASSAGES).unwrap();
        requests.map(|request| request.unwrap().id.as_str().to_owned()).collect()
    };
    let before = ids();
    fs::rename(folder.join("mtrag-human"), folder.join("human")).unwrap();
    assert_eq!(ids(), before);
    copy(&folder.join("human"), &folder.join("mtrag-human"));
    write(folder, "mtrag-human/retrieval_tasks/govt/govt_lastturn.jsonl", "{}");
    let both = Mtrag::open(DataDir::Folder(folder.to_owned()), None).map(|_| ());
    let both = both.unwrap_err().to_string();
    assert!(both.contains("/mtrag-human/retrieval") && both.contains("/human/retrieval"), "{both}");
}
