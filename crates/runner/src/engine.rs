//! The engine of this build: the one place that knows whether it has learned stages.

use clariq_core::Engine;

/// What opens and trains learned models.
#[cfg(feature = "bert")]
pub(crate) const ENGINE: Option<&dyn Engine> = Some(&clariq_bert::Torch);

/// A build without libtorch has nothing that could.
#[cfg(not(feature = "bert"))]
pub(crate) const ENGINE: Option<&dyn Engine> = None;
