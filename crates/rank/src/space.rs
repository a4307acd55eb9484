//! How alike two texts are: a weighted mean of cosines, of the vectors of encoders and of character
//! n-grams.
//!
//! Stages that look at a neighbourhood need the similarity of requests to documents and of
//! documents to each other in one and the same space. A weighted mean of cosines is the cosine of
//! vectors that are put side by side, scaled by the roots of the weights; these vectors are never
//! made.

mod characters;
mod remembered;
mod vectors;

use characters::Characters;
use clariq_core::Error;
use clariq_core::{
    Doc, Documents, Embeddings, Location, ModelKind, ModelName, Models, Problem, ProblemKind,
};
use ndarray::Array2;
use remembered::Remembered;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use vectors::{matrix, rows};

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

    /// The encoders that it asks for.
    pub(crate) fn models(&self) -> Vec<ModelName> {
        let encoder = |name: &String| ModelName { name: name.clone(), kind: ModelKind::Encoder };
        self.models.keys().map(encoder).collect()
    }
}

enum Channel {
    Encoder { name: String, documents: Arc<Embeddings>, remembered: Remembered },
    Characters(Characters),
}

/// An open space over documents.
pub(crate) struct Space {
    channels: Vec<(f32, Channel)>,
}

impl Space {
    /// Opens the models and encodes the documents.
    pub(crate) fn open(
        config: &SpaceConfig,
        documents: &dyn Documents,
        models: &dyn Models,
    ) -> Result<Self, Error> {
        let texts: Vec<Cow<str>> =
            Doc::all(documents.len()).map(|doc| documents.text(doc)).collect::<Result<_, _>>()?;
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let total: f64 = config.models.values().sum::<f64>() + config.characters;
        let mut channels = Vec::new();
        for (name, weight) in config.models.iter().filter(|(_, weight)| **weight > 0.0) {
            let documents = models.embed_documents(name, &texts, &|_| {})?;
            let (name, remembered) = (name.clone(), Remembered::default());
            let channel = Channel::Encoder { name, documents, remembered };
            channels.push(((weight / total) as f32, channel));
        }
        if config.characters > 0.0 {
            let characters = Characters::new(&texts);
            let channel = Channel::Characters(characters);
            channels.push(((config.characters / total) as f32, channel));
        }
        Ok(Self { channels })
    }

    /// Similarities of texts (rows) to documents (columns).
    pub(crate) fn to_documents(
        &self,
        models: &dyn Models,
        texts: &[&str],
        docs: &[Doc],
    ) -> Result<Array2<f32>, Error> {
        let mut sum = Array2::zeros((texts.len(), docs.len()));
        for (weight, channel) in &self.channels {
            match channel {
                Channel::Encoder { name, documents, .. } => {
                    let encoded = models.encoder(name)?.encode(texts, &|_| {})?;
                    sum.scaled_add(*weight, &matrix(&encoded).dot(&rows(documents, docs).t()));
                }
                Channel::Characters(characters) => {
                    characters.add_texts(texts, docs, *weight, &mut sum);
                }
            }
        }
        Ok(sum)
    }

    /// The same for texts that come again and again. What a text gets depends on nothing but the
    /// text: not on the others, nor on earlier calls.
    pub(crate) fn to_documents_each(
        &self,
        documents: &dyn Documents,
        models: &dyn Models,
        texts: &[&str],
        docs: &[Doc],
    ) -> Result<Array2<f32>, Error> {
        let mut sum = Array2::zeros((texts.len(), docs.len()));
        for (weight, channel) in &self.channels {
            match channel {
                Channel::Encoder { name, documents: embedded, remembered } => {
                    let encoded = remembered.encode(documents, models, name, embedded, texts)?;
                    sum.scaled_add(*weight, &encoded.dot(&rows(embedded, docs).t()));
                }
                Channel::Characters(characters) => {
                    characters.add_texts(texts, docs, *weight, &mut sum);
                }
            }
        }
        Ok(sum)
    }

    /// Vectors of texts that come again and again by one of the encoders, one row per text.
    pub(crate) fn encode_each(
        &self,
        documents: &dyn Documents,
        models: &dyn Models,
        encoder: &str,
        texts: &[&str],
    ) -> Result<Array2<f32>, Error> {
        let (embedded, remembered) = self.encoder(encoder)?;
        remembered.encode(documents, models, encoder, embedded, texts)
    }

    /// Cosines of vectors in the space of one of the encoders (rows) to documents (columns).
    pub(crate) fn vectors_to_documents(
        &self,
        encoder: &str,
        vectors: &Embeddings,
        docs: &[Doc],
    ) -> Result<Array2<f32>, Error> {
        let (embedded, _) = self.encoder(encoder)?;
        Ok(matrix(vectors).dot(&rows(embedded, docs).t()))
    }

    fn encoder(&self, wanted: &str) -> Result<(&Embeddings, &Remembered), Problem> {
        let mut names = Vec::new();
        for (_, channel) in &self.channels {
            if let Channel::Encoder { name, documents, remembered } = channel {
                if name == wanted {
                    return Ok((documents, remembered));
                }
                names.push(format!("`{name}`"));
            }
        }
        let at = Location::file("[space]");
        let expected = format!("`{wanted}`, in whose space a conversational encoder was trained");
        Err(Problem::new(at, ProblemKind::Configuration, expected, names.join(", "))
            .hint("`models` of the space must name it as the `base` of the model's recipe does"))
    }

    /// Similarities of documents to each other.
    pub(crate) fn among(&self, docs: &[Doc]) -> Array2<f32> {
        let mut sum = Array2::zeros((docs.len(), docs.len()));
        for (weight, channel) in &self.channels {
            match channel {
                Channel::Encoder { documents, .. } => {
                    let rows = rows(documents, docs);
                    sum.scaled_add(*weight, &rows.dot(&rows.t()));
                }
                Channel::Characters(characters) => {
                    characters.add_documents(docs, *weight, &mut sum);
                }
            }
        }
        sum
    }

    /// What each channel adds to the similarity of a text and a document: name, weight, cosine.
    pub(crate) fn parts(
        &self,
        models: &dyn Models,
        text: &str,
        doc: Doc,
    ) -> Result<Vec<(String, f64, f64)>, Error> {
        let mut parts = Vec::new();
        for (weight, channel) in &self.channels {
            let mut one = Array2::zeros((1, 1));
            let name = match channel {
                Channel::Encoder { name, documents, .. } => {
                    let encoded = models.encoder(name)?.encode(&[text], &|_| {})?;
                    one = matrix(&encoded).dot(&rows(documents, &[doc]).t());
                    format!("cosine by `{name}`")
                }
                Channel::Characters(characters) => {
                    characters.add_texts(&[text], &[doc], 1.0, &mut one);
                    "cosine of character n-grams".to_owned()
                }
            };
            parts.push((name, f64::from(*weight), f64::from(one[[0, 0]])));
        }
        Ok(parts)
    }
}
