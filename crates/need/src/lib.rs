//! How much clarification does a request need, from 1 (clear by itself) to 4 (cannot be answered before asking back)?
//!
//! A [`Spec`] says which model a configuration means. [`Training`] makes the features of labelled topics, on which
//! [`Training::cross_validate`] judges it and [`Training::fit`] makes a [`Classifier`] of it; that labels requests, says why, and is
//! kept as JSON. Models see [`Features`] alone, through the trait [`NeedModel`].
//!
//! ```
//! use clariq_collections::clariq::{Collection, DataDir, Split};
//! use clariq_core::Location;
//! use clariq_need::{Spec, Training};
//! use clariq_core::{NoModels};
//! use clariq_rank::{NeedConfig};
//!
//! let sample = Collection::open(DataDir::Sample)?;
//! let config = NeedConfig { model: "lexical".to_owned(), ..NeedConfig::default() };
//! let spec = Spec::new(&config, &Location::file("example"))?;
//! let train = sample.labelled(Split::Train)?;
//! let classifier = Training::new(spec, &sample.bank, &NoModels, &train)?.fit(42)?;
//! let labels = classifier.predict(&sample.split(Split::Dev)?.topics)?;
//! assert!((labels[0].probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod baseline;
mod bert;
mod classifier;
mod cross_validation;
mod ensemble;
mod error;
mod features;
mod linear;
mod model;
mod ordinal;
mod phrase;
mod random;
mod saved;
mod spec;
mod text;

pub use baseline::{Majority, Prior};
pub use bert::{Bert, BertSpec};
pub use classifier::{Classifier, MadeOf, Training};
pub use cross_validation::{HELD_OUT_FOLDS, Repeat};
pub use ensemble::{Ensemble, EnsembleSpec};
pub use error::Error;
pub use features::{Block, Extractor, Features};
pub use linear::Weighted;
pub use model::{Contribution, NeedModel, Prediction};
pub use ordinal::Ordinal;
pub use spec::{Model, Spec};
