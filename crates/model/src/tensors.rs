//! Which tensors a safetensors file holds, by its header: nothing of the tensors themselves is read.

use crate::files::COPY_AGAIN;
use clariq_core::{Error, Result, bail, open_regular, problem};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// The shapes of tensors by their names.
pub type Tensors = BTreeMap<String, Vec<i64>>;

/// The bytes in front of the header that state its length.
const PREFIX: u64 = 8;
/// Bytes that a header may have. That of a BERT with 24 layers has 50,000.
const LONGEST: u64 = 4 << 20;

/// The floating-point tensors of a safetensors file on the disk, by their own names.
pub(crate) fn read_shapes(path: &Path) -> Result<Tensors> {
    let refused = Error::io("read", path);
    let file = open_regular(path).map_err(&refused)?;
    let size = file.metadata().map_err(&refused)?.len();
    let mut start = Vec::new();
    (&file).take(PREFIX).read_to_end(&mut start).map_err(&refused)?;
    let length = header_length(path, &start)?;
    (&file).take(length).read_to_end(&mut start).map_err(&refused)?;
    parse(path, &start, size)
}

/// The floating-point tensors of a safetensors file in memory, by their own names; `at` names the file
/// in messages.
pub(crate) fn parse_shapes(at: &Path, file: &[u8]) -> Result<Tensors> {
    let end = PREFIX + header_length(at, file)?;
    parse(at, &file[..file.len().min(end as usize)], file.len() as u64)
}

/// The length of the header that the first bytes of a file state.
fn header_length(at: &Path, start: &[u8]) -> Result<u64> {
    let Some(prefix) = start.first_chunk() else {
        bail!(at, "weights", (format!("a file of {} bytes", start.len())), COPY_AGAIN);
    };
    match u64::from_le_bytes(*prefix) {
        length @ ..=LONGEST => Ok(length),
        found => {
            bail!(at, "weights with a header of at most {LONGEST} bytes", "{found}", COPY_AGAIN)
        }
    }
}

/// The floating-point tensors that a header lists, which ends a file's `start`. The file has `size`
/// bytes in all.
fn parse(at: &Path, start: &[u8], size: u64) -> Result<Tensors> {
    let metadata: Metadata = serde_json::from_slice(&start[PREFIX as usize..])
        .map_err(|error| problem!(at, "weights with a header in JSON", "{error}", COPY_AGAIN))?;
    let mut tensors = Tensors::new();
    for (name, info) in metadata.tensors() {
        let (first, end) = info.data_offsets;
        let is_whole = end.checked_sub(first).is_some_and(|bytes| Some(bytes) == byte_length(info))
            && (start.len() as u64).checked_add(end as u64).is_some_and(|end| end <= size);
        if !is_whole {
            let found = format!("a file of {size} bytes");
            bail!(at, "weights with all numbers of `{name}`", found, COPY_AGAIN);
        }
        if matches!(info.dtype, Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::BF16) {
            // Beside a length of 0, another may be of any size.
            let signed = |&length| i64::try_from(length).unwrap_or(i64::MAX);
            tensors.insert(name, info.shape.iter().map(signed).collect());
        }
    }
    Ok(tensors)
}

fn byte_length(info: &TensorInfo) -> Option<usize> {
    let mut lengths = info.shape.iter();
    lengths.try_fold(info.dtype.size(), |bytes, &length| bytes.checked_mul(length))
}
