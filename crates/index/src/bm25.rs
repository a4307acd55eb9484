//! The BM25 family, each formula with its source.
//!
//! *N* is the number of documents (empty ones included, except for `lucene-default`), *df* the
//! number of documents with the token, *tf* its count in one document, *dl* that document's length
//! in tokens and *avgdl* the mean length. A token counts as often as the request repeats it.

use crate::byte_length::byte_length;

/// A member of the family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bm25Form {
    /// `BM25Okapi` of the Python package `rank_bm25` 0.2, which made the published `ClariQ`
    /// baseline: idf = ln(N − df + ½) − ln(df + ½), a negative idf replaced by ¼ of the mean idf
    /// over the vocabulary; tf·(k1 + 1) / (tf + k1·(1 − b + b·dl/avgdl)).
    Okapi,
    /// Apache Lucene since 8.0, with exact lengths ("Lucene (accurate)" in Kamphuis, de Vries,
    /// Boytsov and Lin, "Which BM25 Do You Mean?", ECIR 2020): idf = ln(1 + (N − df + ½)/(df + ½));
    /// tf / (tf + k1·(1 − b + b·dl/avgdl)).
    Lucene,
    /// Lucene's own arithmetic, used by Anserini ("Lucene (default)" in the same paper): `lucene`
    /// with lengths rounded to one byte ([`byte_length`]), and without documents that have no token.
    LuceneDefault,
    /// Lv and Zhai, "Lower-Bounding Term Frequency Normalization", CIKM 2011: idf = ln((N + 1)/df);
    /// δ + tf·(k1 + 1) / (tf + k1·(1 − b + b·dl/avgdl)) for the tokens that the document has.
    Plus {
        /// The lower bound δ.
        delta: f64,
    },
    /// Lv and Zhai, "When Documents Are Very Long, BM25 Fails!", SIGIR 2011: idf = ln((N + 1)/(df +
    /// ½)); with c = tf / (1 − b + b·dl/avgdl), (k1 + 1)·(c + δ) / (k1 + c + δ) for the tokens that
    /// the document has.
    L {
        /// The lower bound δ.
        delta: f64,
    },
}

/// A form of BM25 with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    /// The formula, with parameters that only it has.
    pub form: Bm25Form,
    /// Term saturation, 0 or more.
    pub k1: f64,
    /// Length normalisation, 0 (none) to 1 (full).
    pub b: f64,
}

/// ε of `rank_bm25`: the share of the mean idf that replaces a negative one.
const EPSILON: f64 = 0.25;

impl Bm25 {
    /// The published baseline: Okapi with k1 = 1.5, b = 0.75 (the defaults of `rank_bm25`).
    pub fn okapi() -> Self {
        Self { form: Bm25Form::Okapi, k1: 1.5, b: 0.75 }
    }

    /// Lucene's formula with its usual parameters, k1 = 1.2 and b = 0.75.
    pub fn lucene() -> Self {
        Self { form: Bm25Form::Lucene, k1: 1.2, b: 0.75 }
    }

    /// The weight of a token that `df` of `n` documents have, before `rank_bm25`'s floor.
    pub fn idf(&self, n: f64, df: f64) -> f64 {
        match self.form {
            Bm25Form::Okapi => (n - df + 0.5).ln() - (df + 0.5).ln(),
            Bm25Form::Lucene | Bm25Form::LuceneDefault => (1.0 + (n - df + 0.5) / (df + 0.5)).ln(),
            Bm25Form::Plus { .. } => ((n + 1.0) / df).ln(),
            Bm25Form::L { .. } => ((n + 1.0) / (df + 0.5)).ln(),
        }
    }

    /// Replaces a negative idf, given the mean idf of the vocabulary; only `okapi` has it.
    pub(crate) fn floor(&self, mean_idf: f64) -> Option<f64> {
        (self.form == Bm25Form::Okapi).then_some(EPSILON * mean_idf)
    }

    /// The length normalisation of a document: computed once per document, in the order of
    /// operations of `rank_bm25`, so that what ties there ties here.
    pub fn norm(&self, length: f64, mean_length: f64) -> f64 {
        let relative = (1.0 - self.b) + self.b * length / mean_length;
        match self.form {
            Bm25Form::L { .. } => relative,
            _ => self.k1 * relative,
        }
    }

    /// The factor of `tf` occurrences in a document with this [`Bm25::norm`], beside the idf.
    #[inline]
    pub fn saturation(&self, tf: f64, norm: f64) -> f64 {
        match self.form {
            Bm25Form::Okapi => tf * (self.k1 + 1.0) / (tf + norm),
            Bm25Form::Lucene | Bm25Form::LuceneDefault => tf / (tf + norm),
            Bm25Form::Plus { delta } => delta + tf * (self.k1 + 1.0) / (tf + norm),
            Bm25Form::L { delta } => {
                let shifted = tf / norm + delta;
                (self.k1 + 1.0) * shifted / (self.k1 + shifted)
            }
        }
    }

    /// A document's length as the formula counts it.
    pub(crate) fn length(&self, tokens: u32) -> u32 {
        if self.form == Bm25Form::LuceneDefault { byte_length(tokens) } else { tokens }
    }

    /// True if documents without a token are part of *N* and of the mean length.
    pub(crate) fn counts_empty(&self) -> bool {
        self.form != Bm25Form::LuceneDefault
    }

    /// The formulas of [`Bm25::idf`] and [`Bm25::saturation`] for an explanation.
    pub(crate) fn formulas(&self) -> [&'static str; 2] {
        match self.form {
            Bm25Form::Okapi => [
                "ln(N−df+½) − ln(df+½), at least ¼ of the mean idf where negative",
                "tf·(k1+1) / (tf + k1·(1−b+b·dl/avgdl))",
            ],
            Bm25Form::Lucene | Bm25Form::LuceneDefault => {
                ["ln(1 + (N−df+½)/(df+½))", "tf / (tf + k1·(1−b+b·dl/avgdl))"]
            }
            Bm25Form::Plus { .. } => ["ln((N+1)/df)", "δ + tf·(k1+1) / (tf + k1·(1−b+b·dl/avgdl))"],
            Bm25Form::L { .. } => {
                ["ln((N+1)/(df+½))", "(k1+1)·(c+δ) / (k1+c+δ), c = tf/(1−b+b·dl/avgdl)"]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bm25_values_by_hand() {
        let okapi = Bm25::okapi();
        // N = 10, df = 2: ln(8.5) − ln(2.5).
        assert!((okapi.idf(10.0, 2.0) - 1.223_775_431_622_116).abs() < 1e-12);
        // A question of mean length has the norm k1: 2·2.5 / (2 + 1.5).
        assert!((okapi.saturation(2.0, okapi.norm(8.0, 8.0)) - 10.0 / 7.0).abs() < 1e-12);
        assert!((Bm25::lucene().idf(10.0, 2.0) - (1.0_f64 + 8.5 / 2.5).ln()).abs() < 1e-12);
        let plus = Bm25 { form: Bm25Form::Plus { delta: 1.0 }, ..okapi };
        assert!((plus.saturation(2.0, plus.norm(8.0, 8.0)) - 1.0 - 10.0 / 7.0).abs() < 1e-12);
        let long = Bm25 { form: Bm25Form::L { delta: 0.5 }, ..okapi };
        // c = 2, so 2.5·2.5 / (1.5 + 2.5).
        assert!((long.saturation(2.0, long.norm(8.0, 8.0)) - 6.25 / 4.0).abs() < 1e-12);
    }
}
