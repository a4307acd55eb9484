//! The vectors of texts that come again and again: conversations are made of few requests,
//! questions and answers.

use super::vectors::matrix;
use clariq_core::Error;
use clariq_core::{Doc, Documents, Embeddings, Models};
use ndarray::{Array2, ArrayView1};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// So many texts are remembered: 50 MB of vectors of length 384. `ClariQ`'s train split has 9,000
/// answers.
const MOST: usize = 32_768;

/// The vectors of texts under one encoder.
#[derive(Default)]
pub(super) struct Remembered(Mutex<Vectors>);

#[derive(Default)]
struct Vectors {
    /// The documents by their texts: they have vectors already.
    docs: Option<HashMap<String, Doc>>,
    others: HashMap<String, Box<[f32]>>,
}

impl Remembered {
    /// Encodes texts, one row per text. Each is encoded by itself, so that it is the same whether
    /// or not it was remembered.
    pub(super) fn encode(
        &self,
        documents: &dyn Documents,
        models: &dyn Models,
        encoder: &str,
        embedded: &Embeddings,
        texts: &[&str],
    ) -> Result<Array2<f32>, Error> {
        let mut vectors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Vectors { docs, others } = &mut *vectors;
        let docs = match docs {
            Some(docs) => docs,
            None => docs.insert(by_text(documents)?),
        };
        let mut new: HashMap<&str, usize> = HashMap::new();
        let mut missing: Vec<&str> = Vec::new();
        for &text in texts {
            if !docs.contains_key(text) && !others.contains_key(text) && !new.contains_key(text) {
                new.insert(text, missing.len());
                missing.push(text);
            }
        }
        let encoded = match missing[..] {
            [] => Embeddings::default(),
            _ => models.encoder(encoder)?.encode_apart(&missing, &|_| {})?,
        };
        let encoded_rows = matrix(&encoded);
        let mut rows = Array2::zeros((texts.len(), embedded.dim));
        for (mut row, text) in rows.rows_mut().into_iter().zip(texts) {
            match (docs.get(*text), new.get(text), others.get(*text)) {
                (Some(doc), ..) => row.assign(&ArrayView1::from(embedded.row(doc.index()))),
                (_, Some(&index), _) => row.assign(&encoded_rows.row(index)),
                (.., Some(vector)) => row.assign(&ArrayView1::from(&vector[..])),
                (None, None, None) => unreachable!("it is one of the three"),
            }
        }
        if others.len() + missing.len() > MOST {
            others.clear();
        }
        let learned = missing.iter().zip(encoded.rows()).take(MOST);
        others.extend(learned.map(|(text, vector)| ((*text).to_owned(), vector.into())));
        Ok(rows)
    }
}

/// The documents by their texts; of two with one text, the last.
fn by_text(documents: &dyn Documents) -> Result<HashMap<String, Doc>, Error> {
    let mut docs = HashMap::with_capacity(documents.len());
    for doc in Doc::all(documents.len()) {
        docs.insert(documents.text(doc)?.into_owned(), doc);
    }
    Ok(docs)
}
