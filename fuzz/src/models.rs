//! Model folders: `config.json` and weights that are accepted belong together.

use clariq_core::{Error, Problem};
use clariq_model::{Shape, check_head, check_layout, parse_header};
use std::path::Path;

/// Reads the bytes up to the first NUL as `config.json` and the rest as `model.safetensors`.
///
/// What is accepted holds every number that the sizes of the configuration ask for.
pub fn models(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (config, weights) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let shape = match Shape::parse(Path::new("config.json"), config) {
        Ok((_, shape)) => Some(shape),
        Err(error) => {
            is_helpful(&error);
            None
        }
    };
    let at = Path::new("model.safetensors");
    let tensors = match parse_header(at, weights) {
        Ok(tensors) => tensors,
        Err(problem) => return is_mendable(&problem),
    };
    let Some(shape) = shape else { return };
    if let Err(problem) = check_layout(at, &shape, &tensors) {
        return is_mendable(&problem);
    }
    let sizes = [shape.hidden, shape.layers, shape.intermediate, shape.vocabulary, shape.positions];
    let most = i64::try_from(weights.len()).expect("a file in memory");
    assert!(sizes.into_iter().all(|size| (1..=most).contains(&size)), "{shape:?}");
    match check_head(at, &shape, &tensors) {
        Ok(classes) => assert!((1..=2).contains(&classes)),
        Err(problem) => is_mendable(&problem),
    }
}

fn is_helpful(error: &Error) {
    let report = error.to_problem();
    assert!(report.title().starts_with("config.json") && !report.hint.is_empty(), "{report:?}");
}

fn is_mendable(problem: &Problem) {
    assert_eq!(problem.at.file, "model.safetensors");
    assert!(!problem.expected.is_empty() && !problem.hint.is_empty(), "{problem:?}");
}
