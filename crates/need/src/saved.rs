//! Saved models: JSON with everything that made a model, which is used only with the same.

use crate::classifier::{Classifier, MadeOf};
use crate::features::Extractor;
use crate::model::Model;
use clariq_collections::clariq::Bank;
use clariq_core::Error;
use clariq_core::{Location, Models, Problem, ProblemKind};
use clariq_files::{MOST_OF_A_TABLE, Source, Target};
use serde::{Deserialize, Serialize};

/// Grows with every change after which older models could not be read or would predict something
/// else.
const FORMAT: u32 = 2;

/// What every format has: it distinguishes a model of another format from a damaged one.
#[derive(Deserialize)]
struct Header {
    need_model: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    need_model: u32,
    made_of: MadeOf,
    model: Model,
}

impl Classifier {
    /// Writes the model; the same training gives the same bytes.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn write(&self, target: &Target) -> Result<(), Error> {
        let saved =
            Saved { need_model: FORMAT, made_of: self.made_of.clone(), model: self.model.clone() };
        Ok(target.write(|out| {
            serde_json::to_writer_pretty(&mut *out, &saved)?;
            writeln!(out)
        })?)
    }

    /// Reads a model and checks that bank, features and encoder are those that it was made of.
    ///
    /// # Errors
    ///
    /// A file that is no model, or a model that was made of something else.
    pub fn read(source: &Source, bank: &Bank, models: &dyn Models) -> Result<Self, Error> {
        let input = source.read_at_most(MOST_OF_A_TABLE)?;
        let not_a_model = |error| not_a_model(&input.name, &error);
        let Header { need_model } = serde_json::from_slice(&input.bytes).map_err(not_a_model)?;
        if need_model != FORMAT {
            let expected = format!("a need model of format {FORMAT}");
            return Err(misfit(&input.name, expected, format!("format {need_model}")));
        }
        let Saved { made_of, model, .. } =
            serde_json::from_slice(&input.bytes).map_err(not_a_model)?;
        check_features(&input.name, &made_of, &model)?;
        if !made_of.features.is_empty() && made_of.bank_sha256 != *bank.checksum() {
            let expected =
                format!("a model made with the question bank {}", bank.checksum().short());
            let found = format!("one made with {}", made_of.bank_sha256.short());
            return Err(misfit(&input.name, expected, found));
        }
        let extractor = Extractor::new(&made_of.config, bank, models)?;
        if made_of.encoder.as_deref() != extractor.encoder_checksum() {
            let name = |checksum: Option<&str>| checksum.unwrap_or("none").to_owned();
            let expected =
                format!("a model made with the encoder {}", name(extractor.encoder_checksum()));
            return Err(misfit(&input.name, expected, name(made_of.encoder.as_deref())));
        }
        Ok(Self { made_of, model, extractor })
    }
}

/// The features must be this program's, with a weight for each.
fn check_features(name: &str, made_of: &MadeOf, model: &Model) -> Result<(), Error> {
    if made_of.features != made_of.config.feature_names() {
        let found = format!("{} features of clariq {}", made_of.features.len(), made_of.clariq);
        return Err(misfit(name, "the features of this program".to_owned(), found));
    }
    let known = made_of.config.blocks();
    if !model.is_consistent() || model.blocks().iter().any(|block| !known.contains(block)) {
        let expected = "weights for all features".to_owned();
        return Err(misfit(name, expected, "another number of them".to_owned()));
    }
    Ok(())
}

fn misfit(name: &str, expected: String, found: String) -> Error {
    Problem::new(Location::file(name), ProblemKind::Model, expected, found)
        .hint("train it again on this data: `clariq need train`")
        .into()
}

fn not_a_model(name: &str, error: &serde_json::Error) -> Problem {
    let at = Location::line(name, error.line().max(1) as u64);
    let (expected, found) = ("a whole JSON object", error.to_string());
    let expected = format!("a need model that `clariq need train` wrote: {expected}");
    Problem::new(at, ProblemKind::Model, expected, found).hint(
        "a configuration ends in .toml; train a model with `clariq need train CONFIG -o FILE`",
    )
}
