//! Models of the weights of tokens, by the names that configurations give them.

use crate::bm25::{Bm25, Bm25Form};
use crate::byte_length::byte_length;
use crate::query_likelihood::QueryLikelihood;
use clariq_core::{Result, bail};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

/// A model of the weights of tokens, with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WeightingModel {
    /// A form of BM25.
    Bm25(Bm25),
    /// Query likelihood.
    QueryLikelihood(QueryLikelihood),
}

/// The name of a model in configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// [`Bm25Form::Okapi`].
    Okapi,
    /// [`Bm25Form::Lucene`].
    Lucene,
    /// [`Bm25Form::LuceneDefault`].
    #[serde(rename = "lucene-default")]
    LuceneDefault,
    /// [`Bm25Form::Plus`].
    #[serde(rename = "bm25plus")]
    Plus,
    /// [`Bm25Form::L`].
    #[serde(rename = "bm25l")]
    L,
    /// [`QueryLikelihood`].
    Ql,
}

impl Variant {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Okapi, Self::Lucene, Self::LuceneDefault, Self::Plus, Self::L, Self::Ql];
}

/// The keys of parameters in configurations.
const PARAMETERS: [&str; 4] = ["k1", "b", "delta", "mu"];

impl WeightingModel {
    /// A model with its usual parameters: those of `rank_bm25` for `okapi`, of Lucene (k1 = 1.2, b =
    /// 0.75) for `lucene` and `lucene-default`, of the papers' recommendation (δ = 1 and δ = 0.5)
    /// with `rank_bm25`'s k1 and b for `bm25plus` and `bm25l`, and μ = 1000 for `ql`, as in
    /// Anserini.
    pub fn usual(variant: Variant) -> Self {
        let okapi = Bm25::okapi();
        let lucene = Bm25::lucene();
        Self::Bm25(match variant {
            Variant::Okapi => okapi,
            Variant::Lucene => lucene,
            Variant::LuceneDefault => Bm25 { form: Bm25Form::LuceneDefault, ..lucene },
            Variant::Plus => Bm25 { form: Bm25Form::Plus { delta: 1.0 }, ..okapi },
            Variant::L => Bm25 { form: Bm25Form::L { delta: 0.5 }, ..okapi },
            Variant::Ql => return Self::QueryLikelihood(QueryLikelihood { mu: 1000.0 }),
        })
    }

    /// The name of the model.
    pub fn variant(&self) -> Variant {
        match self {
            Self::Bm25(model) => match model.form {
                Bm25Form::Okapi => Variant::Okapi,
                Bm25Form::Lucene => Variant::Lucene,
                Bm25Form::LuceneDefault => Variant::LuceneDefault,
                Bm25Form::Plus { .. } => Variant::Plus,
                Bm25Form::L { .. } => Variant::L,
            },
            Self::QueryLikelihood(_) => Variant::Ql,
        }
    }

    /// The parameter under this key, if the model has it.
    pub fn parameter(&mut self, key: &str) -> Option<&mut f64> {
        match (self, key) {
            (Self::Bm25(model), "k1") => Some(&mut model.k1),
            (Self::Bm25(model), "b") => Some(&mut model.b),
            (Self::Bm25(model), "delta") => match &mut model.form {
                Bm25Form::Plus { delta } | Bm25Form::L { delta } => Some(delta),
                Bm25Form::Okapi | Bm25Form::Lucene | Bm25Form::LuceneDefault => None,
            },
            (Self::QueryLikelihood(model), "mu") => Some(&mut model.mu),
            _ => None,
        }
    }

    /// The parameters by key.
    fn parameters(mut self) -> Vec<(&'static str, f64)> {
        PARAMETERS.iter().filter_map(|&key| Some((key, *self.parameter(key)?))).collect()
    }

