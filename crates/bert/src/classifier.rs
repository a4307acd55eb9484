//! Of which class is a text? A BERT with a classifier over `[CLS]`.

use crate::error::Error;
use crate::folder::{ModelFolder, problem};
use crate::network::Network;
use crate::options::{device, kind, sign};
use crate::streams::answer_all;
use crate::tokens::Tokenize;
use crate::weights::Weights;
use clariq_core::ModelOptions;
use clariq_rank::Progress;
use std::path::Path;
use std::sync::Mutex;

/// A `BertForSequenceClassification` of texts on their own.
pub struct BertClassifier {
    network: Mutex<Network>,
    tokenize: Tokenize,
    classes: usize,
    threads: usize,
    name: String,
    checksum: String,
}

impl BertClassifier {
    /// Reads a classifier of so many classes.
    pub fn open(path: &Path, classes: usize, options: &ModelOptions) -> Result<Self, Error> {
        let folder = ModelFolder::open(path)?;
        let weights = Weights::read(&folder)?;
        weights.get("pooler.dense.weight")?;
        let found = weights.get("classifier.weight")?.size()[0];
        if found != classes as i64 {
            return Err(problem(
                &folder.weights()?,
                format!("a classifier of {classes} classes"),
                found.to_string(),
            )
            .hint("a model for another task cannot classify these texts")
            .into());
        }
        let network =
            Network::new(&folder.shape, &weights, device(options)?, kind(options.precision))?
                .for_inference();
        Ok(Self {
            network: Mutex::new(network),
            tokenize: Tokenize::open(&folder, options.max_tokens)?,
            classes,
            threads: options.threads,
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            checksum: sign(options, &folder.checksum),
        })
    }
}

impl clariq_rank::TextClassifier for BertClassifier {
    fn classify(
        &self,
        texts: &[&str],
        progress: Progress,
    ) -> Result<Vec<Vec<f64>>, clariq_rank::Error> {
        let tokens = self.tokenize.texts(texts)?;
        let answer = |network: &Network, input: &crate::network::Input| network.logits(input);
        let logits =
            answer_all(&self.network, &tokens, self.classes, self.threads, answer, progress)?;
        Ok(logits.chunks_exact(self.classes).map(softmax).collect())
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn checksum(&self) -> &str {
        &self.checksum
    }
}

fn softmax(logits: &[f32]) -> Vec<f64> {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f64> = logits.iter().map(|logit| f64::from(logit - highest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_softmax_is_one_in_all_and_never_overflows() {
        assert_eq!(softmax(&[2.0, 2.0]), [0.5, 0.5]);
        let far = softmax(&[1000.0, 0.0, -1000.0]);
        assert!(far[0] > 0.999 && (far.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
