//! `--depth`: systems that rank another number of documents than their configuration says.

use clariq_core::{Problem, Result, problem};
use clariq_rank::Override;
use clariq_systems::{StageDepth, SystemConfig};

pub(crate) fn sets_depth(overrides: &[Override]) -> bool {
    overrides.iter().any(|change| change.key == "depth")
}

/// The system, with another depth of a stage.
pub(crate) fn at_depth(
    system: &str,
    overrides: &[Override],
    stage: &StageDepth,
    depth: usize,
) -> Result<SystemConfig> {
    let stage = stage.stage.clone();
    let depth = Override { stage, key: "depth".to_owned(), value: depth.to_string() };
    SystemConfig::open_any(system, &[overrides, &[depth]].concat())
}

/// The problem of stages whose depths the user has to choose, because each of them may change the best
/// documents as well.
pub(crate) fn no_single_depth(
    expected: impl Into<String>,
    stages: &[StageDepth],
    depth: usize,
) -> Problem {
    let expected = expected.into();
    if stages.is_empty() {
        return problem!("--depth", expected, "none with a depth", "leave --depth out");
    }
    let found: Vec<String> =
        stages.iter().map(|one| format!("`{}.depth` {}", one.stage, one.depth)).collect();
    let hint: Vec<String> =
        stages.iter().map(|one| format!("--set {}.depth={depth}", one.stage)).collect();
    problem!("--depth", expected, (found.join(", ")), (hint.join(" ")))
}
