//! Trouble that people reported in public with tools of this kind, tried here. All inputs were made for
//! these tests; a test's name is the right outcome. `crates/runner/tests/it/public_reports.rs` has those
//! of the command itself.
//!
//! | reported | input | right |
//! |---|---|---|
//! | `xhluca/bm25s#116`: `k` above the number of documents is an error | depth 30, two documents | those that share a word |
//! | `dorianbrown/rank_bm25#36`, `deepset-ai/haystack#11598`: division by zero | no documents; documents without words | an error that names the folder; no hits |
//! | `cvangysel/pytrec_eval#49`: a topic without relevant documents spoils the topics after it | grades of 0 alone | 0 for that topic, the others unchanged |
//! | `usnistgov/trec_eval#22`: ties | equal scores in two orders | descending id, whatever the file's order |
//! | `cvangysel/pytrec_eval#50`: a document twice in a run | the relevant one twice | it counts once, with a warning |
//! | `cvangysel/pytrec_eval#30`: topics that the run lacks | one of two topics | it counts 0 |
//! | `beir-cellar/beir#212`: every rank is 0 | ranks 0, falling scores | the order of the scores |
//! | `terrier-org/pyterrier#253`, #376, #174: quotes and signs in requests | `'`, `?`, `{`, `/`, `"` | ranked as words |
//! | `castorini/anserini#961`: a document without `contents` ends the indexer | `{"id": …}` | an error with file and line |
//! | `castorini/anserini#258`: a document twice in a collection | one id, two lines | an error with both lines |
//! | `beir-cellar/beir#101`: judged documents that the corpus lacks | one such judgement | it counts as missed, with a warning |
//! | `joaopalotti/trectools#47`: grades with a fraction | `0.5` | an error with file and line |
//! | `facebookresearch/faiss`: distances as scores | scores that rise with the ranks | a warning |
//! | `beir-cellar/beir`: pandas wrote the judgements | grades `1.0` | the whole number |
//! | `AmenRa/ranx`, R's `write.table`: ids in quotes | `"q1"` | an error that names the quotes |
//! | `terrier-org/pyterrier`: ids of another column (`docid` for `docno`) | no id is judged | 0, with a warning |
//! | `microsoft/MSMARCO-Document-Ranking`: a table of four columns | `id`, `url`, `title`, `body` | an error that names the columns |
//! | `git-lfs`: a clone without its large files | a pointer for the corpus | an error that names it |

use crate::common::{Folder, Work};
use clariq_collections::DataDir;
use clariq_collections::evaluation::{Answers, ByQrels, Cases, Evaluation, ScoreOptions};
use clariq_core::Error;
use clariq_eval::parse_measures;
use clariq_experiment::run::RequestFileKind;
use clariq_files::Source;
use clariq_tracks::TRACKS;
use std::fmt::Write as _;

const DOCUMENTS: &str = "{\"_id\":\"d1\",\"title\":null,\"text\":\"green tea\"}\n\
                         {\"_id\":\"d2\",\"title\":\"\",\"text\":\"hot milk\"}\n";

fn with_data(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    for (name, text) in files {
        folder.write(&format!("data/{name}"), text);
    }
    folder
}

fn data(folder: &Folder) -> DataDir {
    DataDir::Folder(folder.path("data"))
}

/// The run of a system over the split `test`.
fn run(folder: &Folder, system: &str) -> String {
    let output = format!("{system}.run");
    Work::on(folder, "data", "test").run(system, &output).unwrap();
    folder.text(&output)
}

/// The documents of a run, in the order of its lines.
fn documents_of(run: &str) -> Vec<&str> {
    run.lines().map(|line| line.split(' ').nth(2).unwrap()).collect()
}

fn score(
    evaluation: &dyn Evaluation,
    folder: &Folder,
    run: &str,
    measure: &str,
) -> Result<Cases, Error> {
    let measures = parse_measures(measure).unwrap();
    let file = Source::new(folder.path(run));
    let by = ScoreOptions { measures: &measures, ..ScoreOptions::default() };
    evaluation.cases(Answers::File(&file), &by)
}

