//! Plans of shards, and the records of their parts: the shards that are accepted fit together.

use clariq_core::Error;
use clariq_experiment::shards::Planned;
use std::path::Path;

/// Reads the bytes as `plan.json`.
pub fn plans(bytes: &[u8]) {
    let planned = match Planned::parse(Path::new("plan.json"), bytes) {
        Ok(planned) => planned,
        Err(error) => return is_helpful("plan.json", &error),
    };
    let mut next = 0;
    for shard in &planned.plan.shards {
        assert_eq!(shard.first, next);
        assert!(!shard.file.contains('/'), "{shard:?}");
        next = next.saturating_add(shard.contexts);
    }
}

/// Reads the bytes as the record of a part.
pub fn records(bytes: &[u8]) {
    if let Err(error) = Planned::parse_record(Path::new("a.run.json"), bytes) {
        is_helpful("a.run.json", &error);
    }
}

fn is_helpful(file: &str, error: &Error) {
    let problem = error.to_problem();
    assert_eq!(problem.at.file, file);
    assert!(!problem.expected.is_empty() && !problem.hint.is_empty(), "{problem:?}");
}
