//! Checkpoints: one file with weights, moments and everything counted so far.

use crate::network::Network;
use crate::train::adamw::AdamW;
use crate::train::curve::Curve;
use crate::weights::write_tensors;
use clariq_core::{Error, Result, problem, read_regular};
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use tch::Tensor;

/// Bytes that a checkpoint may have: weights and moments of the largest models take less.
const MOST_OF_A_CHECKPOINT: u64 = 1 << 36;

/// What is counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// What the training is made of: a checkpoint of another one is not used.
    pub(crate) key: String,
    /// Steps done.
    pub(crate) step: usize,
    /// The bits of what weight decay did so far, so that nothing is rounded.
    pub(crate) decay: u64,
    pub(crate) curve: Curve,
    /// Step and mean recall of the best evaluation.
    pub(crate) best: Option<(usize, f64)>,
}

/// What was counted, and the best weights so far.
pub(crate) type Restored = (Counts, HashMap<String, Tensor>);

/// Writes a checkpoint in place of the one before.
pub(crate) fn write(
    path: &Path,
    network: &mut Network,
    optimizer: &AdamW,
    best: &HashMap<String, Tensor>,
    counts: &Counts,
) -> Result<()> {
    let weights: Vec<(String, Tensor)> = network
        .parameters()
        .into_iter()
        .map(|(label, weight)| (format!("weight/{label}"), weight.shallow_clone()))
        .collect();
    let weights = weights.iter().map(|(label, weight)| (label.clone(), weight));
    let moments = optimizer.moments.iter().flat_map(|(label, (first, second))| {
        [(format!("first/{label}"), first), (format!("second/{label}"), second)]
    });
    let best = best.iter().map(|(label, weight)| (format!("best/{label}"), weight));
    let counts = serde_json::to_string(counts).unwrap_or_default();
    write_tensors(path, weights.chain(moments).chain(best), ("counts", counts))
}

/// Reads a checkpoint into a network and its optimizer; `None` if there is none of this training.
pub(crate) fn read(
    path: &Path,
    key: &str,
    network: &mut Network,
    optimizer: &mut AdamW,
) -> Result<Option<Restored>> {
    let Ok(file) = read_regular(path, MOST_OF_A_CHECKPOINT) else { return Ok(None) };
    let damaged = |found: String| -> Error {
        problem!(path, "a checkpoint", found, "remove the file, and training begins again").into()
    };
    let (_, header) =
        SafeTensors::read_metadata(&file).map_err(|error| damaged(error.to_string()))?;
    let counts = header.metadata().as_ref().and_then(|metadata| metadata.get("counts"));
    let counts: Counts = counts
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or_else(|| damaged("a file without counts".to_owned()))?;
    if counts.key != key {
        return Ok(None);
    }
    let _without_tape = tch::no_grad_guard();
    let mut best = HashMap::new();
    let mut named: HashMap<String, Tensor> = Tensor::read_safetensors(path)
        .map_err(|error| damaged(error.to_string()))?
        .into_iter()
        .collect();
    for (label, weight) in network.parameters() {
        let mut take = |kind: &str| {
            named
                .remove(&format!("{kind}/{label}"))
                .ok_or_else(|| damaged(format!("no {kind} of {label}")))
        };
        let (value, first, second) = (take("weight")?, take("first")?, take("second")?);
        if let Ok(value) = take("best") {
            best.insert(label.clone(), value);
        }
        let Some(moments) = optimizer.moments.get_mut(&label) else { continue };
        for (to, from) in [(&mut *weight, value), (&mut moments.0, first), (&mut moments.1, second)]
        {
            if to.size() != from.size() {
                return Err(damaged(format!("{label} of the shape {:?}", from.size())));
            }
            to.copy_(&from);
        }
    }
    optimizer.steps = counts.step as i32;
    optimizer.decay = f64::from_bits(counts.decay);
    Ok(Some((counts, best)))
}
