//! The share of a conversation's words that a document contains, as a sign of relevance.

use crate::context::Context;
use clariq_core::{Doc, Result};
use clariq_index::Analyzer;
use std::collections::BTreeSet;

/// The share of the words of a text, weighted by idf, that a document has; `None` if the text has
/// no words but the stop words of NLTK.
pub fn shared_words(
    context: &Context,
    analyzer: Analyzer,
    text: &str,
    doc: Doc,
) -> Result<Option<f64>> {
    let mut words: BTreeSet<String> = BTreeSet::new();
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        if !Analyzer::Nltk.tokens(word).is_empty() {
            words.extend(analyzer.tokens(word));
        }
    }
    let index = context.index(analyzer)?;
    let documents = index.documents() as f64;
    let own: BTreeSet<String> =
        analyzer.tokens(&context.documents.text(doc)?).into_iter().collect();
    let mut all = 0.0;
    let mut shared = 0.0;
    for word in words {
        let frequency = index.documents_with(&word)? as f64;
        let idf = (1.0 + (documents - frequency + 0.5) / (frequency + 0.5)).ln();
        all += idf;
        if own.contains(&word) {
            shared += idf;
        }
    }
    Ok((all > 0.0).then(|| shared / all))
}
