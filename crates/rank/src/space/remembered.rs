//! Was this text encoded before? Conversations are made of few texts that come again and again: requests, questions of the
//! bank, and answers.

use super::matrix;
use crate::context::Context;
use crate::error::Error;
use crate::learned::Embeddings;
use ndarray::{Array2, ArrayView1};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// So many texts are remembered: 50 MB of vectors of length 384. The train split has 9,000 answers.
const MOST: usize = 32_768;

/// The vectors of texts under one encoder.
#[derive(Default)]
pub(super) struct Remembered {
    /// Questions of the bank have vectors already.
    questions: OnceLock<HashMap<String, u32>>,
    vectors: Mutex<HashMap<String, Box<[f32]>>>,
}

impl Remembered {
    /// One row per text. Each is computed by itself, so that it is the same whether or not it was remembered.
    pub(super) fn vectors(
        &self,
        context: &Context,
        model: &str,
        bank: &Embeddings,
        texts: &[&str],
    ) -> Result<Array2<f32>, Error> {
        let questions = self.questions.get_or_init(|| {
            let rows = (0..).zip(context.bank.rows());
            rows.map(|(question, row)| (row.text.clone(), question)).collect()
        });
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |text: &str| questions.contains_key(text) || vectors.contains_key(text);
        let mut new: HashMap<&str, usize> = HashMap::new();
        let mut missing: Vec<&str> = Vec::new();
        for &text in texts.iter().filter(|text| !known(text)) {
            new.entry(text).or_insert_with(|| {
                missing.push(text);
                missing.len() - 1
            });
        }
        let encoded = match missing[..] {
            [] => Embeddings::default(),
            _ => context.models().encoder(model)?.encode_apart(&missing, &|_| {})?,
        };
        let encoded_rows = matrix(&encoded);
        let mut rows = Array2::zeros((texts.len(), bank.dim));
        for (mut row, text) in rows.rows_mut().into_iter().zip(texts) {
            match (questions.get(*text), new.get(text), vectors.get(*text)) {
                (Some(&question), ..) => row.assign(&ArrayView1::from(bank.row(question as usize))),
                (_, Some(&place), _) => row.assign(&encoded_rows.row(place)),
                (.., Some(vector)) => row.assign(&ArrayView1::from(&vector[..])),
                (None, None, None) => unreachable!("it is one of the three"),
            }
        }
        if vectors.len() + missing.len() > MOST {
            vectors.clear();
        }
        let learned = missing.iter().zip(encoded.rows()).take(MOST);
        vectors.extend(learned.map(|(text, vector)| ((*text).to_owned(), vector.into())));
        Ok(rows)
    }
}
