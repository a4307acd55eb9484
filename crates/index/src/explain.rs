//! Explanations of scores.

use crate::bm25::Bm25;
use crate::model::WeightingModel;
use crate::query_likelihood::QueryLikelihood;
use crate::scorer::Scorer;
use crate::weighting::{MatchedToken, Weighting};
use clariq_core::{Doc, Explanation, Result};
use std::slice;

impl Scorer {
    /// The score of one document, with idf, term frequency, length and product per token of the
    /// request.
    pub fn explain(&self, tokens: &[String], doc: Doc) -> Result<Explanation> {
        let docs = &self.weighting.index.docs;
        let Some(document) = docs.iter().position(|&known| known == doc) else {
            return Ok(Explanation::value(0.0, "no such document"));
        };
        let explain = |token| self.explain_token(token, document as u32);
        let parts = tokens.iter().map(explain).collect::<Result<Vec<_>, _>>()?;
        let score = parts.iter().map(|part| part.value).sum();
        Ok(Explanation::of(score, "sum over the tokens of the request", parts))
    }

    fn explain_token(&self, token: &String, document: u32) -> Result<Explanation> {
        let weighting = &self.weighting;
        let matched = self.weighting.matched(slice::from_ref(token), None)?;
        let Some(matched) = matched.first() else {
            return Ok(Explanation::value(0.0, format!("`{token}` is in no document")));
        };
        let tf = frequency(weighting, matched, document)?;
        if tf == 0 {
            return Ok(Explanation::value(0.0, format!("`{token}` is not in this document")));
        }
        let length = weighting.model.length(weighting.index.lengths[document as usize]);
        let norm = weighting.norms[document as usize];
        let found = Occurrences { matched, tf: f64::from(tf), length: f64::from(length), norm };
        Ok(match &weighting.model {
            WeightingModel::Bm25(model) => found.by_bm25(model, token, weighting),
            WeightingModel::QueryLikelihood(model) => found.by_likelihood(*model, token),
        })
    }
}

/// A token of a request in one document.
struct Occurrences<'m> {
    matched: &'m MatchedToken<'m>,
    tf: f64,
    /// The length of the document.
    length: f64,
    norm: f64,
}

impl Occurrences<'_> {
    fn by_bm25(&self, model: &Bm25, token: &str, weighting: &Weighting) -> Explanation {
        let counts = vec![
            Explanation::value(self.tf, "tf, occurrences in the document"),
            Explanation::value(self.length, "dl, tokens of the document"),
            Explanation::value(weighting.mean_length, "avgdl, mean tokens of a document"),
            Explanation::value(model.k1, "k1"),
            Explanation::value(model.b, "b"),
        ];
        let doc_freq = f64::from(self.matched.info.doc_freq);
        let frequencies = vec![
            Explanation::value(doc_freq, "df, documents with the token"),
            Explanation::value(weighting.documents as f64, "N, documents"),
        ];
        let saturation = model.saturation(self.tf, self.norm);
        let [idf, part] = model.formulas();
        let factors = vec![
            Explanation::of(self.matched.idf, format!("idf = {idf}"), frequencies),
            Explanation::of(saturation, format!("tf part = {part}"), counts),
        ];
        let score = self.matched.idf * saturation;
        Explanation::of(score, format!("`{token}` = idf × tf part"), factors)
    }

    fn by_likelihood(&self, model: QueryLikelihood, token: &str) -> Explanation {
        let parts = vec![
            Explanation::value(self.tf, "tf, occurrences in the document"),
            Explanation::value(1.0 / self.matched.idf, "μ·p, by occurrences in all documents"),
            Explanation::value(self.length, "dl, tokens of the document"),
            Explanation::value(model.mu, "μ"),
        ];
        let score = model.contribution(self.matched.idf, self.tf, self.norm);
        let what = format!("`{token}` = ln(1 + tf/(μ·p)) + ln(μ/(dl+μ)), at least 0");
        Explanation::of(score, what, parts)
    }
}

/// The number of occurrences of a token in one of tantivy's documents.
fn frequency(weighting: &Weighting, token: &MatchedToken, document: u32) -> Result<u32> {
    let mut blocks = weighting.blocks(token)?;
    let place = blocks.seek(document);
    let is_there = blocks.docs().get(place) == Some(&document);
    Ok(if is_there { blocks.freq(place) } else { 0 })
}
