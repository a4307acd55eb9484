//! Systems as their configurations describe them. A TOML file, with parameters that override its own, is
//! read and checked once, into a [`SystemConfig`]; nothing is opened, trained or ranked here.
//!
//! ```
//! use clariq_rank::Override;
//! use clariq_systems::{SystemConfig, parse_assignment};
//!
//! let parameter: Override = parse_assignment("bm25.k1=0.9", "--set")?;
//! let config = SystemConfig::open("bm25", &[parameter])?;
//! assert_eq!(config.full_name(), "bm25-k1-0.9");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A file has three forms on the way to a ranking: a [`SystemFile`](clariq_rank::SystemFile) is its
//! tables with pipelines of stages, a [`SystemConfig`] is checked, with the [`Plan`] of what is
//! ranked and answered, and the crate `experiment` opens it with models and documents.

#![deny(missing_docs)]

/// The files of a folder that are part of the program, each with its name without `.toml`.
macro_rules! built_in {
    ($folder:literal $($name:literal)*) => {
        &[$(($name, include_str!(concat!($folder, $name, ".toml")))),*]
    };
}

pub mod built_in;
mod config;
mod models;
mod need;
mod overrides;
pub mod plan;
pub mod recipes;
mod rewrites;
mod trained;

pub use config::{SystemConfig, check_names_differ, has_answered};
pub use models::Endpoints;
pub use need::{FewShotConfig, NeedTable};
pub use overrides::parse_assignment;
pub use plan::{Plan, StageDepth};
pub use rewrites::Rewrites;
pub use trained::find_recipes;
