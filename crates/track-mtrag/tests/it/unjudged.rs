//! Domains and folders without judgements, or without passages: two domains of MTRAG-UN have requests
//! alone, and labels in place of judgements decide whether to ask.

use crate::common::{open, write};
use crate::release::{submission, write_release};
use clariq_collections::evaluation::{Answers, Cases, ScoreOptions};
use clariq_collections::{Collection, DataDir, Split};
use clariq_core::Error;
use clariq_eval::{Measure, parse_measures};
use clariq_files::Source;
use clariq_track_mtrag::{Domain, KIND, Mtrag, PASSAGES, splits};
use std::fs;
use std::path::Path;

fn un() -> Split {
    splits::MTRAG_UN
}

fn score(mtrag: &Mtrag, file: &Path, measures: &[Measure]) -> Result<Cases, Error> {
    let collection: &dyn Collection = mtrag;
    let by = ScoreOptions { measures, ..ScoreOptions::default() };
    collection.evaluation(un())?.cases(Answers::File(&Source::new(file)), &by)
}

#[test]
fn domains_of_which_nothing_is_judged_are_named_and_have_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_release(folder);
    let mtrag = open(folder);
    let all = submission(&mtrag, un());
    write(folder, "all.jsonl", &all);
    assert_eq!(
        score(&mtrag, &folder.join("all.jsonl"), &[]).unwrap().warnings,
        ["no request of banking, telco is judged: no figure of a ranking counts them"]
    );
    let of_banking: Vec<&str> = all.lines().filter(|line| line.contains("unbanking")).collect();
    write(folder, "banking.jsonl", &of_banking.join("\n"));
    let refused = score(&mtrag, &folder.join("banking.jsonl"), &[]).err().unwrap().to_problem();
    assert_eq!(
        [refused.expected, refused.found],
        ["answers to judged requests of mtrag-un", "answers to others alone"]
    );
    let by = ScoreOptions { part: Some("telco"), ..ScoreOptions::default() };
    let evaluation = (&mtrag as &dyn Collection).evaluation(un()).unwrap();
    let file = Source::new(folder.join("all.jsonl"));
    let refused = evaluation.cases(Answers::File(&file), &by);
    let refused = refused.err().unwrap().to_problem();
    assert_eq!(refused.expected, "judgements of telco in mtrag-un");
}

#[test]
fn without_judgements_labels_say_whether_to_ask() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_release(folder);
    let judgements = folder.join("mtragun-human/retrieval_tasks");
    fs::remove_dir_all(&judgements).unwrap();
    let mtrag = open(folder);
    let run = folder.join("all.jsonl");
    write(folder, "all.jsonl", &submission(&mtrag, un()));
    let names = |result: Cases| result.tables.iter().map(|table| table.name).collect::<Vec<_>>();
    assert_eq!(names(score(&mtrag, &run, &[]).unwrap()), ["asking"]);
    write(folder, "one.need", "unbanking0<::>2 3\nunbanking3<::>2 1\n");
    assert_eq!(names(score(&mtrag, &folder.join("one.need"), &[]).unwrap()), ["asking"]);
    let refused =
        score(&mtrag, &run, &parse_measures("nDCG@5").unwrap()).err().unwrap().to_problem();
    assert_eq!([refused.expected, refused.found], ["judgements of any domain in mtrag-un", "none"]);
    // A file that cannot be read is not taken for a missing one.
    write(&judgements, "qrels/fiqa.tsv", "query-id\tcorpus-id\tscore\nunfiqa0<::>2\tx\tmany\n");
    let damaged = Mtrag::open(DataDir::Folder(folder.to_owned()), None).unwrap();
    let refused = score(&damaged, &run, &[]).err().unwrap().to_problem();
    assert_eq!(refused.found, "`many`");
}

#[test]
fn a_domain_without_passages_is_not_answered_from_those_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_release(folder);
    let name = "mtragun-human/generation_tasks/reference.jsonl";
    let tasks = fs::read_to_string(folder.join(name)).unwrap();
    let without = |line: &str| {
        if line.contains("\"telco\"") {
            line.replace("\"contexts\":", "\"other\":")
        } else {
            line.to_owned()
        }
    };
    write(folder, name, &tasks.lines().map(without).collect::<Vec<_>>().join("\n"));
    let mtrag = open(folder);
    let part = mtrag.part_of(PASSAGES, "untelco0<::>2").unwrap();
    assert_eq!(part.task, Domain::Telco.task());
    let refused = mtrag.documents(part.task).err().unwrap().to_problem();
    assert_eq!([refused.expected, refused.found], ["passages of telco", "only requests"]);
    let report = (KIND.check)(&DataDir::Folder(folder.to_owned())).unwrap();
    let absent = ["banking", "telco"].map(|name| format!("corpora/passage_level/{name}.jsonl.zip"));
    assert_eq!(report.absent, absent);
}
