//! The similarity of two texts: a weighted mean of cosines, by encoders and by character n-grams, or of
//! dot products for encoders that use them.
//!
//! Stages that use a neighbourhood need the similarity of requests to documents and of documents to
//! each other in one space. A weighted mean of cosines is the cosine of concatenated vectors, scaled by
//! the roots of the weights; these vectors are never computed.

mod characters;
mod encoded;

use characters::Characters;
use clariq_core::{
    Doc, Documents, Embeddings, Explanation, Location, ModelName, Models, Pooling,
    ReadingOverrides, Result, Similarity, bail,
};
use encoded::EncodedDocuments;
use ndarray::Array2;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// The table `[space]` of a configuration.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceConfig {
    /// Encoders and the weights of their cosines.
    #[serde(default)]
    pub models: BTreeMap<String, SpaceModel>,
    /// The weight of the cosine of character n-grams, which are robust to spelling variants.
    #[serde(default)]
    pub characters: f64,
}

/// The weight of an encoder's cosine and, in a table with the key `weight`, overrides of its folder.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SpaceModel {
    pub weight: f64,
    /// Overrides of the encoder's folder.
    pub reading: ReadingOverrides,
}

impl<'de> Deserialize<'de> for SpaceModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrTable)
    }
}

/// Reads a weight, or a table whose unknown keys are refused by name.
struct NumberOrTable;

impl<'de> Visitor<'de> for NumberOrTable {
    type Value = SpaceModel;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a weight, or a table with `weight`")
    }

    fn visit_f64<E: Error>(self, weight: f64) -> std::result::Result<SpaceModel, E> {
        Ok(SpaceModel { weight, reading: ReadingOverrides::default() })
    }

    fn visit_i64<E: Error>(self, weight: i64) -> std::result::Result<SpaceModel, E> {
        self.visit_f64(weight as f64)
    }

    fn visit_u64<E: Error>(self, weight: u64) -> std::result::Result<SpaceModel, E> {
        self.visit_f64(weight as f64)
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> std::result::Result<SpaceModel, M::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct SpaceKeys {
            weight: f64,
            max_tokens: Option<usize>,
            query_prompt: Option<String>,
            document_prompt: Option<String>,
            pooling: Option<Pooling>,
            similarity: Option<Similarity>,
        }
        let keys = SpaceKeys::deserialize(MapAccessDeserializer::new(map))?;
        let SpaceKeys { weight, max_tokens, query_prompt, document_prompt, pooling, similarity } =
            keys;
        let reading = ReadingOverrides {
            max_tokens,
            query_prompt,
            document_prompt,
            pooling,
            similarity,
            cut_at_end: false,
        };
        Ok(SpaceModel { weight, reading })
    }
}

impl SpaceModel {
    /// The model of this name, with the overrides of its folder.
    fn model(&self, name: &str) -> ModelName {
        ModelName { reading: self.reading.clone(), ..ModelName::encoder(name) }
    }
}

impl Serialize for SpaceModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct SpaceTable<'a> {
            weight: f64,
            #[serde(flatten)]
            reading: &'a ReadingOverrides,
        }
        match &self.reading {
            reading if *reading == ReadingOverrides::default() => self.weight.serialize(serializer),
            reading => SpaceTable { weight: self.weight, reading }.serialize(serializer),
        }
    }
}

impl SpaceConfig {
    /// Refuses weights that are negative or not finite, and weights that are all 0.
    pub(crate) fn check(&self, at: Location) -> Result<()> {
        let Self { models, characters } = self;
        let weights = || models.values().map(|model| model.weight).chain([*characters]);
        if weights().all(|weight| weight.is_finite() && weight >= 0.0)
            && weights().sum::<f64>() > 0.0
        {
            return Ok(());
        }
        let expected = "weights of at least 0 for models and characters, and one above 0";
        let hint = "for example [space] models = { \"all-MiniLM-L6-v2\" = 1.0 }";
        bail!(at, expected, "{models:?} and characters = {characters}", hint)
    }

    pub(crate) fn models(&self) -> Vec<ModelName> {
        self.models.iter().map(|(name, weighted)| weighted.model(name)).collect()
    }
}

/// An open space over documents.
pub(crate) struct Space {
    /// The encoders with the weights of their similarities.
    encoders: Vec<(f32, EncodedDocuments)>,
    characters: Option<(f32, Characters)>,
    /// All documents with a text, in order.
    pub(crate) with_text: Vec<Doc>,
}

impl Space {
    /// Opens the models and encodes the documents. Only character n-grams need all of their texts.
    pub(crate) fn open(
        config: &SpaceConfig,
        documents: &dyn Documents,
        models: &dyn Models,
    ) -> Result<Self> {
        let total: f64 =
            config.models.values().map(|model| model.weight).sum::<f64>() + config.characters;
        let mut encoders = Vec::new();
        let mut empty = Vec::new();
        for (name, weighted) in config.models.iter().filter(|(_, model)| model.weight > 0.0) {
            let model = weighted.model(name);
            let documents = models.embed_documents(&model, documents, &|_| {})?;
            let encoder = models.encoder(&model)?;
            let encoded = EncodedDocuments::new(model, encoder.as_ref(), documents);
            empty = encoded.empty().to_vec();
            encoders.push(((weighted.weight / total) as f32, encoded));
        }
        let weight = (config.characters / total) as f32;
        let mut characters = None;
        if config.characters > 0.0 {
            let all = Doc::all(documents.len());
            let texts = all.clone().map(|doc| documents.text(doc)).collect::<Result<Vec<_>>>()?;
            let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
            empty = all.filter(|doc| texts[doc.index()].is_empty()).collect();
            characters = Some((weight, Characters::new(&texts)));
        }
        let all = Doc::all(documents.len());
        let with_text = all.filter(|doc| empty.binary_search(doc).is_err()).collect();
        Ok(Self { encoders, characters, with_text })
    }

