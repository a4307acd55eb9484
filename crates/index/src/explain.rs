//! Where a BM25 score comes from.

use crate::scorer::Scorer;
use clariq_core::Error;
use clariq_core::{Doc, Explanation};
use tantivy::DocSet;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;

impl Scorer {
    /// The score of one document, with idf, term frequency, length and product per token of the
    /// request.
    pub fn explain(&self, tokens: &[String], doc: Doc) -> Result<Explanation, Error> {
        let mut parts = Vec::new();
        let Some(document) = self.index.docs.iter().position(|&known| known == doc) else {
            return Ok(Explanation::value(0.0, "no such document"));
        };
        for token in tokens {
            parts.push(self.explain_token(token, document as u32)?);
        }
        let score = parts.iter().map(|part| part.value).sum();
        Ok(Explanation::of(score, "sum over the tokens of the request", parts))
    }

    fn explain_token(&self, token: &str, document: u32) -> Result<Explanation, Error> {
        let token = [token.to_owned()];
        let matched = self.matched(&token, None)?;
        let [token] = &token;
        let Some(matched) = matched.first() else {
            return Ok(Explanation::value(0.0, format!("`{token}` is in no document")));
        };
        let mut tf = 0;
        let mut postings = self
            .index
            .postings
            .read_postings_from_terminfo(&matched.info, IndexRecordOption::WithFreqs)
            .map_err(Error::io("use", self.index.folder()))?;
        // tantivy seeks forward only.
        if postings.doc() < document {
            postings.seek(document);
        }
        if postings.doc() == document {
            tf = postings.term_freq();
        }
        if tf == 0 {
            return Ok(Explanation::value(0.0, format!("`{token}` is not in this document")));
        }
        let (score, norm) =
            (self.contribution(matched.idf, tf, document), self.norms[document as usize]);
        let saturation = self.model.saturation(f64::from(tf), norm);
        let (n, df) = (self.documents, matched.info.doc_freq);
        let dl = self.model.length(self.index.lengths[document as usize]);
        let counts = vec![
            Explanation::value(f64::from(tf), "tf, occurrences in the document"),
            Explanation::value(f64::from(dl), "dl, tokens of the document"),
            Explanation::value(self.mean_length, "avgdl, mean tokens of a document"),
            Explanation::value(self.model.k1, "k1"),
            Explanation::value(self.model.b, "b"),
        ];
        let idf = vec![
            Explanation::value(f64::from(df), "df, documents with the token"),
            Explanation::value(n as f64, "N, documents"),
        ];
        let parts = vec![
            Explanation::of(matched.idf, format!("idf = {}", self.model.idf_formula()), idf),
            Explanation::of(saturation, format!("tf part = {}", self.model.formula()), counts),
        ];
        Ok(Explanation::of(score, format!("`{token}` = idf × tf part"), parts))
    }
}
