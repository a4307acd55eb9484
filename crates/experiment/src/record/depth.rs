//! The depth of a run, by the stages in its record.

use serde_json::Value;

/// The keys of stages with the largest number of documents that they return.
const DEPTHS: [&str; 2] = ["depth", "size"];

/// The smallest depth of stages; `None` if none has a depth.
pub(super) fn least_depth(stages: &Value) -> Option<usize> {
    match stages {
        Value::Array(stages) => stages.iter().filter_map(least_depth).min(),
        Value::Object(stage) => {
            let own = DEPTHS.iter().filter_map(|key| stage.get(*key)?.as_u64());
            let own = own.map(|depth| usize::try_from(depth).unwrap_or(usize::MAX));
            own.chain(stage.values().filter_map(least_depth)).min()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_depth_of_all_stages_is_that_of_the_run() {
        for (stages, depth) in [
            (r#"[{"stage": "bm25", "depth": 100}, {"stage": "rerank", "depth": 30}]"#, Some(30)),
            (r#"[{"depth": 50, "inputs": [{"stages": [{"depth": 20}]}]}]"#, Some(20)),
            (r#"[{"stage": "elasticsearch", "size": 7}]"#, Some(7)),
            (r#"[{"stage": "dense"}]"#, None),
            ("1", None),
        ] {
            assert_eq!(least_depth(&serde_json::from_str(stages).unwrap()), depth, "{stages}");
        }
    }
}
