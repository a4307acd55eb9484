//! The documents as an encoder sees them, and the vectors of texts that recur: conversations are
//! made of few requests, questions and answers.

use crate::space::codes::{Codes, PIECE, Sum};
use clariq_core::{
    Doc, Documents, Embeddings, Encoder, ModelName, Models, Result, Similarity, Vectors,
};
use ndarray::{Array2, ArrayView2, Axis, s};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// So many texts are remembered: 50 MB of vectors of length 384.
const MOST: usize = 32_768;

/// So many requests at most are faster one after the other by codes than together by vectors.
const FEW: usize = 8;

/// The vectors of documents by one encoder, and those of texts that it was given.
pub(crate) struct Encoded {
    pub(super) model: ModelName,
    pub(super) documents: Arc<Vectors>,
    /// Made for the second of few requests: they take as long as two comparisons of all vectors.
    codes: OnceLock<Option<Codes>>,
    is_second: AtomicBool,
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
    pub(super) fn new(model: ModelName, encoder: &dyn Encoder, documents: Arc<Vectors>) -> Self {
        let (has_prompts, similarity) = (encoder.has_prompts(), encoder.similarity());
        Self {
            model,
            documents,
            codes: OnceLock::new(),
            is_second: AtomicBool::new(false),
            has_prompts,
            similarity,
            remembered: Mutex::default(),
        }
    }

    /// The vectors of some documents, a row each. `room` may hold them.
    pub(super) fn rows<'r>(
        &'r self,
        docs: &[Doc],
        room: &'r mut Vec<f32>,
    ) -> Result<ArrayView2<'r, f32>> {
        Ok(rows_of(self.documents.dim(), self.documents.rows(docs, room)?))
    }

    /// Adds weighted similarities of some vectors in the encoder's space (rows) to documents
    /// (columns) to a matrix. Each sum is made in one order, however the documents are cut.
    pub(crate) fn add_similarities(
        &self,
        vectors: &Embeddings,
        some: Range<usize>,
        docs: &[Doc],
        weight: f32,
        sum: &mut Array2<f32>,
    ) -> Result<()> {
        let vectors = rows_of(vectors.dim, &vectors.values);
        let vectors = vectors.slice(s![some, ..]);
        let pieces: Vec<_> =
            docs.chunks(PIECE).zip(sum.axis_chunks_iter_mut(Axis(1), PIECE)).collect();
        pieces.into_par_iter().try_for_each_init(Vec::new, |room, (docs, mut sum)| {
            sum.scaled_add(weight, &vectors.dot(&self.rows(docs, room)?.t()));
            Ok(())
        })
    }

    /// Documents among which the best so many are by each of these sums: of a large collection and
    /// few sums, few. They stay in order.
    pub(super) fn near<'d>(
        &self,
        sums: &[Sum],
        docs: &'d [Doc],
        depth: usize,
    ) -> Result<Cow<'d, [Doc]>> {
        if sums.len() > FEW || docs.len() <= Vectors::BLOCK || depth > docs.len() / FEW {
            return Ok(docs.into());
        }
        let codes = match self.codes.get() {
            Some(codes) => codes,
            None if !self.is_second.swap(true, Ordering::Relaxed) => return Ok(docs.into()),
            None => {
                let made = Codes::of(&self.documents)?;
                self.codes.get_or_init(|| made)
            }
        };
        let Some(codes) = codes else { return Ok(docs.into()) };
        let mut near = Vec::new();
        for sum in sums {
            codes.add_near(sum, docs, depth, &mut near);
        }
        near.sort_unstable();
        near.dedup();
        Ok(near.into())
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
        let dim = self.documents.dim();
        let (mut values, mut room) = (Vec::with_capacity(texts.len() * dim), Vec::new());
        for text in texts {
            values.extend_from_slice(match (docs.get(*text), new.get(text), others.get(*text)) {
                (Some(&doc), ..) => self.documents.rows(&[doc], &mut room)?,
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

fn rows_of(dim: usize, values: &[f32]) -> ArrayView2<'_, f32> {
    ArrayView2::from_shape((values.len().checked_div(dim).unwrap_or(0), dim), values)
        .unwrap_or_else(|_| unreachable!("vectors have one length"))
}

/// The documents by their texts; of two with one text, the last.
fn by_text(documents: &dyn Documents) -> Result<HashMap<String, Doc>> {
    let mut docs = HashMap::with_capacity(documents.len());
    for doc in Doc::all(documents.len()) {
        docs.insert(documents.text(doc)?.into_owned(), doc);
    }
    Ok(docs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::{Block, Progress, Rows};

    struct NoTexts;

    impl Encoder for NoTexts {
        fn encode(&self, _: &[&str], _: Progress) -> Result<Embeddings> {
            unreachable!("vectors are given")
        }

        fn checksum(&self) -> &'static str {
            "none"
        }
    }

    #[test]
    fn of_a_large_collection_and_few_requests_few_documents_are_near() {
        let count = Vectors::BLOCK + 10;
        let vectors = Vectors::of(count, |block| {
            let values = block.flat_map(|index| [(index as f32).cos(), (index as f32).sin()]);
            Ok(Block { dim: 2, rows: Rows::Memory(values.collect()), empty: vec![] })
        });
        let encoded = Encoded::new(ModelName::encoder("e"), &NoTexts, Arc::new(vectors.unwrap()));
        let docs: Vec<Doc> = Doc::all(count).collect();
        let near = |vectors: &[[f32; 2]], docs: &[Doc], depth| {
            let sums: Vec<Sum> = vectors.iter().map(|vector| vec![(1.0, &vector[..])]).collect();
            encoded.near(&sums, docs, depth).unwrap().into_owned()
        };
        let (one, other) = ([1.0, 0.0], [0.0, 1.0]);
        assert_eq!(near(&[one], &docs, 5), docs, "the first request");
        let [ones, others] = [[one], [other]].map(|vectors| near(&vectors, &docs, 5));
        assert!(ones.contains(&Doc(0)) && ones.len() < count / 10, "{}", ones.len());
        let mut both = [ones, others].concat();
        both.sort_unstable();
        assert_eq!(near(&[one, other], &docs, 5), both);
        assert_eq!(near(&[one; FEW + 1], &docs, 5), docs, "many requests");
        assert_eq!(near(&[one], &docs, count / 2), docs, "many hits");
        assert_eq!(near(&[one], &docs[..9], 5), docs[..9], "a small collection");
    }
}
