//! The catalogue entry of a measure: its names, and how it is made from parameters.

use super::Measure;
use super::error::MeasureError;
use super::parameters::Parameters;

/// A measure of the [catalogue](super::CATALOGUE).
#[derive(Debug)]
pub struct Spec {
    /// Its name in the spelling of `ir_measures`.
    pub name: &'static str,
    /// A second name, used by `ir_measures`.
    pub alias: Option<&'static str>,
    /// What `trec_eval` calls it without a cut-off.
    pub trec: Option<&'static str>,
    /// What `trec_eval` calls it with a cut-off, which follows after `_` or `.`.
    pub trec_cut: Option<&'static str>,
    /// What the `ClariQ` scorer calls it; the cut-off follows at once.
    pub clariq: Option<&'static str>,
    /// A name that is complete.
    pub example: &'static str,
    /// One line on what it says of a topic.
    pub summary: &'static str,
    /// Reads the parameters.
    pub(super) build: fn(&mut Parameters) -> Result<Box<dyn Measure>, MeasureError>,
}

impl Spec {
    /// All its names, without parameters.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.name), self.alias, self.trec, self.trec_cut, self.clariq].into_iter().flatten()
    }
}
