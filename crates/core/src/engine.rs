//! The trait of an engine: what opens and trains learned models.

use crate::model::{ConversationEncoder, Encoder, PairScorer};
use crate::problem::Error;
use crate::training::{ModelOptions, Trained, Training, TrainingEvent};
use std::path::Path;
use std::sync::Arc;

/// Opens and trains learned models. Weights and tensors are known to its implementations alone.
pub trait Engine: Send + Sync {
    /// The engine and the devices that it sees, in words.
    fn describe(&self) -> String;

    /// The SHA-256 of what the numbers of the model in a folder depend on.
    fn checksum(&self, folder: &Path) -> Result<String, Error>;

    /// Opens an encoder.
    fn open_encoder(
        &self,
        folder: &Path,
        options: &ModelOptions,
    ) -> Result<Arc<dyn Encoder>, Error>;

    /// Opens a conversational encoder.
    fn open_conversation_encoder(
        &self,
        folder: &Path,
        options: &ModelOptions,
    ) -> Result<Arc<dyn ConversationEncoder>, Error>;

    /// Opens a cross-encoder.
    fn open_pair_scorer(
        &self,
        folder: &Path,
        options: &ModelOptions,
    ) -> Result<Arc<dyn PairScorer>, Error>;

    /// Trains a model and leaves it in `folder`, which must not exist. Nothing is left there by a
    /// training that fails.
    fn train(
        &self,
        training: &Training,
        folder: &Path,
        tell: &mut dyn FnMut(&TrainingEvent),
    ) -> Result<Trained, Error>;
}
