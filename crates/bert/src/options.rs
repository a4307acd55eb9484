//! The device and numeric types of libtorch that options name.

use clariq_core::Error;
use clariq_core::{Location, ModelOptions, Precision, Problem, ProblemKind};
use tch::{Device, Kind};

/// The type of tensors that a precision means.
pub(crate) fn kind(precision: Precision) -> Kind {
    match precision {
        Precision::F32 => Kind::Float,
        Precision::Bf16 => Kind::BFloat16,
    }
}

/// What libtorch can compute on here, in words.
pub(crate) fn devices() -> String {
    match tch::Cuda::device_count() {
        0 => "CPU".to_owned(),
        1 => "CPU and 1 GPU".to_owned(),
        count => format!("CPU and {count} GPUs"),
    }
}

/// Counts the ways in which this crate has computed the same numbers: another order of sums, other
/// last bits.
const ARITHMETIC: u32 = 2;

/// The device, if libtorch has it.
pub(crate) fn device(options: &ModelOptions) -> Result<Device, Error> {
    let problem = |expected: String, hint: &str| -> Error {
        Problem::new(
            Location::file("--device"),
            ProblemKind::Argument,
            expected,
            format!("`{}`", options.device),
        )
        .hint(hint)
        .into()
    };
    if options.device == "cpu" {
        return Ok(Device::Cpu);
    }
    let number =
        if options.device == "cuda" { Some("0") } else { options.device.strip_prefix("cuda:") };
    let Some(number) = number.and_then(|number| number.parse::<usize>().ok()) else {
        return Err(problem("`cpu` or `cuda:0`".to_owned(), "`cuda:1` is the second GPU"));
    };
    let found = usize::try_from(tch::Cuda::device_count()).unwrap_or(0);
    if number >= found {
        let hint =
            "a CUDA build of libtorch 2.4 is needed: `LIBTORCH=DIR scripts/setup`, and build again";
        return Err(problem(format!("one of {found} GPUs that libtorch sees, or `cpu`"), hint));
    }
    Ok(Device::Cuda(number))
}

/// The checksum of a model together with what else its numbers depend on, to the last bit.
pub(crate) fn sign(options: &ModelOptions, checksum: &str) -> String {
    let cut = options.max_tokens.map_or_else(|| "whole".to_owned(), |limit| limit.to_string());
    let text =
        format!("{ARITHMETIC} {checksum} {} {cut} {}", options.precision, options.computes_with());
    clariq_core::sha256_hex(text.as_bytes())
}