/// The value of a measure for judgements and a run, and the warnings.
fn value(qrels: &str, run: &str, measure: &str) -> (f64, Vec<String>) {
    let folder = Folder::new();
    folder.write("a.qrels", qrels);
    folder.write("a.run", run);
    let by_qrels = ByQrels::read(&Source::new(folder.path("a.qrels"))).unwrap();
    let scored = score(&by_qrels, &folder, "a.run", measure).unwrap();
    (scored.scores[0].value(), scored.warnings)
}

/// The value of a measure for a run over the split `test`, and the warnings.
fn value_of_test(folder: &Folder, run: &str, measure: &str) -> (f64, Vec<String>) {
    let collection = TRACKS.open(&data(folder)).unwrap();
    let evaluation = collection.evaluation(collection.find_split("test").unwrap()).unwrap();
    let scored = score(&*evaluation, folder, run, measure).unwrap();
    (scored.scores[0].value(), [evaluation.warnings(), &scored.warnings].concat())
}

#[test]
fn a_depth_above_the_number_of_documents_gives_all_that_share_a_word() {
    let folder = with_data(&[("corpus.jsonl", DOCUMENTS), ("queries.test.tsv", "q1\ttea\n")]);
    assert_eq!(documents_of(&run(&folder, "bm25-english")), ["d1"]);
}

#[test]
fn no_documents_are_an_error_and_documents_without_words_are_no_hits() {
    let empty = with_data(&[("corpus.jsonl", ""), ("queries.test.tsv", "q1\ttea\n")]);
    let refused = TRACKS.open(&data(&empty)).err().unwrap().to_problem();
    assert!(refused.at.file.starts_with(&*empty.path("data").display().to_string()), "{refused}");
    let blank = with_data(&[
        ("corpus.jsonl", "{\"_id\":\"d1\",\"text\":\"\"}\n{\"_id\":\"d2\",\"text\":\"?!\"}\n"),
        ("queries.test.tsv", "q1\ttea\n"),
    ]);
    for system in ["bm25", "bm25-english", "ql", "rm3"] {
        let refused = Work::on(&blank, "data", "test").run(system, "a.run").unwrap_err();
        let found = refused.to_problem().found;
        assert!(found.starts_with("nothing for any of 1 request of "), "{system}: {found}");
    }
}

#[test]
fn a_topic_without_relevant_documents_changes_no_other() {
    let qrels = "q1 0 a 0\nq2 0 a 1\nq3 0 b 1\nq3 0 c 1\n";
    let run = "q1 0 a 1 2 t\nq2 0 b 1 2 t\nq2 0 a 2 1 t\nq3 0 b 1 2 t\nq3 0 c 2 1 t\n";
    assert_eq!(value(qrels, run, "RR").0, 0.5);
}

#[test]
fn ties_are_ordered_by_descending_id_whatever_the_order_of_the_file() {
    let qrels = "1 0 a 0\n1 0 b 1\n1 0 c 0\n";
    assert_eq!(value(qrels, "1 0 b 1 1.0 t\n1 0 a 2 1.0 t\n", "nDCG").0, 1.0);
    for run in ["1 0 b 1 1.0 t\n1 0 c 2 1.0 t\n", "1 0 c 1 1.0 t\n1 0 b 2 1.0 t\n"] {
        assert_eq!(value(qrels, run, "nDCG").0, 0.630_929_753_571_457_5);
    }
}

#[test]
fn a_document_twice_in_a_run_counts_once_with_a_warning() {
    let run = "1 0 a 1 3 t\n1 0 a 2 2 t\n1 0 b 3 1 t\n";
    let (figure, warnings) = value("1 0 a 1\n1 0 b 1\n", run, "nDCG");
    assert_eq!(figure, 1.0);
    assert!(warnings[0].contains("repeats a document"), "{warnings:?}");
}

#[test]
fn a_topic_that_the_run_lacks_counts_0() {
    assert_eq!(value("1 0 a 1\n2 0 a 1\n", "1 0 a 1 3 t\n", "RR").0, 0.5);
}

