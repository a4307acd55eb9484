//! Labels of 2024 and 2025 are read under their released names and used for scores. The labels here
//! are invented, in the released forms.

use clariq_collections::DataDir;
use clariq_collections::evaluation::{Answers, Cases, ScoreOptions};
use clariq_core::{Error, Severity};
use clariq_eval::Score;
use clariq_files::Source;
use clariq_track_ikat::evaluation::{AssessedBy, IkatEvaluation};
use clariq_track_ikat::{Ikat, KIND};
use clariq_tracks::TRACKS;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const SUN: &str = "clueweb22-en0000-00-00000:3";
const WATER: &str = "clueweb22-en0000-00-00001:0";

struct Data(TempDir);

impl Data {
    /// A folder with a conversation of two turns of each year.
    fn new() -> Self {
        let data = Self(TempDir::new().unwrap());
        let turn = |number: u32, utterance: &str| {
            json!({"turn_id": number, utterance: "What do tomatoes need?",
                   "resolved_utterance": "What do tomatoes need?", "response": "Much."})
        };
        let statements = ["I grow tomatoes.", "I live in a flat."];
        data.put(
            "2024_test_topics.json",
            &json!([{
                "number": 0, "title": "Tomatoes", "ptkb": {"1": statements[0], "2": statements[1]},
                "turns": [turn(1, "utterance"), turn(2, "utterance")],
            }])
            .to_string(),
        );
        data.put(
            "2025_test_topics.json",
            &json!([{
                "number": "1-1", "title": "Tomatoes", "ptkb": statements,
                "responses": [turn(1, "user_utterance"), turn(2, "user_utterance")],
            }])
            .to_string(),
        );
        data
    }

