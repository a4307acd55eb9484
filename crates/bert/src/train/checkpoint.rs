//! Checkpoints: one file with weights, moments and everything counted so far.

use crate::network::Network;
use crate::train::adamw::AdamW;
use crate::train::curve::Curve;
use crate::weights::{tensor_bytes, write_tensors};
use clariq_core::{Checksum, Error, Result, problem, read_regular};
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use tch::Tensor;

/// The counters of a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrainingCounters {
    /// The key of the training: a checkpoint of another one is not used.
    pub(crate) key: Checksum,
    /// Steps done.
    pub(crate) step: usize,
    /// The bits of what weight decay did so far, so that nothing is rounded.
    pub(crate) decay: u64,
    pub(crate) curve: Curve,
    /// Step and mean recall of the best evaluation.
    pub(crate) best: Option<(usize, f64)>,
}

/// The counters, and the best weights so far.
pub(crate) type RestoredTraining = (TrainingCounters, HashMap<String, Tensor>);

/// Writes a checkpoint in place of the one before.
pub(crate) fn write(
    path: &Path,
    network: &mut Network,
    optimizer: &AdamW,
    best: &HashMap<String, Tensor>,
    counts: &TrainingCounters,
) -> Result<()> {
    let mut tensors = Vec::new();
    for (label, weight) in network.parameters() {
        tensors.push(tensor_bytes(format!("weight/{label}"), weight)?);
    }
    for (label, (first, second)) in &optimizer.moments {
        tensors.push(tensor_bytes(format!("first/{label}"), first)?);
        tensors.push(tensor_bytes(format!("second/{label}"), second)?);
    }
    for (label, weight) in best {
        tensors.push(tensor_bytes(format!("best/{label}"), weight)?);
    }
    tensors.sort();
    let counts = serde_json::to_string(counts).expect("plain data");
    let parts = tensors.iter().map(|(name, _, bytes)| (name.as_str(), bytes.as_slice()));
    let sum = checksum(&counts, parts);
    write_tensors(path, &tensors, [("counts", counts), ("sha256", sum.to_string())])
}

/// The checksum of what was counted and of all tensors, in the order of their names.
fn checksum<'t>(counts: &str, tensors: impl IntoIterator<Item = (&'t str, &'t [u8])>) -> Checksum {
    let mut parts: Vec<&[u8]> = vec![counts.as_bytes()];
    for (name, bytes) in tensors {
        parts.extend([b"\0", name.as_bytes(), b"\0", bytes]);
    }
    Checksum::of_pieces(parts)
}

/// Reads a checkpoint into a network and its optimizer; `None` if there is none of this training.
pub(crate) fn read(
    path: &Path,
    key: &Checksum,
    network: &mut Network,
    optimizer: &mut AdamW,
) -> Result<Option<RestoredTraining>> {
    let Ok(file) = read_regular(path, u64::MAX) else { return Ok(None) };
    let damaged = |found: String| -> Error {
        problem!(path, "a checkpoint", found, "remove the file, and training begins again").into()
    };
    let (_, header) =
        SafeTensors::read_metadata(&file).map_err(|error| damaged(error.to_string()))?;
    let metadata = header.metadata().as_ref();
    let entry = |name: &str| metadata.and_then(|metadata| metadata.get(name));
    let text = entry("counts").ok_or_else(|| damaged("a file without counts".to_owned()))?;
    let tensors =
        SafeTensors::deserialize(&file).map_err(|error| damaged(error.to_string()))?.tensors();
    let mut parts: Vec<(&str, &[u8])> =
        tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.data())).collect();
    parts.sort_unstable();
    if entry("sha256").map(String::as_str) != Some(checksum(text, parts).as_str()) {
        return Err(damaged("another checksum than its own".to_owned()));
    }
    let counts: TrainingCounters =
        serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
    if counts.key != *key {
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
        let value = take("weight")?;
        let first = take("first")?;
        let second = take("second")?;
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