#[test]
fn ranks_are_not_read() {
    let run = "1 Q0 b 0 1.5 beir\n1 Q0 a 0 2.5 beir\n";
    assert_eq!(value("1\t0\ta\t1\n", run, "RR").0, 1.0);
}

#[test]
fn quotes_and_signs_in_requests_are_no_operators() {
    let requests = "q1\tQueen 's tea?\nq2\t{tea} / \"milk\nq3\ttea -milk +green ~*\n";
    let folder = with_data(&[("corpus.jsonl", DOCUMENTS), ("queries.test.tsv", requests)]);
    let run = run(&folder, "bm25-english");
    assert_eq!(documents_of(&run), ["d1", "d2", "d1", "d1", "d2"]);
}

#[test]
fn a_document_without_a_text_and_one_with_a_repeated_id_are_errors_with_their_lines() {
    for (line, expected) in [
        ("{\"_id\":\"d3\"}\n", "a key `contents` or `text`"),
        ("{\"_id\":\"d1\",\"text\":\"x\"}\n", "an id that no other document has"),
    ] {
        let folder = with_data(&[("corpus.jsonl", &format!("{DOCUMENTS}{line}"))]);
        let report = TRACKS.check(&data(&folder)).unwrap();
        let problem = &report.findings.iter().next().unwrap().first;
        assert!(problem.at.file.ends_with("data/corpus.jsonl"), "{problem}");
        assert_eq!((problem.at.line, &*problem.expected), (Some(3), expected));
    }
}

#[test]
fn a_judged_document_that_the_collection_lacks_counts_as_missed() {
    let folder = with_data(&[
        ("corpus.jsonl", DOCUMENTS),
        ("queries.jsonl", "{\"_id\":\"q1\",\"text\":\"tea\"}\n"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\tgone\t1\n"),
    ]);
    run(&folder, "bm25-english");
    let (figure, warnings) = value_of_test(&folder, "bm25-english.run", "R@5");
    assert_eq!(figure, 0.5);
    assert!(warnings[0].contains("`gone`"), "{warnings:?}");
}

#[test]
fn a_grade_with_a_fraction_is_an_error_with_its_line() {
    let folder = Folder::new();
    folder.write("a.qrels", "1 0 a 1\n1 0 b 0.5\n");
    let refused = ByQrels::read(&Source::new(folder.path("a.qrels"))).err().unwrap().to_problem();
    assert!(refused.at.file.ends_with("a.qrels") && refused.at.line == Some(2), "{refused}");
}

#[test]
fn distances_in_place_of_scores_are_warned_of() {
    let (figure, warnings) = value("1 0 a 1\n", "1 0 a 1 .2 t\n1 0 b 2 .7 t\n", "RR");
    assert_eq!(figure, 0.5);
    let what =
        "the scores rise with the ranks, and the order is that of the scores: are they distances?";
    assert_eq!(warnings, [what]);
}

#[test]
fn a_run_without_scores_is_warned_of() {
    let (figure, warnings) = value("1 0 a 1\n", "1 0 a 1 0 t\n1 0 b 2 0 t\n2 0 a 1 0 t\n", "RR");
    assert_eq!(figure, 0.5);
    assert_eq!(warnings.last().unwrap(), clariq_collections::evaluation::ONE_SCORE);
    let some = "1 0 a 1 0 t\n1 0 b 2 0 t\n2 0 a 1 2 t\n2 0 b 2 1 t\n";
    assert_eq!(value("1 0 a 1\n2 0 a 1\n", some, "RR").1, [""; 0]);
}

#[test]
fn a_run_of_which_nothing_is_judged_is_warned_of() {
    let (figure, warnings) = value("1 0 a 1\n", "1 0 17 1 .7 t\n1 0 18 2 .2 t\n", "RR");
    let what = "no document of the run is judged: are its ids those of the judgements?";
    assert_eq!((figure, warnings), (0.0, vec![what.to_owned()]));
}

#[test]
fn ids_in_quotes_are_named() {
    let folder = Folder::new();
    folder.write("a.qrels", "q1 0 a 1\n");
    folder.write("a.run", "\"q1\" \"Q0\" \"a\" 1 2.5 \"t\"\n");
    let by_qrels = ByQrels::read(&Source::new(folder.path("a.qrels"))).unwrap();
    let refused = score(&by_qrels, &folder, "a.run", "RR").err().unwrap().to_problem();
    assert!(refused.hint.starts_with("the quotes would be a part of the ids"), "{refused}");
}

#[test]
fn whole_grades_of_pandas_are_read() {
    assert_eq!(value("1 0 a 1.0\n1 0 b 0.0\n", "1 0 a 1 3 t\n", "RR").0, 1.0);
}

#[test]
fn equal_texts_are_ranked_once_each() {
    let mut documents = String::new();
    for number in 0..200 {
        let _ = writeln!(documents, "{{\"id\": \"river{number}\", \"text\": \"lake {number}\"}}");
    }
    for number in 0..60 {
        let _ =
            writeln!(documents, "{{\"id\": \"gone{number}\", \"text\": \"This page is gone.\"}}");
    }
    let requests = "{\"id\":\"1\",\"text\":\"page gone\"}\n";
    let folder = with_data(&[("documents.jsonl", &documents), ("requests.test.jsonl", requests)]);
    let run = run(&folder, "bm25");
    let mut found = documents_of(&run);
    assert_eq!((found.len(), found[0]), (30, "gone9"));
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 30);
}