    /// The space, for a stage that needs cosines; encoders with dot products are refused.
    pub(crate) fn of_cosines(&self, stage: &str) -> Result<&Self> {
        for (_, encoded) in &self.encoders {
            if encoded.similarity == Similarity::Dot {
                let name = &encoded.model.name;
                let at = format!("stage `{stage}`");
                let hint = "name a model whose vectors are compared by cosine; `dense` takes both";
                bail!(at, "models compared by cosine", "`{name}`, by dot product", hint);
            }
        }
        Ok(self)
    }

    /// The vectors of texts by each encoder.
    pub(crate) fn encode(&self, models: &dyn Models, texts: &[&str]) -> Result<Vec<Embeddings>> {
        let encoders = self.encoders.iter();
        encoders.map(|(_, encoded)| models.embed_requests(&encoded.model, texts)).collect()
    }

    /// Similarities of texts (rows) to documents (columns).
    pub(crate) fn to_documents(
        &self,
        models: &dyn Models,
        texts: &[&str],
        docs: &[Doc],
    ) -> Result<Array2<f32>> {
        let vectors = self.encode(models, texts)?;
        Ok(self.similarities(texts, &vectors, 0..texts.len(), docs))
    }

    /// Similarities of some of the texts, whose vectors are known, to documents.
    pub(crate) fn similarities(
        &self,
        texts: &[&str],
        vectors: &[Embeddings],
        some: Range<usize>,
        docs: &[Doc],
    ) -> Array2<f32> {
        let mut sum = Array2::zeros((some.len(), docs.len()));
        // Without texts, the vectors have no length that could be multiplied.
        if some.is_empty() {
            return sum;
        }
        for ((weight, encoded), vectors) in self.encoders.iter().zip(vectors) {
            encoded.add_similarities(vectors, some.clone(), docs, *weight, &mut sum);
        }
        if let Some((weight, characters)) = &self.characters {
            characters.add_texts(&texts[some], docs, *weight, &mut sum);
        }
        sum
    }

    /// Similarities of documents to each other.
    pub(crate) fn among(&self, docs: &[Doc]) -> Array2<f32> {
        let mut sum = Array2::zeros((docs.len(), docs.len()));
        for (weight, encoded) in &self.encoders {
            let rows = encoded.rows(docs);
            sum.scaled_add(*weight, &rows.dot(&rows.t()));
        }
        if let Some((weight, characters)) = &self.characters {
            characters.add_documents(docs, *weight, &mut sum);
        }
        sum
    }

    /// Explains the similarity of a text and a document: what each cosine adds to it.
    pub(crate) fn explain(&self, models: &dyn Models, text: &str, doc: Doc) -> Result<Explanation> {
        let mut parts = Vec::new();
        let mut add = |weight: f32, cosine: &Array2<f32>, name: &str| {
            let weight = f64::from(weight);
            let cosine = f64::from(cosine[[0, 0]]);
            let what = format!("{name}: {weight:.3} × {cosine:.6}");
            parts.push(Explanation::value(weight * cosine, what));
        };
        for (weight, encoded) in &self.encoders {
            let vector = models.embed_requests(&encoded.model, &[text])?;
            let measure = match encoded.similarity {
                Similarity::Cosine => "cosine",
                Similarity::Dot => "dot product",
            };
            let name = format!("{measure} by `{}`", encoded.model.name);
            let mut similarity = Array2::zeros((1, 1));
            encoded.add_similarities(&vector, 0..1, &[doc], 1.0, &mut similarity);
            add(*weight, &similarity, &name);
        }
        if let Some((weight, characters)) = &self.characters {
            let mut cosine = Array2::zeros((1, 1));
            characters.add_texts(&[text], &[doc], 1.0, &mut cosine);
            add(*weight, &cosine, "cosine of character n-grams");
        }
        Ok(Explanation::sum("similarity of request and document", parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, json, to_value};

    #[test]
    fn a_weight_is_a_number_or_a_table_whose_keys_are_known() {
        let read = |models: Value| from_value::<SpaceConfig>(json!({ "models": models }));
        let plain = read(json!({ "a": 1, "b": 0.5 })).unwrap();
        assert_eq!(to_value(&plain).unwrap()["models"], json!({ "a": 1.0, "b": 0.5 }));
        let table = json!({ "a": { "weight": 1.0, "max_tokens": 8, "query_prompt": "q: ", "pooling": "cls" } });
        let own = read(table.clone()).unwrap();
        assert_eq!(to_value(&own).unwrap()["models"], table);
        assert_eq!(own.models()[0].reading.pooling, Some(Pooling::Cls));
        for (wrong, word) in [
            (json!({ "weight": 1.0, "prompt": "q" }), "`prompt`"),
            (json!({ "max_tokens": 8 }), "`weight`"),
            (json!({ "weight": 1.0, "pooling": "median" }), "`median`"),
            (json!("much"), "a weight, or a table"),
        ] {
            let message = read(json!({ "a": wrong })).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
