//! Where a BM25 score comes from.

use crate::scorer::Scorer;
use crate::weighting::Matched;
use clariq_core::{Doc, Error, Explanation};
use std::slice;
use tantivy::DocSet;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;

impl Scorer {
    /// The score of one document, with idf, term frequency, length and product per token of the
    /// request.
    pub fn explain(&self, tokens: &[String], doc: Doc) -> Result<Explanation, Error> {
        let Some(document) = self.weighting.index.docs.iter().position(|&known| known == doc)
        else {
            return Ok(Explanation::value(0.0, "no such document"));
        };
        let explain = |token| self.explain_token(token, document as u32);
        let parts = tokens.iter().map(explain).collect::<Result<Vec<_>, _>>()?;
        let score = parts.iter().map(|part| part.value).sum();
        Ok(Explanation::of(score, "sum over the tokens of the request", parts))
    }

    fn explain_token(&self, token: &String, document: u32) -> Result<Explanation, Error> {
        let matched = self.weighting.matched(slice::from_ref(token), None)?;
        let Some(matched) = matched.first() else {
            return Ok(Explanation::value(0.0, format!("`{token}` is in no document")));
        };
        let tf = self.frequency(matched, document)?;
        if tf == 0 {
            return Ok(Explanation::value(0.0, format!("`{token}` is not in this document")));
        }
        let length = self.weighting.model.length(self.weighting.index.lengths[document as usize]);
        let counts = vec![
            Explanation::value(f64::from(tf), "tf, occurrences in the document"),
            Explanation::value(f64::from(length), "dl, tokens of the document"),
            Explanation::value(self.weighting.mean_length, "avgdl, mean tokens of a document"),
            Explanation::value(self.weighting.model.k1, "k1"),
            Explanation::value(self.weighting.model.b, "b"),
        ];
        let frequencies = vec![
            Explanation::value(f64::from(matched.info.doc_freq), "df, documents with the token"),
            Explanation::value(self.weighting.documents as f64, "N, documents"),
        ];
        let norm = self.weighting.norms[document as usize];
        let saturation = self.weighting.model.saturation(f64::from(tf), norm);
        let [idf, part] = self.weighting.model.formulas();
        let factors = vec![
            Explanation::of(matched.idf, format!("idf = {idf}"), frequencies),
            Explanation::of(saturation, format!("tf part = {part}"), counts),
        ];
        let score = self.weighting.contribution(matched.idf, tf, norm);
        Ok(Explanation::of(score, format!("`{token}` = idf × tf part"), factors))
    }

    /// How often one of tantivy's documents has a token.
    fn frequency(&self, token: &Matched, document: u32) -> Result<u32, Error> {
        let postings = &self.weighting.index.postings;
        let mut postings = postings
            .read_postings_from_terminfo(&token.info, IndexRecordOption::WithFreqs)
            .map_err(Error::io("use", self.weighting.index.folder()))?;
        // tantivy seeks forward only.
        if postings.doc() < document {
            postings.seek(document);
        }
        Ok(if postings.doc() == document { postings.term_freq() } else { 0 })
    }
}
