//! Files of systems with other values of their parameters.

use clariq_systems::{SystemConfig, parse_assignment};

fn written(system: &str, parameters: &[&str]) -> String {
    let parameters: Vec<_> =
        parameters.iter().map(|text| parse_assignment(text, "--set").unwrap()).collect();
    SystemConfig::write_with(system, &parameters, "mine", "tuned").unwrap()
}

#[test]
fn a_file_has_the_values_of_its_parameters_and_no_expected_scores() {
    let text = written("bm25-english", &["bm25.k1=0.6", "bm25.depth=20"]);
    assert!(
        text.contains("name = \"mine\"\n") && text.contains("description = \"tuned\"\n"),
        "{text}"
    );
    assert!(text.contains("k1 = 0.6\n") && text.contains("depth = 20\n"), "{text}");
    assert!(!text.contains("[[expected]]"), "{text}");
}

#[test]
fn stages_of_tasks_and_stages_inside_stages_have_their_values() {
    for (system, parameter, line) in [
        ("hybrid", "bm25.k1=0.33", "k1 = 0.33\n"),
        ("ikat-bm25", "passages.bm25.k1=0.33", "k1 = 0.33\n"),
        ("bm25-tuned", "need.c=0.5", "c = 0.5\n"),
        ("bm25-tuned", "bm25.analyzer=english", "analyzer = \"english\"\n"),
    ] {
        let text = written(system, &[parameter]);
        assert_eq!(text.matches(line).count(), 1, "{system}: {text}");
    }
}

#[test]
fn a_name_that_files_cannot_have_is_refused() {
    let error = SystemConfig::write_with("bm25", &[], "my system", "").unwrap_err().to_string();
    assert!(error.contains("a file name of letters, digits"), "{error}");
}
