//! How is a trained model kept? As JSON, with everything that made it; it is used only with the same.

use crate::classifier::{Classifier, MadeOf, extractor, feature_names};
use crate::error::Error;
use crate::spec::Model;
use clariq_collections::clariq::QuestionBank;
use clariq_core::{Location, Problem, ProblemKind, plain_words};
use clariq_files::{Source, Target};
use clariq_rank::Models;
use serde::{Deserialize, Serialize};

/// Grows with every change after which older models would predict something else.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    need_model: u32,
    made_of: MadeOf,
    model: Model,
}

impl Classifier {
    /// Writes the model; the same training gives the same bytes.
    pub fn write(&self, target: &Target) -> Result<(), Error> {
        let saved =
            Saved { need_model: FORMAT, made_of: self.made_of.clone(), model: self.model.clone() };
        Ok(target.write(|out| {
            serde_json::to_writer_pretty(&mut *out, &saved)?;
            writeln!(out)
        })?)
    }

    /// Reads a model and checks that bank, features and encoder are those that it was made of.
    pub fn read(source: &Source, bank: &QuestionBank, models: &dyn Models) -> Result<Self, Error> {
        let input = source.read()?;
        let saved: Saved = serde_json::from_slice(&input.bytes)
            .map_err(|error| not_a_model(&input.name, &error))?;
        let misfit = |expected: &str, found: String| {
            Problem::new(Location::file(&input.name), ProblemKind::Model, expected, found)
                .hint("train it again on this data: `clariq need train`")
        };
        let Saved { need_model, made_of, mut model } = saved;
        if need_model != FORMAT {
            return Err(misfit(
                &format!("a need model of format {FORMAT}"),
                format!("format {need_model}"),
            )
            .into());
        }
        if made_of.features != feature_names(&made_of.spec) {
            let found = format!("{} features of clariq {}", made_of.features.len(), made_of.clariq);
            return Err(misfit("the features of this program", found).into());
        }
        if !made_of.features.is_empty() && made_of.bank_sha256 != *bank.checksum() {
            let expected =
                format!("a model made with the question bank {}", bank.checksum().short());
            return Err(misfit(
                &expected,
                format!("one made with {}", made_of.bank_sha256.short()),
            )
            .into());
        }
        let widths = model.as_model().is_consistent();
        if !widths
            || model.as_model().blocks().iter().any(|block| !made_of.spec.blocks().contains(block))
        {
            return Err(
                misfit("weights for all features", "another number of them".to_owned()).into()
            );
        }
        if let Model::Bert(bert) = &mut model {
            bert.open(&input.name, models)?;
        }
        let extractor = extractor(&made_of.spec, bank, models)?;
        if made_of.encoder.as_deref() != extractor.encoder_checksum() {
            let name = |checksum: Option<&str>| checksum.unwrap_or("none").to_owned();
            let expected =
                format!("a model made with the encoder {}", name(extractor.encoder_checksum()));
            return Err(misfit(&expected, name(made_of.encoder.as_deref())).into());
        }
        Ok(Self { made_of, model, extractor })
    }
}

fn not_a_model(name: &str, error: &serde_json::Error) -> Problem {
    let at = Location::line(name, error.line().max(1) as u64);
    let (expected, found) = plain_words(&error.to_string(), "a whole JSON object");
    let expected = format!("a need model that `clariq need train` wrote: {expected}");
    Problem::new(at, ProblemKind::Model, expected, found).hint(
        "a configuration ends in .toml; train a model with `clariq need train CONFIG -o FILE`",
    )
}
