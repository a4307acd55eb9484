//! What a check of a data folder finds.

use clariq_core::Findings;

/// What a check of a folder found.
#[derive(Debug, Clone, Default)]
pub struct CheckReport {
    /// The files that were read.
    pub files: Vec<String>,
    /// The files of a release that the folder does not have.
    pub absent: Vec<String>,
    /// Whatever is wrong, in file and line order: errors, which a reader would refuse, and
    /// warnings.
    pub findings: Findings,
}
