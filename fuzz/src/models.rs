//! Model folders: `config.json` and weights that are accepted belong together.

use clariq_core::Error;
use clariq_model::{Family, Shape, T5Shape, check_head, check_layout, parse_header};
use std::path::Path;

/// Reads the bytes up to the first NUL as `config.json` and the rest as `model.safetensors`.
///
/// What is accepted holds every number that the sizes of the configuration ask for.
pub fn models(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (config, weights) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    t5(config, weights);
    let shape = match Shape::parse(Path::new("config.json"), config) {
        Ok((_, shape)) => Some(shape),
        Err(error) => {
            is_helpful("config.json", &error);
            None
        }
    };
    let name = "model.safetensors";
    let at = Path::new(name);
    let family = shape.as_ref().map_or(Family::Bert, |shape| shape.family);
    let tensors = match parse_header(at, weights, family) {
        Ok(tensors) => tensors,
        Err(error) => return is_helpful(name, &error),
    };
    let Some(shape) = shape else { return };
    if let Err(error) = check_layout(at, &shape, &tensors) {
        return is_helpful(name, &error);
    }
    let sizes = [shape.hidden, shape.groups, shape.intermediate, shape.vocabulary, shape.positions];
    let most = i64::try_from(weights.len()).expect("a file in memory");
    assert!(sizes.into_iter().all(|size| (1..=most).contains(&size)), "{shape:?}");
    match check_head(at, &shape, &tensors) {
        Ok(classes) => assert!((1..=2).contains(&classes)),
        Err(error) => is_helpful(name, &error),
    }
}

/// The same for a T5, whose tensors no family spells otherwise.
fn t5(config: &[u8], weights: &[u8]) {
    let (name, at) = ("model.safetensors", Path::new("model.safetensors"));
    let shape = match T5Shape::parse(Path::new("config.json"), config, None) {
        Ok(shape) => shape,
        Err(error) => return is_helpful("config.json", &error),
    };
    let Ok(tensors) = parse_header(at, weights, Family::Bert) else { return };
    match shape.check_tensors(at, &tensors) {
        Ok(()) => {
            let sizes = [shape.hidden, shape.layers, shape.intermediate, shape.vocabulary];
            let most = i64::try_from(weights.len()).expect("a file in memory");
            assert!(sizes.into_iter().all(|size| (1..=most).contains(&size)), "{shape:?}");
        }
        Err(error) => is_helpful(name, &error),
    }
}

fn is_helpful(file: &str, error: &Error) {
    let problem = error.to_problem();
    assert_eq!(problem.at.file, file);
    assert!(!problem.expected.is_empty() && !problem.hint.is_empty(), "{problem:?}");
}
