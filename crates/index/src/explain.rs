//! Explanations of scores.

use crate::bm25::Variant;
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
        let matched = self.statistics.matched(slice::from_ref(token), None)?;
        let Some(matched) = matched.first() else {
            return Ok(Explanation::value(0.0, format!("`{token}` is in no document")));
        };
        let tf = frequency(weighting, matched, document)?;
        if tf == 0 {
            return Ok(Explanation::value(0.0, format!("`{token}` is not in this document")));
        }
        let length = weighting.model.length(weighting.index.lengths[document as usize]);
        let norm = weighting.norms[document as usize];
        let score = weighting.contribution(matched.idf, tf, norm);
        if weighting.model.variant == Variant::Ql {
            let parts = vec![
                Explanation::value(f64::from(tf), "tf, occurrences in the document"),
                Explanation::value(1.0 / matched.idf, "μ·p, by occurrences in all documents"),
                Explanation::value(f64::from(length), "dl, tokens of the document"),
                Explanation::value(weighting.model.mu, "μ"),
            ];
            let what = format!("`{token}` = ln(1 + tf/(μ·p)) + ln(μ/(dl+μ)), at least 0");
            return Ok(Explanation::of(score, what, parts));
        }
        let counts = vec![
            Explanation::value(f64::from(tf), "tf, occurrences in the document"),
            Explanation::value(f64::from(length), "dl, tokens of the document"),
            Explanation::value(weighting.mean_length, "avgdl, mean tokens of a document"),
            Explanation::value(weighting.model.k1, "k1"),
            Explanation::value(weighting.model.b, "b"),
        ];
        let frequencies = vec![
            Explanation::value(f64::from(matched.info.doc_freq), "df, documents with the token"),
            Explanation::value(self.statistics.documents as f64, "N, documents"),
        ];
        let saturation = weighting.model.saturation(f64::from(tf), norm);
        let [idf, part] = weighting.model.formulas();
        let factors = vec![
            Explanation::of(matched.idf, format!("idf = {idf}"), frequencies),
            Explanation::of(saturation, format!("tf part = {part}"), counts),
        ];
        Ok(Explanation::of(score, format!("`{token}` = idf × tf part"), factors))
    }
}

/// The number of occurrences of a token in one of tantivy's documents.
fn frequency(weighting: &Weighting, token: &MatchedToken, document: u32) -> Result<u32> {
    let mut blocks = weighting.blocks(token)?;
    let place = blocks.seek(document);
    let is_there = blocks.docs().get(place) == Some(&document);
    Ok(if is_there { blocks.freq(place) } else { 0 })
}
