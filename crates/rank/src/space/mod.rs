//! How alike are two texts? A space is a weighted mean of cosines: of the vectors of encoders, and of character n-grams.
//!
//! Stages that look at a neighbourhood need the similarity of requests to questions and of questions to each other in
//! one and the same space. A weighted mean of cosines is the cosine of vectors that are put side by side, scaled by the
//! roots of the weights; these vectors are never made.

mod characters;
mod remembered;

use crate::context::Context;
use crate::error::Error;
use crate::learned::Embeddings;
use crate::stage::Progress;
use characters::Characters;
use clariq_core::{Location, Problem, ProblemKind};
use ndarray::{Array2, ArrayView2};
use remembered::Remembered;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a space consists of, as a configuration says it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceConfig {
    /// Encoders and the weights of their cosines.
    #[serde(default)]
    pub models: BTreeMap<String, f64>,
    /// The weight of the cosine of character n-grams, which sees names that are spelt in two ways.
    #[serde(default)]
    pub characters: f64,
}

impl SpaceConfig {
    /// Refuses a space that nothing can be measured in.
    pub(crate) fn check(&self, at: Location) -> Result<(), Error> {
        let weights = || self.models.values().copied().chain([self.characters]);
        if weights().all(|weight| weight.is_finite() && weight >= 0.0)
            && weights().sum::<f64>() > 0.0
        {
            return Ok(());
        }
        let expected = "weights of models and characters of at least 0, one above it";
        let found = format!("{:?} and characters = {}", self.models, self.characters);
        Err(Problem::new(at, ProblemKind::Configuration, expected, found)
            .hint("for example [space] models = { \"all-MiniLM-L6-v2\" = 1.0 }")
            .into())
    }

    /// Opens the models and encodes the bank.
    pub(crate) fn open(&self, context: &Context) -> Result<Space, Error> {
        let texts: Vec<&str> = context.bank.rows().iter().map(|row| row.text.as_str()).collect();
        let total: f64 = self.models.values().sum::<f64>() + self.characters;
        let mut channels = Vec::new();
        for (name, weight) in self.models.iter().filter(|(_, weight)| **weight > 0.0) {
            let bank = context.models().bank(name, &texts, &|_| {})?;
            let channel =
                Channel::Encoder { name: name.clone(), bank, remembered: Remembered::default() };
            channels.push(((weight / total) as f32, channel));
        }
        if self.characters > 0.0 {
            let characters = Characters::new(&texts);
            channels.push(((self.characters / total) as f32, Channel::Characters(characters)));
        }
        Ok(Space { channels })
    }
}

enum Channel {
    Encoder { name: String, bank: Arc<Embeddings>, remembered: Remembered },
    Characters(Characters),
}

/// An open space over a bank.
pub(crate) struct Space {
    channels: Vec<(f32, Channel)>,
}

impl Space {
    /// Similarities of requests (rows) to questions of the bank (columns).
    pub(crate) fn to_questions(
        &self,
        context: &Context,
        requests: &[&str],
        questions: &[u32],
        progress: Progress,
    ) -> Result<Array2<f32>, Error> {
        let mut sum = Array2::zeros((requests.len(), questions.len()));
        for (weight, channel) in &self.channels {
            match channel {
                Channel::Encoder { name, bank, .. } => {
                    let encoded = context.models().encoder(name)?.encode(requests, progress)?;
                    sum.scaled_add(*weight, &matrix(&encoded).dot(&rows(bank, questions).t()));
                }
                Channel::Characters(characters) => {
                    characters.add_requests(requests, questions, *weight, &mut sum)
                }
            }
        }
        Ok(sum)
    }

    /// The same for texts that come again and again. What a text gets depends on nothing but the text: not on the others,
    /// nor on what was asked before.
    pub(crate) fn of_texts(
        &self,
        context: &Context,
        texts: &[&str],
        questions: &[u32],
    ) -> Result<Array2<f32>, Error> {
        let mut sum = Array2::zeros((texts.len(), questions.len()));
        for (weight, channel) in &self.channels {
            match channel {
                Channel::Encoder { name, bank, remembered } => {
                    let vectors = remembered.vectors(context, name, bank, texts)?;
                    sum.scaled_add(*weight, &vectors.dot(&rows(bank, questions).t()));
                }
                Channel::Characters(characters) => {
                    characters.add_requests(texts, questions, *weight, &mut sum)
                }
            }
        }
        Ok(sum)
    }

    /// Similarities of questions to each other.
    pub(crate) fn among_questions(&self, questions: &[u32]) -> Array2<f32> {
        let mut sum = Array2::zeros((questions.len(), questions.len()));
        for (weight, channel) in &self.channels {
            match channel {
                Channel::Encoder { bank, .. } => {
                    let rows = rows(bank, questions);
                    sum.scaled_add(*weight, &rows.dot(&rows.t()));
                }
                Channel::Characters(characters) => {
                    characters.add_questions(questions, *weight, &mut sum)
                }
            }
        }
        sum
    }

    /// What each channel adds to the similarity of a request and a question, by name.
    pub(crate) fn parts(
        &self,
        context: &Context,
        request: &str,
        question: u32,
    ) -> Result<Vec<(String, f64, f64)>, Error> {
        let mut parts = Vec::new();
        for (weight, channel) in &self.channels {
            let mut one = Array2::zeros((1, 1));
            let name = match channel {
                Channel::Encoder { name, bank, .. } => {
                    let encoded = context.models().encoder(name)?.encode(&[request], &|_| {})?;
                    one = matrix(&encoded).dot(&rows(bank, &[question]).t());
                    format!("cosine by `{name}`")
                }
                Channel::Characters(characters) => {
                    characters.add_requests(&[request], &[question], 1.0, &mut one);
                    "cosine of character n-grams".to_owned()
                }
            };
            parts.push((name, f64::from(*weight), f64::from(one[[0, 0]])));
        }
        Ok(parts)
    }
}

fn matrix(embeddings: &Embeddings) -> ArrayView2<'_, f32> {
    // The shape is that of the values by construction; an empty matrix stands for embeddings of another shape.
    ArrayView2::from_shape((embeddings.len(), embeddings.dim), &embeddings.values).unwrap_or_else(
        |_| {
            ArrayView2::from_shape((0, 0), &[])
                .unwrap_or_else(|_| unreachable!("no numbers in no rows"))
        },
    )
}

fn rows(embeddings: &Embeddings, questions: &[u32]) -> Array2<f32> {
    let mut rows = Array2::zeros((questions.len(), embeddings.dim));
    for (mut row, &question) in rows.rows_mut().into_iter().zip(questions) {
        row.assign(&ndarray::ArrayView1::from(embeddings.row(question as usize)));
    }
    rows
}
