//! How alike two texts are: a weighted mean of cosines, of the vectors of encoders and of character
//! n-grams.
//!
//! Stages that look at a neighbourhood need the similarity of requests to documents and of
//! documents to each other in one and the same space. A weighted mean of cosines is the cosine of
//! vectors that are put side by side, scaled by the roots of the weights; these vectors are never
//! made.

mod characters;
mod encoded;

use characters::Characters;
use clariq_core::{
    Doc, Documents, Embeddings, Explanation, Location, ModelKind, ModelName, Models, Result, bail,
};
use encoded::Encoded;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

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
    /// Refuses weights by which nothing can be measured.
    pub(crate) fn check(&self, at: Location) -> Result<()> {
        let Self { models, characters } = self;
        let weights = || models.values().copied().chain([*characters]);
        if weights().all(|weight| weight.is_finite() && weight >= 0.0)
            && weights().sum::<f64>() > 0.0
        {
            return Ok(());
        }
        let expected = "weights of models and characters of at least 0, one above it";
        let hint = "for example [space] models = { \"all-MiniLM-L6-v2\" = 1.0 }";
        bail!(at, expected, "{models:?} and characters = {characters}", hint)
    }

    /// The encoders that it needs.
    pub(crate) fn models(&self) -> Vec<ModelName> {
        let encoder = |name: &String| ModelName { name: name.clone(), kind: ModelKind::Encoder };
        self.models.keys().map(encoder).collect()
    }
}

enum Channel {
    Encoder(Encoded),
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
    ) -> Result<Self> {
        let texts: Vec<Cow<str>> =
            Doc::all(documents.len()).map(|doc| documents.text(doc)).collect::<Result<_>>()?;
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let total: f64 = config.models.values().sum::<f64>() + config.characters;
        let mut channels = Vec::new();
        for (name, weight) in config.models.iter().filter(|(_, weight)| **weight > 0.0) {
            let encoded = Encoded::new(name, models.embed_documents(name, &texts, &|_| {})?);
            channels.push(((weight / total) as f32, Channel::Encoder(encoded)));
        }
        if config.characters > 0.0 {
            let channel = Channel::Characters(Characters::new(&texts));
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
    ) -> Result<Array2<f32>> {
        self.sum(texts, docs, |encoded| models.encoder(&encoded.name)?.encode(texts, &|_| {}))
    }

    /// The same for texts that recur. The row of a text depends on the text alone: not on the other
    /// texts, nor on earlier calls.
    pub(crate) fn to_documents_each(
        &self,
        documents: &dyn Documents,
        models: &dyn Models,
        texts: &[&str],
        docs: &[Doc],
    ) -> Result<Array2<f32>> {
        self.sum(texts, docs, |encoded| encoded.encode_each(documents, models, texts))
    }

    /// Sums the cosines of all channels, with the vectors of texts that `encode` makes.
    fn sum(
        &self,
        texts: &[&str],
        docs: &[Doc],
        encode: impl Fn(&Encoded) -> Result<Embeddings>,
    ) -> Result<Array2<f32>> {
        let mut sum = Array2::zeros((texts.len(), docs.len()));
        for (weight, channel) in &self.channels {
            match channel {
                Channel::Encoder(encoded) => {
                    let vectors = encode(encoded)?;
                    sum.scaled_add(*weight, &encoded.to_documents(&vectors, docs));
                }
                Channel::Characters(characters) => {
                    characters.add_texts(texts, docs, *weight, &mut sum);
                }
            }
        }
        Ok(sum)
    }

    /// One of the encoders, by its name.
    pub(crate) fn encoder(&self, wanted: &str) -> Result<&Encoded> {
        let encoders = || {
            self.channels.iter().filter_map(|(_, channel)| match channel {
                Channel::Encoder(encoded) => Some(encoded),
                Channel::Characters(_) => None,
            })
        };
        if let Some(encoded) = encoders().find(|encoded| encoded.name == wanted) {
            return Ok(encoded);
        }
        let found: Vec<_> = encoders().map(|encoded| format!("`{}`", encoded.name)).collect();
        let expected = format!("`{wanted}`, in whose space a conversational encoder was trained");
        let hint = "`models` of the space must name it as the `base` of the model's recipe does";
        bail!("[space]", expected, (found.join(", ")), hint)
    }

    /// Similarities of documents to each other.
    pub(crate) fn among(&self, docs: &[Doc]) -> Array2<f32> {
        let mut sum = Array2::zeros((docs.len(), docs.len()));
        for (weight, channel) in &self.channels {
            match channel {
                Channel::Encoder(encoded) => {
                    let rows = encoded.rows(docs);
                    sum.scaled_add(*weight, &rows.dot(&rows.t()));
                }
                Channel::Characters(characters) => {
                    characters.add_documents(docs, *weight, &mut sum);
                }
            }
        }
        sum
    }

    /// Explains the similarity of a text and a document: what each channel adds to it.
    pub(crate) fn explain(&self, models: &dyn Models, text: &str, doc: Doc) -> Result<Explanation> {
        let mut parts = Vec::new();
        for (weight, channel) in &self.channels {
            let mut cosine = Array2::zeros((1, 1));
            let name = match channel {
                Channel::Encoder(encoded) => {
                    let vector = models.encoder(&encoded.name)?.encode(&[text], &|_| {})?;
                    cosine = encoded.to_documents(&vector, &[doc]);
                    format!("cosine by `{}`", encoded.name)
                }
                Channel::Characters(characters) => {
                    characters.add_texts(&[text], &[doc], 1.0, &mut cosine);
                    "cosine of character n-grams".to_owned()
                }
            };
            let (weight, cosine) = (f64::from(*weight), f64::from(cosine[[0, 0]]));
            let what = format!("{name}: {weight:.3} × {cosine:.6}");
            parts.push(Explanation::value(weight * cosine, what));
        }
        Ok(Explanation::sum("similarity of request and document", parts))
    }
}