    fn folder(&self) -> DataDir {
        DataDir::Folder(self.0.path().to_owned())
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The labels of both years.
    fn with_labels() -> Self {
        let data = Self::new();
        let none = "clueweb22-en0000-00-00002:0";
        let grades =
            |turn: &str| format!("{turn} 0 {SUN} 2\n{turn} 0 {WATER} 1\n{turn} 0 {none} 0\n");
        data.put("2024_test_qrels.trec", &grades("0_1"));
        let answer =
            |text: &str| json!({"manual": {"nuggets": {"matched": ["Sun."]}, "response": text}});
        let answers = json!({"0_1": answer("Tomatoes need sun."), "0_2": answer("")});
        data.put("gold_response_and_nuggets_human.json", &answers.to_string());
        data.put("qrels-nist.trec", &grades("1-1_1"));
        data.put("qrels-llm.txt", &format!("1-1_1\t{SUN} \t1\n1-1_1\t{WATER}\t3\n"));
        data.put("qrels-ptkb-nist.trec", "1-1_1 0 ptkb-1-1-0 4\n1-1_1 0 ptkb-1-1-1 0\n");
        // Every turn is listed, also one without a relevant statement.
        let organisers = "1-1_1 0 1 0\n1-1_1 0 2 1\n1-1_2 0 1 0\n1-1_2 0 2 0\n";
        data.put("ptkb-relevance-organizers.trec", organisers);
        data.put("gold-response-nist.json", &json!({"1-1_1": "Tomatoes need sun."}).to_string());
        data
    }

    fn score(&self, split: &str, file: &Path) -> Result<Vec<(String, f64)>, String> {
        let ikat = TRACKS.open(&self.folder()).unwrap();
        let split = ikat.find_split(split).unwrap();
        let file = Source::new(file);
        let by = ScoreOptions::default();
        named(ikat.evaluation(split).and_then(|it| it.cases(Answers::File(&file), &by)))
    }

    fn score_with_answers(
        &self,
        split: &str,
        file: &Path,
        answers: &Path,
    ) -> Result<Vec<(String, f64)>, String> {
        let assessed = AssessedBy { answers: Some(answers), ..AssessedBy::default() };
        self.score_assessed(split, file, &assessed)
    }

    fn score_assessed(
        &self,
        split: &str,
        file: &Path,
        assessed: &AssessedBy,
    ) -> Result<Vec<(String, f64)>, String> {
        let ikat = Ikat::open(self.folder(), None).unwrap();
        let evaluation = IkatEvaluation::open(&ikat, KIND.find_split(split).unwrap());
        named(evaluation.and_then(|open| open.score_with(&Source::new(file), &[], assessed)))
    }
}

fn named(scored: Result<Cases, Error>) -> Result<Vec<(String, f64)>, String> {
    let named = |score: &Score| (score.known_as(), score.value());
    scored.map(|it| it.scores.iter().map(named).collect()).map_err(|error| error.to_string())
}

/// A run that ranks the passage of grade 1 first, and answers another turn, which is not judged.
fn trec(data: &Data, turn: &str) -> PathBuf {
    let (conversation, _) = turn.rsplit_once('_').unwrap();
    data.put(
        "r.run",
        &format!("{turn} Q0 {WATER} 1 2 r\n{turn} Q0 {SUN} 2 1 r\n{conversation}_2 Q0 x:1 1 1 r\n"),
    )
}

fn assert_figures(found: &[(String, f64)], expected: &[(&str, f64)]) {
    for (name, expected) in expected {
        let (_, value) = found
            .iter()
            .find(|(known, _)| known == name)
            .unwrap_or_else(|| panic!("no {name} in {found:?}"));
        assert!((value - expected).abs() < 1e-6, "{name}: {value}, not {expected}");
    }
}

/// The gain of grade 1 before 2, divided by that of the best order.
fn ndcg() -> f64 {
    let second = 1.0 / 3.0_f64.log2();
    (1.0 + 2.0 * second) / (2.0 + second)
}

#[test]
fn trec_runs_are_scored_by_the_grades_of_their_year() {
    let data = Data::with_labels();
    let found = data.score("2024", &trec(&data, "0_1")).unwrap();
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    let nist =
        ["nDCG@3", "nDCG@5", "nDCG@10", "RR(rel=2)", "R(rel=2)@10", "R(rel=2)@100", "Judged@10"];
    assert_eq!(names, nist.map(|name| format!("passages (graded by NIST) {name}")));
    let values: Vec<f64> = found.iter().map(|(_, value)| *value).collect();
    for (value, expected) in values.iter().zip([ndcg(), ndcg(), ndcg(), 0.5, 1.0, 1.0, 1.0]) {
        assert!((value - expected).abs() < 1e-6, "{values:?}: only the judged turn counts");
    }
    let found = data.score("2025", &trec(&data, "1-1_1")).unwrap();
    assert_figures(
        &found,
        &[
            ("passages (graded by NIST) RR(rel=2)", 0.5),
            ("passages (graded by an LLM) RR(rel=2)", 1.0),
            ("passages (graded by an LLM) nDCG@5", 1.0),
        ],
    );
    let statements = data.put("s.run", "0_1 Q0 1 1 2 r\n0_1 Q0 2 2 1 r\n");
    let error = data.score("2024", &statements).unwrap_err();
    assert!(error.contains("expected labels of statements of 2024"), "{error}");
}

#[test]
fn responses_are_scored_by_nuggets_and_ratings_of_people() {
    let data = Data::with_labels();
    let turn = |id: &str| json!({"turn_id": id, "responses": [{"rank": 1, "text": "Tomatoes need water."}]});
    let run = json!({"run_name": "run-1", "run_type": "automatic", "eval_response": true,
                     "turns": [turn("0_1"), turn("0_2")]});
    let file = data.put("r.json", &run.to_string());
    // Two of three nuggets of the first turn, none of one of the second; another run has all.
    let study = "1_0_1_1_run-1\t1\n1_0_1_2_run-1\t1\n1_0_1_3_run-1\t0\n2_0_2_1_run-1\t0\n2_0_2_1_other\t1\n";
    let study = data.put("study.txt", study);
    let nuggets = |held: &[&str], others: &[&str]| json!({"nuggets": {"matched": held, "not-matched": others}});
    let object = json!({"0_1": {"run-1": nuggets(&["a", "b"], &["c"]), "other": nuggets(&["a"], &[])},
                        "0_2": {"run-1": nuggets(&[], &["d"])}});
    let object = data.put("matches.json", &object.to_string());
    // Two sheets with the same decision.
    let sheets = "1_0_1_1_run-1\t1\n2_0_1_1_run-1\t1\n1_0_1_2_run-1\t1\n1_0_1_3_run-1\t0\n2_0_2_1_run-1\t0\n2_0_2_1_other\t1\n";
    let sheets = data.put("sheets.txt", sheets);
    // Two judges of the first turn, whose numbers are no ratings.
    let numbered = data.put(
        "numbered.csv",
        "turn,Assessor,relevance,conciseness\n0_1,70,4,1\n0_1,90,2,\n0_2,70,5,1\n",
    );
    // Two judges of the first turn.
    let plain = data.put("ratings.csv", "turn,relevance,conciseness\n0_1,4,1\n0_1,2,\n0_2,5,1\n");
    let quoted = "\"turn\",\"judge\",\"relevance\",\"conciseness\"\n\"0_1\",\"Ann\",\"4\",\"1\"\n\"0_1\",\"Bob\",\"2\",\n\"0_2\",\"Ann\",\"5\",\"1\"\n";
    let quoted = data.put("quoted.csv", quoted);
    // Commas, quotation marks and line ends in names of judges and columns.
    let names = "turn,judge,relevance,conciseness,\"why, in short\"\r\n0_1,\"Doe, Ann\",4,1,5\r\n0_1,\"\"\"Bob\"\"\n(2)\",2,,\r\n\r\n0_2,Ann,5,1,5\r\n";
    let names = data.put("names.csv", names);
    let tabs = "\u{feff}turn\tjudge\trelevance\tconciseness\n0_1\tDoe, Ann\t4\t1\n0_1\t\"Bob\t2\"\t2\t\n0_2\tAnn\t5\t1\n";
    let tabs = data.put("tabs.tsv", tabs);
    for (matches, ratings) in [
        (&study, &plain),
        (&study, &numbered),
        (&object, &plain),
        (&sheets, &quoted),
        (&study, &names),
        (&study, &tabs),
    ] {
        let assessed = AssessedBy {
            matches: Some(matches),
            ratings: Some(ratings),
            seed: 42,
            ..AssessedBy::default()
        };
        let found = data.score_assessed("2024", &file, &assessed).unwrap();
        assert_figures(
            &found,
            &[
                ("response ROUGE-1", 2.0 / 3.0),
                ("response nugget recall, 2 turns", 1.0 / 3.0),
                ("rating relevance, 2 turns", 4.0),
                ("rating relevance, 95 % from", 3.0),
                ("rating relevance, 95 % to", 5.0),
                ("rating conciseness, 2 turns", 1.0),
                ("rating conciseness, 95 % to", 1.0),
            ],
        );
        let other = AssessedBy { matched_run: Some("other"), ..assessed };
        let found = data.score_assessed("2024", &file, &other).unwrap();
        assert_figures(&found, &[("response nugget recall, 1 turn", 1.0)]);
        let none = AssessedBy { matched_run: Some("none"), ..assessed };
        let error = data.score_assessed("2024", &file, &none).unwrap_err();
        assert!(error.contains("found none of `none`"), "{error}");
    }
    for (name, text, says) in [
        ("m", "1_0_1_1_run-1 1\n", "a nugget of a turn with 0 or 1"),
        ("m", "1_0_1_1_run-1\t1\n1_0_1_1_run-1\t0\n", "every nugget once"),
        ("m", "1_9_9_1_run-1\t1\n", "turns of"),
        ("m", "1_0_1_1_run-1\t1\n2_0_1_1_run-1\t0\n", "every nugget once"),
        ("m", "1_0_1_1_run-1\t1\n1_0_1_1_run-1\t1\n", "every nugget once"),
        ("m", "1_0_1_run-1\t1\n", "a nugget of a turn with 0 or 1"),
        ("m", "", "found none of `run-1`"),
        (
            "m",
            "{\"0_1\": {\"run-1\": {\"nuggets\": {\"matched\": [\"a\"], \"not-matched\": [\"a\"]}}}}",
            "every nugget of 0_1 once, found `a` again",
        ),
        (
            "r",
            "turn,relevance,relevance\n0_1,3,4\n",
            "columns of different names, found `relevance` twice",
        ),
        ("r", "turn,,relevance\n0_1,7,3\n", "a name for every column"),
        (
            "r",
            "turn,Assessor,relevance\n0_1,7,3\n0_1,8,3\n0_1,7,1\n",
            "one row for 0_1 and the judge `7`, found another one",
        ),
        ("r", "turn,assessor\n0_1,7\n", "a column with ratings"),
        ("r", "topic,relevance\n0_1,3\n", "a header `turn,RATING`"),
        ("r", "turn,relevance\n0_1,high\n", "a number"),
        ("r", "turn,relevance\n9_1,3\n", "turns of"),
        ("r", "turn,relevance\n0_1\n", "2 fields, as in the header, found 1 in `0_1`"),
        ("r", "turn,relevance\n0_1,3,4\n", "2 fields, as in the header"),
        ("r", "turn,judge,relevance\n0_1,\"Ann,3\n", "a quoted field that ends with a quote"),
        ("r", "", "a header `turn,RATING`"),
    ] {
        let wrong = data.put("wrong", text);
        let wrong = Some(&*wrong);
        let assessed = match name {
            "m" => AssessedBy { matches: wrong, ..AssessedBy::default() },
            _ => AssessedBy { ratings: wrong, ..AssessedBy::default() },
        };
        let error = data.score_assessed("2024", &file, &assessed).unwrap_err();
        assert!(error.contains(says), "{text:?}: {error}");
    }
}

#[test]
fn submissions_are_scored_by_all_labels_of_their_year() {
    let data = Data::with_labels();
    let passage =
        |id: &str, score: f64| json!({"id": id, "text": "", "score": score, "used": true});
    let response = json!({"rank": 1, "text": "Tomatoes need water.", "ptkb_provenance": [1],
                          "passage_provenance": [passage(WATER, 2.0), passage(SUN, 1.0)]});
    let turn = |id: &str| json!({"turn_id": id, "responses": [response]});
    let run = json!({"run_name": "r", "run_type": "automatic", "eval_response": true,
                     "turns": [turn("0_1"), turn("0_2")]});
    let file = data.put("r.json", &run.to_string());
    let found = data.score("2024", &file).unwrap();
    // Two of three words.
    let expected = [("response ROUGE-1", 2.0 / 3.0), ("passages (graded by NIST) nDCG@5", ndcg())];
    assert_figures(&found, &expected);
    assert_eq!(found.len(), 9, "only passages and responses have labels: {found:?}");

    // What a system writes that ranks no statement, because users have none.
    let without = run.to_string().replace("\"ptkb_provenance\":[1]", "\"ptkb_provenance\":[]");
    let file = data.put("none.json", &without);
    data.put("none.statements.run", "");
    assert_eq!(data.score("2024", &file).unwrap(), found);

    let line = |id: &str| {
        json!({
            "metadata": {"team_id": "t", "run_id": "r", "run_type": "automatic"}, "turn_id": id,
            "references": {SUN: 2.0, WATER: 1.0},
            "responses": [{"rank": 1, "text": "Tomatoes need sun.", "citations": {SUN: 2.0},
                           "ptkb_provenance": ["I grow tomatoes.", "I live in a flat.",
                                               "No statement of this user."]}],
        })
    };
    let file = data.put("r.jsonl", &format!("{}\n{}\n", line("1-1_1"), line("1-1_2")));
    let found = data.score("2025", &file).unwrap();
    assert_figures(
        &found,
        &[
            ("ptkb_provenance (organisers) RR", 0.5),
            ("ptkb_provenance (NIST) nDCG@3", 1.0),
            ("sets (organisers) macro R", 1.0),
            // One of three, and none of the three of the turn without a relevant statement.
            ("sets (organisers) micro P", 1.0 / 6.0),
            ("sets (organisers, judged turns) micro P", 1.0 / 3.0),
            ("sets (NIST) micro P", 1.0 / 3.0),
            ("passages (graded by NIST) RR(rel=2)", 1.0),
            ("passages (graded by an LLM) RR(rel=2)", 0.5),
            ("response ROUGE-2", 1.0),
        ],
    );
}

#[test]
fn files_can_be_named_in_place_of_those_of_the_folder() {
    let data = Data::new();
    let run = trec(&data, "0_1");
    let error = data.score("2024", &run).unwrap_err();
    assert!(error.contains("expected labels of 2024, found topics without labels"), "{error}");
    let qrels = data.put("mine.txt", &format!("0_1\t{SUN}\t4\n"));
    let answers = data.put("mine.json", &json!({"0_1": "Sun."}).to_string());
    let by = AssessedBy { qrels: Some(&qrels), ..AssessedBy::default() };
    let found = data.score_assessed("2024", &run, &by).unwrap();
    assert_figures(&found, &[("passages (graded by --qrels) RR(rel=2)", 0.5)]);
    let error = data.score_with_answers("2024", &run, &answers).unwrap_err();
    assert!(error.contains("found a TREC run"), "{error}");
    let statements = data.put("statements.txt", "0_1 0 1 1\n");
    let by = AssessedBy { qrels: Some(&statements), ..AssessedBy::default() };
    let error = data.score_assessed("2024", &run, &by).unwrap_err();
    assert!(
        error.contains("expected grades of passages, page:number, found `1` of `0_1`"),
        "{error}"
    );
}

#[test]
fn labels_that_are_not_understood_are_refused_by_name() {
    let refused = |name: &str, text: &str| {
        let data = Data::new();
        data.put(name, text);
        let is_2024 = name.contains("2024") || name.contains("human");
        let (split, turn) = if is_2024 { ("2024", "0_1") } else { ("2025", "1-1_1") };
        let run = trec(&data, turn);
        let error = data.score(split, &run).unwrap_err();
        assert!(error.contains(name), "{error}");
        // The check of the folder finds what eval stops at.
        let report = TRACKS.check(&data.folder()).unwrap();
        let mut of_file = report.findings.iter().filter(|found| found.first.at.file.contains(name));
        assert!(of_file.any(|found| found.first.severity == Severity::Error), "{name}");
        error
    };
    let human = "gold_response_and_nuggets_human.json";
    let statements = "ptkb-relevance-organizers.trec";
    for (name, text, expected) in [
        (statements, "1-1_1 0 99 1\n".to_owned(), "found `99` in turn 1-1_1"),
        (statements, "1-1_1 0 0 1\n".to_owned(), "found `0` in turn 1-1_1"),
        (statements, "1-1_1 0 01 1\n".to_owned(), "found `01` in turn 1-1_1"),
        ("qrels-ptkb-nist.trec", "1-1_1 0 ptkb-1-1-2 1\n".to_owned(), "found `3` in turn 1-1_1"),
        ("2024_test_qrels.trec", format!("9_1 0 {SUN} 2\n"), "found `9_1`"),
        ("2024_test_qrels.trec", format!("0_1 0 {SUN} high\n"), "trec:1: expected a whole number"),
        ("qrels-llm.txt", format!("1-1_1 {SUN} 2\n1-1_1 0 {SUN} 2\n"), "txt:2: expected 3 fields"),
        (
            "gold-response-nist.json",
            "{\"1-1_1\":\n 7}".to_owned(),
            "json:2: expected a text, or an object with `manual.response`",
        ),
        ("gold-response-nist.json", "[]".to_owned(), "expected an object"),
        ("gold-response-nist.json", "{\"7-1_1\": \"a\"}".to_owned(), "found `7-1_1`"),
        (
            human,
            "{\"0_1\": {\"llm\": {}}}".to_owned(),
            "expected a text, or an object with `manual.response`",
        ),
        (
            human,
            "{\"0_1\": {\"manual\": {}}}".to_owned(),
            "expected a text, or an object with `manual.response`",
        ),
    ] {
        let error = refused(name, &text);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_check_reads_the_labels_of_the_folder() {
    let data = Data::with_labels();
    data.put("gold-response-nist.json", "{\"1-1_1\": null}");
    let report = TRACKS.check(&data.folder()).unwrap();
    for file in ["qrels-llm.txt", "2024_test_qrels.trec", "gold_response_and_nuggets_human.json"] {
        assert!(report.files.iter().any(|name| name.ends_with(file)), "{file}");
    }
    assert!(report.findings.has_errors(), "an answer that is not a text");
}
