//! The header of a safetensors file: which tensors it holds, without reading them.

use crate::layout::{Tensors, usual_name};
use crate::problem::problem;
use clariq_core::Problem;
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use std::path::Path;

/// The bytes in front of the header that state its length.
pub(crate) const PREFIX: usize = 8;
/// Bytes that a header may have. That of a BERT with 24 layers has 50,000.
const LONGEST: u64 = 4 << 20;

const HINT: &str = "copy the file again from where the model came from; it may be truncated";

/// The length of the header that the first bytes of a file state.
pub(crate) fn stated_length(at: &Path, prefix: [u8; PREFIX]) -> Result<usize, Problem> {
    let length = u64::from_le_bytes(prefix);
    if length > LONGEST {
        let expected = format!("weights with a header of at most {LONGEST} bytes");
        return Err(problem(at, expected, length.to_string()).hint(HINT));
    }
    Ok(length as usize)
}

/// The floating-point tensors that a header lists, by their usual names. The file has `size` bytes
/// in all, `start` of them up to the end of its header.
pub(crate) fn parse(at: &Path, header: &[u8], start: u64, size: u64) -> Result<Tensors, Problem> {
    let metadata: Metadata = serde_json::from_slice(header).map_err(|error| {
        let found = error.to_string();
        problem(at, "weights with a header in JSON", found).hint(HINT)
    })?;
    let mut tensors = Tensors::new();
    for (name, info) in metadata.tensors() {
        let end = byte_length(info).and_then(|bytes| {
            let (first, end) = info.data_offsets;
            (end.checked_sub(first)? == bytes).then_some(start.checked_add(end as u64)?)
        });
        if end.is_none_or(|end| end > size) {
            let expected = format!("weights with all numbers of `{name}`");
            let found = format!("a file of {size} bytes");
            return Err(problem(at, expected, found).hint(HINT));
        }
        if matches!(info.dtype, Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::BF16) {
            // Beside a length of 0, another may be of any size.
            let signed = |&length| i64::try_from(length).unwrap_or(i64::MAX);
            tensors.insert(usual_name(&name), info.shape.iter().map(signed).collect());
        }
    }
    Ok(tensors)
}

fn byte_length(info: &TensorInfo) -> Option<usize> {
    let mut lengths = info.shape.iter();
    lengths.try_fold(info.dtype.size(), |bytes, &length| bytes.checked_mul(length))
}

/// The floating-point tensors of a safetensors file that is in memory, by their usual names; `at`
/// names the file in messages.
pub fn parse_header(at: &Path, file: &[u8]) -> Result<Tensors, Problem> {
    let cut = || problem(at, "weights with a whole header", format!("{} bytes", file.len()));
    let prefix = file.first_chunk().ok_or_else(|| cut().hint(HINT))?;
    let end = PREFIX + stated_length(at, *prefix)?;
    let header = file.get(PREFIX..end).ok_or_else(|| cut().hint(HINT))?;
    parse(at, header, end as u64, file.len() as u64)
}
