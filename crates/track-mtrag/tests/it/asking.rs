//! Whether to ask, by the scores of a run and by a need file.

use crate::common::{sample, write};
use clariq_collections::Collection;
use clariq_collections::evaluation::{Answers, Cases, ScoreCell, ScoreOptions};
use clariq_core::Error;
use clariq_files::Source;
use serde_json::json;

/// The rows of the table `asking` for a file: domain, name, counts, and the figures.
fn asking(name: &str, text: &str) -> Vec<String> {
    table("asking", name, text)
}

fn score(name: &str, text: &str) -> Result<Cases, Error> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), name, text);
    let sample = sample();
    let collection: &dyn Collection = &sample;
    let file = Source::new(folder.path().join(name));
    let evaluation = collection.evaluation(collection.find_split("mtrag-un").unwrap()).unwrap();
    evaluation.cases(Answers::File(&file), &ScoreOptions::default())
}

/// The rows of a table for a file.
fn table(wanted: &str, name: &str, text: &str) -> Vec<String> {
    let result = score(name, text).unwrap();
    let table = result.tables.into_iter().find(|table| table.name == wanted).unwrap();
    let cell = |cell: &ScoreCell| match cell {
        ScoreCell::Text(text) => text.clone(),
        ScoreCell::Count(count) => count.to_string(),
        ScoreCell::Score(figure, digits) => format!("{figure:.digits$}"),
        ScoreCell::Empty => "-".to_owned(),
    };
    table.rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn thresholds_of_a_domain_come_from_the_others() {
    let scores = [
        ("cc01<::>2", 9),
        ("cc02<::>2", 3),
        ("cc03<::>1", 4),
        ("cc04<::>1", 8),
        ("dd01<::>2", 7),
        ("dd02<::>1", 9),
        ("dd03<::>1", 5),
        ("dd04<::>2", 8),
    ];
    let run: Vec<String> =
        scores.iter().map(|(id, score)| format!("{id} 0 x 1 {score} r\n")).collect();
    assert_eq!(
        asking("a.run", &run.concat()),
        [
            "cloud never 4 1 0 0.0000 0.0000 0.0000 0.5000 0.5000",
            "cloud always 4 1 4 0.2500 1.0000 0.4000 0.5000 0.5000",
            "cloud best score up to 6.000 4 1 1 1.0000 1.0000 1.0000 1.0000 1.0000",
            "govt never 4 1 0 0.0000 0.0000 0.0000 0.5000 0.5000",
            "govt always 4 1 4 0.2500 1.0000 0.4000 0.5000 0.5000",
            "govt best score up to 6.000 4 1 2 0.5000 1.0000 0.6667 0.8333 0.6667",
            "all never 8 2 0 0.0000 0.0000 0.0000 0.5000 0.5000",
            "all always 8 2 8 0.2500 1.0000 0.4000 0.5000 0.5000",
            "all best score 8 2 3 0.6667 1.0000 0.8000 0.9167 0.8333",
        ]
    );
}

#[test]
fn requests_for_which_nothing_was_found_are_below_every_score() {
    // The underspecified requests cc03 and dd03 have no passage, and no other has none.
    let found = ["cc01<::>2", "cc02<::>2", "cc04<::>1", "dd01<::>2", "dd02<::>1", "dd04<::>2"];
    let run: Vec<String> = found.iter().map(|id| format!("{id} 0 x 1 3 r\n")).collect();
    let rows = asking("a.run", &run.concat());
    assert_eq!(rows[2], "cloud nothing found 4 1 1 1.0000 1.0000 1.0000 1.0000 1.0000");
    assert_eq!(rows[8], "all best score 8 2 2 1.0000 1.0000 1.0000 1.0000 1.0000");
    // A domain of which the run has nothing is left out.
    let rows = asking("b.run", &format!("{}banking-1<::>1 0 x 1 3 r\n", run.concat()));
    assert_eq!(rows.len(), 9);
}

#[test]
fn needs_of_another_scale_are_warned_of_and_nan_is_refused() {
    let warnings = score("a.need", "cc03::1 0.9\ncc01::2 0.2\n").unwrap().warnings;
    assert!(warnings[0].contains("between 0 and 1"), "{warnings:?}");
    let refused = score("b.need", "cc03::1 nan\n").err().unwrap().to_problem();
    assert_eq!(refused.found, "`nan`");
}

#[test]
fn passages_without_scores_are_not_ranked() {
    let line = |id: &str, context: &str, more: &str| {
        format!("{{\"task_id\": \"{id}\", \"contexts\": [{context}]{more}}}\n")
    };
    let passage = "{\"document_id\": \"g2-0-80\"}";
    let refused = score("a.jsonl", &line("cc01<::>2", passage, "")).err().unwrap().to_problem();
    assert_eq!(refused.expected, "a number as `score` of each passage");
    // A submission to Task B has the passages of the references, and responses.
    let response = ", \"predictions\": [{\"text\": \"Which one?\"}]";
    let result = score("b.jsonl", &line("cc01<::>2", passage, response)).unwrap();
    let tables: Vec<&str> = result.tables.iter().map(|table| table.name).collect();
    assert_eq!(tables, ["texts", "responses"]);
    assert!(result.warnings.iter().any(|warning| warning.contains("nothing is ranked")));
    let other = "{\"document_id\": \"g2-0-80x\", \"score\": 1}";
    let result = score("c.jsonl", &line("cc01<::>2", other, "")).unwrap();
    assert!(
        result
            .warnings
            .iter()
            .any(|warning| warning.starts_with("no document of the run is judged"))
    );
}

#[test]
fn a_need_file_asks_from_two_on() {
    // Ids of the other spelling; a request without a line has no need.
    let rows = asking("a.need", "cc03::1 4\ncc01::2 2\ndd03::1 1\n");
    assert_eq!(rows[2], "cloud need file 4 1 0 0.0000 0.0000 0.0000 0.5000 1.0000");
    assert_eq!(rows[5], "govt need file 4 1 2 0.5000 1.0000 0.6667 0.8333 1.0000");
    assert_eq!(rows[8], "all need file 8 2 2 0.5000 0.5000 0.5000 0.6667 0.9167");
}

#[test]
fn a_response_that_ends_with_a_question_asks() {
    let answer = |id: &str, text: &str| {
        let contexts = json!([{ "document_id": "x", "score": 1 }]);
        let predictions = json!([{ "text": text }]);
        json!({ "task_id": id, "contexts": contexts, "predictions": predictions }).to_string()
    };
    let file = [
        answer("cc03::1", "There are two. Which one do you mean?\n"),
        answer("cc01<::>2", "You asked: \"is it?\" It is."),
        answer("dd02<::>1", "Do you mean \u{201c}the moon?\u{201d}"),
        answer("dd03<::>1", "I do not know."),
    ];
    let rows = table("responses", "c.jsonl", &file.join("\n"));
    assert_eq!(
        rows,
        [
            "cloud never 4 1 0 0.0000 0.0000 0.0000 0.5000 0.5000",
            "cloud always 4 1 4 0.2500 1.0000 0.4000 0.5000 0.5000",
            "cloud response ends with ? 4 1 1 0.0000 0.0000 0.0000 0.3333 0.3333",
            "govt never 4 1 0 0.0000 0.0000 0.0000 0.5000 0.5000",
            "govt always 4 1 4 0.2500 1.0000 0.4000 0.5000 0.5000",
            "govt response ends with ? 4 1 1 1.0000 1.0000 1.0000 1.0000 1.0000",
            "all never 8 2 0 0.0000 0.0000 0.0000 0.5000 0.5000",
            "all always 8 2 8 0.2500 1.0000 0.4000 0.5000 0.5000",
            "all response ends with ? 8 2 2 0.5000 0.5000 0.5000 0.6667 0.6667",
        ]
    );
    let one_domain = table("responses", "c.jsonl", &answer("cc03<::>1", "Which one?"));
    assert_eq!(one_domain.len(), 6, "the other domain has no response");
}
