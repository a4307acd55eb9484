//! Clarification need: how much a request needs a question back, from 1 (clear by itself) to 4
//! (cannot be answered before asking); in collections of one's own, a label of any set of names.
//!
//! A [`NeedConfig`] declares a model. [`NeedTraining`] makes the features of labelled topics,
//! judges the model by [`NeedTraining::cross_validate`] and trains it by [`NeedTraining::fit`]. The
//! resulting [`Classifier`] labels requests, explains its labels, and is saved as JSON.
//!
//! ```
//! use clariq_collections::Collection;
//! use clariq_core::SplitRole;
//! use clariq_track_clariq::ClariQ;
//! use clariq_need::{NeedConfig, NeedTraining};
//!
//! let sample = ClariQ::open(clariq_track_clariq::SAMPLE)?;
//! let train = (&sample as &dyn Collection).labelled_requests(&[SplitRole::Learn])?;
//! let classifier = NeedTraining::new(NeedConfig::lexical(), &sample.bank, &train)?.fit()?;
//! let labels = classifier.predict(&["Tell me about jaguars."]);
//! assert!((labels[0].probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod classifier;
mod config;
mod cross_validation;
mod features;
mod linear;
mod model;
mod phrase;
mod text;
mod training;

pub use classifier::{Classifier, ModelOrigin};
pub use config::{Block, NeedConfig};
pub use cross_validation::{HELD_OUT_FOLDS, MOST_REPEATS, Repeat};
pub use features::{Extractor, Features};
pub use model::{Contribution, NeedModel, Prediction, Regressions};
pub use training::NeedTraining;
