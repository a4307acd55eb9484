//! The documents as an encoder sees them, and the vectors of texts that recur: conversations are
//! made of few requests, questions and answers.

use clariq_core::{Doc, Documents, Embeddings, Encoder, ModelName, Models, Result, Similarity};
use ndarray::{Array2, ArrayView2, Axis, CowArray, Ix2, s};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// So many texts are remembered: 50 MB of vectors of length 384.
const MOST: usize = 32_768;

/// The vectors of documents by one encoder, and those of texts that it was given.
pub(crate) struct Encoded {
    /// The encoder.
    pub(super) model: ModelName,
    documents: Arc<Embeddings>,
    /// Whether a text has another vector as a document than as a request.
    has_prompts: bool,
    pub(super) similarity: Similarity,
    remembered: Mutex<Remembered>,
}

#[derive(Default)]
struct Remembered {
    /// The documents by their texts, whose vectors are known; none of a large collection.
    docs: Option<HashMap<String, Doc>>,
    others: HashMap<String, Box<[f32]>>,
}

impl Encoded {
    pub(super) fn new(model: ModelName, encoder: &dyn Encoder, documents: Arc<Embeddings>) -> Self {
        let (has_prompts, similarity) = (encoder.has_prompts(), encoder.similarity());
        Self { model, documents, has_prompts, similarity, remembered: Mutex::default() }
    }

    /// Whether it is the encoder of a name, read as its folder says, by cosine.
    pub(super) fn is_usual(&self, name: &str) -> bool {
        self.model == ModelName::encoder(name) && self.similarity == Similarity::Cosine
    }

    /// The vectors of some documents, one row per document: where they are neighbours, those that
    /// all documents have, because a copy of a large collection's takes longer than the search.
    pub(super) fn rows(&self, docs: &[Doc]) -> CowArray<'_, f32, Ix2> {
        let (all, dim) = (&*self.documents, self.documents.dim);
        let all = ArrayView2::from_shape((all.len(), dim), &all.values)
            .unwrap_or_else(|_| unreachable!("embeddings have that shape"));
        match docs {
            [first, .., last] if docs.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0) => {
                all.slice_move(s![first.index()..=last.index(), ..]).into()
            }
            _ => {
                let indices: Vec<usize> = docs.iter().map(|doc| doc.index()).collect();
                all.select(Axis(0), &indices).into()
            }
        }
    }

    /// Similarities of some vectors in the encoder's space (rows) to documents (columns).
    pub(crate) fn to_documents(
        &self,
        vectors: &Embeddings,
        some: Range<usize>,
        docs: &[Doc],
    ) -> Array2<f32> {
        let vectors = ArrayView2::from_shape((vectors.len(), vectors.dim), &vectors.values)
            .unwrap_or_else(|_| unreachable!("embeddings have that shape"));
        vectors.slice(s![some, ..]).dot(&self.rows(docs).t())
    }

    /// Encodes texts, one row per text, each by itself: whether it was remembered changes nothing.
    pub(crate) fn encode_each(
        &self,
        documents: &dyn Documents,
        models: &dyn Models,
        texts: &[&str],
    ) -> Result<Embeddings> {
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        let Remembered { docs, others } = &mut *remembered;
        let docs = match docs {
            Some(docs) => docs,
            None if self.has_prompts || documents.len() > MOST => docs.insert(HashMap::new()),
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
            _ => models.embed_apart(&self.model, &missing)?,
        };
        let dim = self.documents.dim;
        let mut values = Vec::with_capacity(texts.len() * dim);
        for text in texts {
            values.extend_from_slice(match (docs.get(*text), new.get(text), others.get(*text)) {
                (Some(doc), ..) => self.documents.row(doc.index()),
                (_, Some(&index), _) => encoded.row(index),
                (.., Some(vector)) => vector,
                (None, None, None) => unreachable!("it is one of the three"),
            });
        }
        if others.len() + missing.len() > MOST {
            others.clear();
        }
        let learned = missing.iter().zip(encoded.rows()).take(MOST);
        others.extend(learned.map(|(text, vector)| ((*text).to_owned(), vector.into())));
        Ok(Embeddings { dim, values })
    }
}

/// The documents by their texts; of two with one text, the last.
fn by_text(documents: &dyn Documents) -> Result<HashMap<String, Doc>> {
    let mut docs = HashMap::with_capacity(documents.len());
    for doc in Doc::all(documents.len()) {
        docs.insert(documents.text(doc)?.into_owned(), doc);
    }
    Ok(docs)
}
