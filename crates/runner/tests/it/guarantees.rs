//! Guarantees of all commands.

mod bad_input;
mod damaged_cache;
mod determinism;
#[cfg(target_os = "linux")]
mod full_disk;
mod kill;
mod outputs;