    /// Refuses parameters for which the formulas are not defined; the location is the parameter.
    pub fn check(&self) -> Result<()> {
        for (key, found) in self.parameters() {
            let (is_valid, expected, hint) = match key {
                "b" => ((0.0..=1.0).contains(&found), "a number from 0 to 1", USUAL_BM25),
                "mu" => {
                    let hint = "usual values are from 500 to 2500";
                    (found > 0.0 && found.is_finite(), "a number above 0", hint)
                }
                _ => ((0.0..=f64::MAX).contains(&found), "a number of at least 0", USUAL_BM25),
            };
            if !is_valid {
                bail!(key, expected, "{found}", hint);
            }
        }
        Ok(())
    }

    /// The length normalisation of a document, computed once per document.
    pub(crate) fn norm(&self, length: f64, mean_length: f64) -> f64 {
        match self {
            Self::Bm25(model) => model.norm(length, mean_length),
            Self::QueryLikelihood(model) => model.norm(length),
        }
    }

    /// The contribution of `tf` occurrences of a token to the score of a document with this
    /// [`WeightingModel::norm`]. The weight is the idf, or the inverse probability of query
    /// likelihood.
    #[inline]
    pub(crate) fn contribution(&self, weight: f64, tf: f64, norm: f64) -> f64 {
        match self {
            Self::Bm25(model) => weight * model.saturation(tf, norm),
            Self::QueryLikelihood(model) => model.contribution(weight, tf, norm),
        }
    }

    /// A document's length as the formula counts it.
    pub(crate) fn length(&self, tokens: u32) -> u32 {
        match self {
            Self::Bm25(model) => model.length(tokens),
            Self::QueryLikelihood(_) => byte_length(tokens),
        }
    }

    /// True if documents without a token are part of *N* and of the mean length.
    pub(crate) fn counts_empty(&self) -> bool {
        match self {
            Self::Bm25(model) => model.counts_empty(),
            Self::QueryLikelihood(_) => true,
        }
    }
}

const USUAL_BM25: &str = "usual values are k1 from 0.5 to 2 and b from 0 to 1";

impl From<Bm25> for WeightingModel {
    fn from(model: Bm25) -> Self {
        Self::Bm25(model)
    }
}

/// The keys of a configuration: `variant`, and the parameters of the model.
impl Serialize for WeightingModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("variant", &self.variant())?;
        for (key, value) in self.parameters() {
            map.serialize_entry(key, &value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parameters_out_of_range_are_refused() {
        let check = |variant, key: &str, value| {
            let mut model = WeightingModel::usual(variant);
            *model.parameter(key).unwrap() = value;
            model.check().map_err(|error| error.to_problem().at.file)
        };
        assert_eq!(check(Variant::Okapi, "k1", 0.0), Ok(()));
        assert_eq!(check(Variant::Okapi, "b", 1.0), Ok(()));
        for (variant, key, value) in [
            (Variant::Okapi, "k1", -0.1),
            (Variant::Lucene, "b", 1.1),
            (Variant::Plus, "k1", f64::NAN),
            (Variant::L, "b", f64::NAN),
            (Variant::L, "delta", -1.0),
            (Variant::Ql, "mu", 0.0),
            (Variant::Ql, "mu", f64::INFINITY),
        ] {
            assert_eq!(check(variant, key, value), Err(key.to_owned()), "{variant:?} {value}");
        }
    }

    #[test]
    fn a_model_has_its_own_parameters_alone() {
        let keys = |variant| serde_json::to_value(WeightingModel::usual(variant)).unwrap();
        for (variant, expected) in [
            (Variant::Okapi, json!({ "variant": "okapi", "k1": 1.5, "b": 0.75 })),
            (Variant::Lucene, json!({ "variant": "lucene", "k1": 1.2, "b": 0.75 })),
            (Variant::LuceneDefault, json!({ "variant": "lucene-default", "k1": 1.2, "b": 0.75 })),
            (Variant::Plus, json!({ "variant": "bm25plus", "k1": 1.5, "b": 0.75, "delta": 1.0 })),
            (Variant::L, json!({ "variant": "bm25l", "k1": 1.5, "b": 0.75, "delta": 0.5 })),
            (Variant::Ql, json!({ "variant": "ql", "mu": 1000.0 })),
        ] {
            assert_eq!(WeightingModel::usual(variant).variant(), variant);
            assert_eq!(keys(variant), expected);
        }
    }
}
