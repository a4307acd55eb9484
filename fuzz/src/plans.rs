//! Plans of shards, and the records of their parts: what is accepted fits together.

use clariq_core::Error;
use clariq_experiment::shards::Planned;
use std::path::Path;

/// A plan for the records of plans that are refused.
const PLAN: &str = r#"{"clariq_plan": 2, "input": {"kind": "requests", "file": "r.jsonl", "sha256": "a",
    "contexts": 1, "skip_bad": false, "bad_records": 0}, "bank_sha256": "b", "fingerprint": null,
    "arithmetic": null, "shards": [{"file": "s.jsonl", "first": 0, "contexts": 1, "sha256": "c"}]}"#;

/// Reads the bytes up to the first NUL as `plan.json` and the rest as the record of a part.
pub fn plans(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (plan, record) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let planned = match Planned::parse(Path::new("plan.json"), plan) {
        Ok(planned) => planned,
        Err(error) => {
            is_helpful("plan.json", &error);
            Planned::parse(Path::new("plan.json"), PLAN.as_bytes()).expect("a sound plan")
        }
    };
    let mut next = 0;
    for shard in &planned.plan.shards {
        assert_eq!(shard.first, next);
        assert!(!shard.file.contains('/'), "{shard:?}");
        next = next.saturating_add(shard.contexts);
    }
    if let Err(error) = planned.parse_record(Path::new("a.run.json"), record) {
        is_helpful("a.run.json", &error);
    }
}

fn is_helpful(file: &str, error: &Error) {
    let problem = error.to_problem();
    assert_eq!(problem.at.file, file);
    assert!(!problem.expected.is_empty() && !problem.hint.is_empty(), "{problem:?}");
}
