//! The runs on which the verdicts of the official validators were recorded, for the tests of two
//! crates.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A changed run, and the official validator's verdict on it.
pub(crate) struct Case {
    /// The change.
    pub(crate) name: String,
    /// The bytes of the file.
    pub(crate) run: Vec<u8>,
    /// The number of warnings of an accepted run; `None` if the validator ends with an error.
    pub(crate) warnings: Option<usize>,
    /// True if the validator finds nothing to validate.
    pub(crate) has_no_turn: bool,
}

/// The recorded cases of a year, from the folder of the released sample runs.
pub(crate) fn cases(sample_runs: &Path, year: u16) -> Vec<Case> {
    let run = match year {
        2023 => read_json(&sample_runs.join("2023/full_run.json")),
        2024 => read_json(&sample_runs.join("2024/sample_run.json")),
        _ => read_json_lines(&sample_runs.join("2025/full_run.jsonl")),
    };
    let cases = read_json(&sample_runs.join(format!("{year}/validator_cases.json")));
    cases.as_array().unwrap().iter().map(|recorded| case(year, &run, recorded)).collect()
}

fn case(year: u16, run: &Value, recorded: &Value) -> Case {
    let run = patched(run, &recorded["patch"]);
    let is_accepted = recorded["exit"] == 0;
    let warnings = if year == 2025 {
        let messages = recorded["messages"].as_array().unwrap().iter();
        Some(messages.filter(|text| text.as_str().unwrap().contains("WARNING")).count())
    } else {
        recorded["warnings"].as_u64().map(|count| count as usize)
    };
    Case {
        name: recorded["name"].as_str().unwrap().to_owned(),
        run: match year {
            2025 => {
                let lines = run.as_array().unwrap().iter();
                lines.flat_map(|line| format!("{line}\n").into_bytes()).collect()
            }
            _ => serde_json::to_vec_pretty(&run).unwrap(),
        },
        has_no_turn: is_accepted && warnings.is_none(),
        warnings: if is_accepted { Some(warnings.unwrap_or_default()) } else { None },
    }
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn read_json_lines(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect()
}

/// The changed run of a case. A patch is a list of JSON Pointers with values, or a change in words.
fn patched(run: &Value, patch: &Value) -> Value {
    let mut run = run.clone();
    match patch {
        Value::Array(steps) => steps.iter().for_each(|step| apply(&mut run, step)),
        Value::String(change) => apply_described(&mut run, change),
        _ => panic!("{patch}"),
    }
    run
}

fn apply(run: &mut Value, step: &Value) {
    let path = step["path"].as_str().unwrap();
    if step["op"] == "note" {
        assert_eq!(path, "turn 0 given 1001 references");
        run[0]["references"] = (0..1001)
            .map(|index| {
                let id = format!("clueweb22-en0000-00-00000:{index}");
                (id, json!(1.0 - f64::from(index) / 2000.0))
            })
            .collect::<serde_json::Map<_, _>>()
            .into();
        return;
    }
    let (parent, key) = path.rsplit_once('/').unwrap();
    let parent = run.pointer_mut(parent).unwrap_or_else(|| panic!("{path}"));
    match (parent, step["op"].as_str().unwrap()) {
        (Value::Object(object), "remove") => drop(object.shift_remove(key).unwrap()),
        (Value::Object(object), _) => drop(object.insert(key.to_owned(), step["value"].clone())),
        (Value::Array(items), "remove") => drop(items.remove(key.parse().unwrap())),
        (Value::Array(items), "replace") => {
            items[key.parse::<usize>().unwrap()] = step["value"].clone();
        }
        (Value::Array(items), _) => {
            assert_eq!(key, "-");
            items.push(step["value"].clone());
        }
        _ => panic!("{path}"),
    }
}

fn apply_described(run: &mut Value, change: &str) {
    let turns = run["turns"].as_array_mut().unwrap();
    if change == "the response of turn 0 given twice" {
        let responses = turns[0]["responses"].as_array_mut().unwrap();
        responses.push(responses[0].clone());
    } else if change == "ptkb_provenance of every response replaced by []" {
        for response in turns.iter_mut().flat_map(|turn| turn["responses"].as_array_mut().unwrap())
        {
            response["ptkb_provenance"] = json!([]);
        }
    } else {
        let count = change.strip_prefix("passage_provenance of turn 0 replaced by ").unwrap();
        let count: u32 = count.split_once(' ').unwrap().0.parse().unwrap();
        let passage = |index: u32| {
            let id = format!("clueweb22-en0000-00-00000:{index}");
            let score = 1.0 - f64::from(index) / 2000.0;
            json!({"id": id, "score": score, "used": index == 0})
        };
        turns[0]["responses"][0]["passage_provenance"] = (0..count).map(passage).collect();
    }
}
