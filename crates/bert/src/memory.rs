//! Whether a model fits into memory, before it is read.

use clariq_core::{Result, bail, read_regular};
use clariq_folder::header_of;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tch::Kind;

/// Refuses weights for which there is no room: they are read as 32-bit floats, from which the network is
/// made. What is free is known on Linux.
pub(crate) fn expect_room(files: &[PathBuf], kind: Kind) -> Result<()> {
    let (Some(free), Some(file)) = (free_bytes(), files.first()) else { return Ok(()) };
    let numbers = files.iter().filter_map(|file| numbers_in(file)).sum();
    check(file, numbers, kind, free)
}

fn check(file: &Path, numbers: u64, kind: Kind, free: u64) -> Result<()> {
    let of_network = kind.elt_size_in_bytes() as u64;
    let needed = numbers.saturating_mul(size_of::<f32>() as u64 + of_network);
    if needed <= free {
        return Ok(());
    }
    let in_gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
    let [needed, free] = [needed, free].map(in_gigabytes);
    let hint = "`--precision bf16` needs a quarter less; a table [models.NAME] names a server that has \
                the model";
    bail!(file, "{needed} of free memory for {numbers} numbers", "{free}", "{hint}")
}

/// The floating-point numbers in a file of safetensors; `None` if it cannot be opened, which is reported
/// when its weights are read.
fn numbers_in(file: &Path) -> Option<u64> {
    let header = header_of(file).ok()?;
    let of_tensor = |tensor: &Value| {
        let sizes = tensor.get("shape")?.as_array()?.iter();
        sizes.map(Value::as_u64).try_fold(1_u64, |all, size| all.checked_mul(size?))
    };
    Some(header.values().filter_map(of_tensor).sum())
}

/// The text of a file of the system.
fn short_text(file: &str) -> Option<String> {
    String::from_utf8(read_regular(Path::new(file), 1 << 20).ok()?).ok()
}

/// The memory that is free for this process.
fn free_bytes() -> Option<u64> {
    let text = short_text("/proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    let bytes = kilobytes * 1024;
    // A container has a limit of its own.
    let number = |file: &str| short_text(file)?.trim().parse::<u64>().ok();
    let [most, used] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"].map(number);
    let own = most.zip(used).map_or(u64::MAX, |(most, used)| most.saturating_sub(used));
    Some(bytes.min(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_does_not_fit_is_refused_with_what_it_needs() {
        let file = Path::new("model.safetensors");
        let numbers = 600_000_000;
        assert!(check(file, numbers, Kind::Float, 4_800_000_000).is_ok());
        assert!(check(file, numbers, Kind::BFloat16, 3_600_000_000).is_ok());
        let error = check(file, numbers, Kind::Float, 4_700_000_000).unwrap_err().to_string();
        assert!(error.contains("4.8 GB of free memory for 600000000 numbers"), "{error}");
        assert!(error.contains("4.7 GB"), "{error}");
    }

    #[test]
    fn numbers_are_counted_by_the_header_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("model.safetensors");
        let tensor = tch::Tensor::zeros([3, 5], (Kind::Half, tch::Device::Cpu));
        let other = tch::Tensor::zeros([7], (Kind::Float, tch::Device::Cpu));
        tch::Tensor::write_safetensors(&[("a", tensor), ("b", other)], &file).unwrap();
        assert_eq!(numbers_in(&file), Some(22));
        assert_eq!(numbers_in(folder.path()), None);
    }
}
