//! Vectors of the tokens of a text, and their comparison: late interaction (Khattab and Zaharia,
//! "`ColBERT`: Efficient and Effective Passage Search via Contextualized Late Interaction over BERT", SIGIR
//! 2020).

use half::f16;
use half::slice::HalfFloatSliceExt;

/// The side that a text is on: models may read requests and documents in different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextSide {
    /// The side of requests.
    Request,
    /// The side of documents.
    Document,
}

/// The vectors of a text's tokens, in 16 bits: cosines differ from those of 32 bits by less than 0.001.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TokenVectors {
    dim: usize,
    /// The id of each token in the vocabulary of its model.
    tokens: Vec<u32>,
    /// A row for each token.
    values: Vec<f16>,
}

/// The token of a document that answers a token of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenMatch {
    /// The token of the request, as an id of the vocabulary.
    pub token: u32,
    /// The token of the document; `None` if it has none.
    pub answer: Option<u32>,
    /// Their similarity; without an answer -1, the lowest cosine.
    pub similarity: f32,
}

impl TokenVectors {
    /// The vectors of tokens, a row for each.
    ///
    /// # Panics
    ///
    /// If the rows do not have one length.
    pub fn new(tokens: Vec<u32>, rows: &[f32]) -> Self {
        let dim = rows.len().checked_div(tokens.len()).unwrap_or(0);
        assert_eq!(dim * tokens.len(), rows.len(), "a row for each token");
        let mut values = vec![f16::ZERO; rows.len()];
        values.convert_from_f32_slice(rows);
        Self { dim, tokens, values }
    }

    /// The memory that they take, in bytes.
    pub fn bytes(&self) -> usize {
        self.tokens.len() * size_of::<u32>() + self.values.len() * size_of::<f16>()
    }

    /// The vectors, to be compared with documents.
    pub fn request(&self) -> RequestVectors<'_> {
        RequestVectors { tokens: &self.tokens, dim: self.dim, rows: self.rows() }
    }

    fn rows(&self) -> Vec<f32> {
        let mut rows = vec![0.0; self.values.len()];
        self.values.convert_to_f32_slice(&mut rows);
        rows
    }
}

/// The vectors of a request's tokens, in 32 bits.
#[derive(Debug)]
pub struct RequestVectors<'v> {
    tokens: &'v [u32],
    dim: usize,
    rows: Vec<f32>,
}

impl RequestVectors<'_> {
    /// For each token of the request, the token of the document whose vector is most similar to its own;
    /// of equal ones the first.
    pub fn matches(&self, document: &TokenVectors) -> Vec<TokenMatch> {
        let rows = document.rows();
        let match_of = |(&token, row): (&u32, &[f32])| {
            let mut best = TokenMatch { token, answer: None, similarity: -1.0 };
            for (&answer, other) in document.tokens.iter().zip(rows.chunks_exact(self.dim)) {
                let similarity = dot(row, other);
                if best.answer.is_none() || similarity > best.similarity {
                    best = TokenMatch { token, answer: Some(answer), similarity };
                }
            }
            best
        };
        self.tokens.iter().zip(self.rows.chunks_exact(self.dim.max(1))).map(match_of).collect()
    }

    /// The mean of the similarities of [`RequestVectors::matches`]: `MaxSim`, divided by the number of
    /// the request's tokens. 0 for a request without tokens.
    pub fn mean_max_sim(&self, document: &TokenVectors) -> f64 {
        let matches = self.matches(document);
        let sum: f64 = matches.iter().map(|found| f64::from(found.similarity)).sum();
        sum / matches.len().max(1) as f64
    }
}

/// A dot product, in as many sums as a processor adds at once.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_token_of_a_request_has_its_most_similar_token() {
        let request = TokenVectors::new(vec![7, 8], &[1.0, 0.0, 0.0, 1.0]);
        let document = TokenVectors::new(vec![1, 2, 3], &[0.5, 0.5, 1.0, 0.25, 1.0, 0.0]);
        let matches = request.request().matches(&document);
        let expected = [(7, Some(2), 1.0), (8, Some(1), 0.5)]
            .map(|(token, answer, similarity)| TokenMatch { token, answer, similarity });
        assert_eq!(matches, expected);
        assert_eq!(request.request().mean_max_sim(&document), 0.75);
        assert_eq!(document.bytes(), 3 * 4 + 6 * 2);
    }

    #[test]
    fn documents_without_tokens_are_as_unlike_as_can_be() {
        let (none, some) = (TokenVectors::default(), TokenVectors::new(vec![1], &[1.0, 0.0]));
        assert_eq!(none.request().mean_max_sim(&some), 0.0);
        assert_eq!(some.request().mean_max_sim(&none), -1.0);
        assert_eq!(some.request().matches(&none)[0].answer, None);
    }

    proptest! {
        /// Against the definition: Σ max over the documents' tokens of the dot product, in 64 bits.
        #[test]
        fn max_sim_is_that_of_its_definition(
            request in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 19), 1..5),
            document in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 19), 1..7),
        ) {
            let vectors = |rows: &[Vec<f32>]| {
                TokenVectors::new((0..).take(rows.len()).collect(), &rows.concat())
            };
            let exact = |a: &[f32], b: &[f32]| -> f64 {
                a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
            };
            let best = |a: &Vec<f32>| document.iter().map(|b| exact(a, b)).fold(f64::MIN, f64::max);
            let expected = request.iter().map(best).sum::<f64>() / request.len() as f64;
            let found = vectors(&request).request().mean_max_sim(&vectors(&document));
            prop_assert!((found - expected).abs() < 0.01, "{found} {expected}");
        }
    }
}
