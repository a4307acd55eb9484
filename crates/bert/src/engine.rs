//! The engine for libtorch.

use crate::models::{BertEncoder, CrossEncoder, has_cuda};
use crate::sparse::SparseBert;
use crate::t5::{MonoT5, T5};
use crate::train::train;
use clariq_core::{
    Checksum, Engine, Model, ModelKind, ModelOptions, Result, Training, TrainingEvent,
    TrainingSummary, bail,
};
use clariq_folder::{
    ModelFolder, SparseFolder, StaticEncoder, StaticFolder, T5Folder, is_sparse, is_static,
};
use std::path::Path;
use std::sync::Arc;

/// BERT and its relatives on libtorch.
pub struct Torch;

/// The number of steps whose losses are averaged at the start and at the end of a training.
const AVERAGED_STEPS: usize = 10;

impl Engine for Torch {
    fn describe(&self) -> String {
        let devices = match tch::Cuda::device_count() {
            0 if has_cuda() => "CPU (it has CUDA, and sees no GPU)".to_owned(),
            0 => "CPU".to_owned(),
            1 => "CPU and 1 GPU".to_owned(),
            count => format!("CPU and {count} GPUs"),
        };
        format!("libtorch 2.4, {devices}")
    }

    fn checksum(&self, folder: &Path) -> Result<Checksum> {
        if is_sparse(folder) {
            return Ok(SparseFolder::open(folder)?.checksum());
        }
        if is_static(folder) {
            return Ok(StaticFolder::open(folder)?.checksum);
        }
        Ok(ModelFolder::open(folder)?.checksum)
    }

    fn describe_model(&self, folder: &Path) -> Result<String> {
        if T5Folder::is_one(folder) {
            return Ok(T5Folder::open(folder)?.describe());
        }
        if is_sparse(folder) {
            return Ok(SparseFolder::open(folder)?.describe());
        }
        if is_static(folder) {
            return Ok(StaticFolder::open(folder)?.describe());
        }
        ModelFolder::open(folder)?.describe()
    }

    #[expect(
        clippy::match_wildcard_for_single_variants,
        reason = "a kind of model that no folder holds needs no change here"
    )]
    fn open(&self, folder: &Path, kind: ModelKind, options: &ModelOptions) -> Result<Model> {
        Ok(match kind {
            ModelKind::Encoder if is_static(folder) => {
                Model::Encoder(Arc::new(StaticEncoder::open(folder, options)?))
            }
            ModelKind::Encoder => Model::Encoder(Arc::new(BertEncoder::open(folder, options)?)),
            ModelKind::Sparse => Model::Sparse(Arc::new(SparseBert::open(folder, options)?)),
            ModelKind::CrossEncoder if T5Folder::is_one(folder) => {
                Model::CrossEncoder(Arc::new(MonoT5::open(folder, options)?))
            }
            ModelKind::CrossEncoder => {
                Model::CrossEncoder(Arc::new(CrossEncoder::open(folder, options)?))
            }
            ModelKind::TextGenerator => Model::TextGenerator(Arc::new(T5::open(folder, options)?)),
            kind => {
                let hint = "a table [models.NAME] names the server of a model of this kind";
                bail!(folder, "an encoder, a cross-encoder or a T5 model", (kind.to_string()), hint)
            }
        })
    }

    fn train(
        &self,
        training: &Training,
        folder: &Path,
        report: &mut dyn FnMut(&TrainingEvent),
    ) -> Result<TrainingSummary> {
        let curve = train(training, folder, report)?;
        let (first_loss, last_loss) = curve.loss(AVERAGED_STEPS).unwrap_or_default();
        let steps = curve.rows.len();
        let recall = curve.last_recall();
        let first_stage = curve.first_stage;
        Ok(TrainingSummary { steps, first_loss, last_loss, recall, first_stage })
    }
}
