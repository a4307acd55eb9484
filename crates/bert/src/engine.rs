//! libtorch as an engine.

use crate::conversation::BertConversationEncoder;
use crate::cross_encoder::CrossEncoder;
use crate::encoder::BertEncoder;
use crate::options::devices;
use crate::train::train;
use clariq_core::{ConversationEncoder, Encoder, Engine, Error, PairScorer};
use clariq_core::{ModelOptions, Trained, Training, TrainingEvent};
use clariq_model::ModelFolder;
use std::path::Path;
use std::sync::Arc;

/// Models of the BERT family on libtorch.
pub struct Torch;

/// Steps whose losses are averaged at either end of a training.
const ENDS: usize = 10;

impl Engine for Torch {
    fn describe(&self) -> String {
        format!("libtorch 2.4, {}", devices())
    }

    fn checksum(&self, folder: &Path) -> Result<String, Error> {
        Ok(ModelFolder::open(folder)?.checksum)
    }

    fn open_encoder(
        &self,
        folder: &Path,
        options: &ModelOptions,
    ) -> Result<Arc<dyn Encoder>, Error> {
        Ok(Arc::new(BertEncoder::open(folder, options)?))
    }

    fn open_conversation_encoder(
        &self,
        folder: &Path,
        options: &ModelOptions,
    ) -> Result<Arc<dyn ConversationEncoder>, Error> {
        Ok(Arc::new(BertConversationEncoder::open(folder, options)?))
    }

    fn open_pair_scorer(
        &self,
        folder: &Path,
        options: &ModelOptions,
    ) -> Result<Arc<dyn PairScorer>, Error> {
        Ok(Arc::new(CrossEncoder::open(folder, options)?))
    }

    fn train(
        &self,
        training: &Training,
        folder: &Path,
        tell: &mut dyn FnMut(&TrainingEvent),
    ) -> Result<Trained, Error> {
        let trained = train(training, folder, tell)?;
        let (first_loss, last_loss) = trained.curve.loss(ENDS).unwrap_or_default();
        Ok(Trained {
            folder: trained.folder,
            steps: trained.curve.rows.len(),
            first_loss,
            last_loss,
            recall: trained.curve.rows.iter().rev().find_map(|row| row.recall),
        })
    }
}