#[test]
fn ids_that_begin_with_a_hash_are_scored() {
    let requests = "{\"_id\":\"#tea\",\"text\":\"tea\"}\n{\"_id\":\"q2\",\"text\":\"milk\"}\n";
    let folder = with_data(&[
        ("corpus.jsonl", DOCUMENTS),
        ("queries.jsonl", requests),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n#tea\td1\t1\n#tea\td2\t1\nq2\td2\t1\n"),
    ]);
    folder.write("a.run", "# made by hand\n#tea Q0 d1 1 2 t\nq2 Q0 d2 1 2 t\n");
    let (figure, warnings) = value_of_test(&folder, "a.run", "R@5");
    assert_eq!(figure, 0.75);
    assert!(warnings[0].contains("1 line begins with `#` and is a comment"), "{warnings:?}");
    assert!(run(&folder, "bm25-english").starts_with("#tea 0 d1 1 "));
}

#[test]
fn a_run_in_json_is_named_as_such() {
    let folder = with_data(&[
        ("corpus.jsonl", DOCUMENTS),
        ("queries.dev.tsv", "q1\ttea\n"),
        ("qrels.dev.txt", "q1 0 d1 1\n"),
    ]);
    folder.write("run.json", "{\"q1\":{\"d1\":2.5}}\n");
    let collection = TRACKS.open(&data(&folder)).unwrap();
    let of_split = collection.evaluation(collection.find_split("dev").unwrap()).unwrap();
    let of_file = ByQrels::read(&Source::new(folder.path("data/qrels.dev.txt"))).unwrap();
    for evaluation in [&*of_split, &of_file] {
        let refused = score(evaluation, &folder, "run.json", "nDCG@10").err().unwrap();
        let found = "a JSON object, such as {\"topic\": {\"document\": score}}";
        assert_eq!(refused.to_problem().found, found);
    }
}

#[test]
fn requests_of_beir_and_tables_are_ranked() {
    let folder = with_data(&[("corpus.jsonl", DOCUMENTS)]);
    folder.write("q.jsonl", "{\"_id\":\"q1\",\"text\":\"tea\",\"metadata\":{}}\n");
    folder.write("q.tsv", "qid\tquery\r\nq1\ttea\r\n");
    let work = Work::outside(&folder, data(&folder));
    let rank = |file: &str| {
        let file = (file, RequestFileKind::Requests);
        work.run_file("bm25-english", file, false, "a.run").unwrap();
        folder.text("a.run")
    };
    assert!(rank("q.jsonl").starts_with("q1 0 d1 1 "));
    assert_eq!(rank("q.jsonl"), rank("q.tsv"));
}
