//! The BM25 family and query likelihood, each formula with its source.
//!
//! *N* is the number of documents (empty ones included, except for `lucene-default`), *df* the
//! number of documents with the token, *tf* its count in one document, *dl* that document's length
//! in tokens and *avgdl* the mean length. A token counts as often as the request repeats it.

use clariq_core::{Result, bail};
use serde::{Deserialize, Serialize};

/// A member of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
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
    #[serde(rename = "lucene-default")]
    LuceneDefault,
    /// Lv and Zhai, "Lower-Bounding Term Frequency Normalization", CIKM 2011: idf = ln((N + 1)/df);
    /// δ + tf·(k1 + 1) / (tf + k1·(1 − b + b·dl/avgdl)) for the tokens that the document has.
    #[serde(rename = "bm25plus")]
    Plus,
    /// Lv and Zhai, "When Documents Are Very Long, BM25 Fails!", SIGIR 2011: idf = ln((N + 1)/(df +
    /// ½)); with c = tf / (1 − b + b·dl/avgdl), (k1 + 1)·(c + δ) / (k1 + c + δ) for the tokens that
    /// the document has.
    #[serde(rename = "bm25l")]
    L,
    /// Query likelihood with Dirichlet's smoothing (Zhai and Lafferty, "A Study of Smoothing Methods
    /// for Language Models Applied to Information Retrieval", TOIS 2004) as Lucene's
    /// `LMDirichletSimilarity` computes it: ln(1 + tf / (μ·p)) + ln(μ / (dl + μ)), at least 0, for
    /// the tokens that the document has. *p* is (*cf* + 1) / (*T* + 1), where *cf* is the count of
    /// the token in all documents and *T* that of all tokens; *dl* is kept in one byte
    /// ([`byte_length`]).
    Ql,
}

/// A variant with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bm25 {
    pub variant: Variant,
    /// Term saturation, 0 or more.
    pub k1: f64,
    /// Length normalisation, 0 (none) to 1 (full).
    pub b: f64,
    /// The lower bound δ of `bm25plus` and `bm25l`; unused by the others.
    pub delta: f64,
    /// The smoothing μ of `ql`; unused by the others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub mu: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// ε of `rank_bm25`: the share of the mean idf that replaces a negative one.
const EPSILON: f64 = 0.25;

impl Bm25 {
    /// The published baseline: Okapi with k1 = 1.5, b = 0.75 (the defaults of `rank_bm25`).
    pub fn okapi() -> Self {
        Self::default_of(Variant::Okapi)
    }

    /// A variant with its usual parameters: those of `rank_bm25` for `okapi`, of Lucene (k1 = 1.2,
    /// b = 0.75) for `lucene` and `lucene-default`, of the papers' recommendation (δ = 1 and δ =
    /// 0.5) with `rank_bm25`'s k1 and b for `bm25plus` and `bm25l`, and μ = 1000 for `ql`, as in
    /// Anserini.
    pub fn default_of(variant: Variant) -> Self {
        let unused = Self { variant, k1: 0.0, b: 0.0, delta: 0.0, mu: 0.0 };
        match variant {
            Variant::Okapi => Self { k1: 1.5, b: 0.75, ..unused },
            Variant::Lucene | Variant::LuceneDefault => Self { k1: 1.2, b: 0.75, ..unused },
            Variant::Plus => Self { k1: 1.5, b: 0.75, delta: 1.0, ..unused },
            Variant::L => Self { k1: 1.5, b: 0.75, delta: 0.5, ..unused },
            Variant::Ql => Self { mu: 1000.0, ..unused },
        }
    }

    /// Refuses parameters for which the formulas are not defined; the location is the parameter.
    pub fn check(&self) -> Result<()> {
        for (parameter, found, most, expected) in [
            ("k1", self.k1, f64::MAX, "a number of at least 0"),
            ("b", self.b, 1.0, "a number from 0 to 1"),
            ("delta", self.delta, f64::MAX, "a number of at least 0"),
        ] {
            if !(0.0..=most).contains(&found) {
                let hint = "usual values are k1 from 0.5 to 2 and b from 0 to 1";
                bail!(parameter, expected, "{found}", hint);
            }
        }
        if self.variant == Variant::Ql && !(self.mu > 0.0 && self.mu.is_finite()) {
            let hint = "usual values are from 500 to 2500";
            let found = self.mu;
            bail!("mu", "a number above 0", "{found}", hint);
        }
        Ok(())
    }

    /// The weight of a token that `df` of `n` documents have, before `rank_bm25`'s floor. Query
    /// likelihood has another, [`Bm25::inverse_probability`].
    pub fn idf(&self, n: f64, df: f64) -> f64 {
        match self.variant {
            Variant::Ql => 1.0,
            Variant::Okapi => (n - df + 0.5).ln() - (df + 0.5).ln(),
            Variant::Lucene | Variant::LuceneDefault => (1.0 + (n - df + 0.5) / (df + 0.5)).ln(),
            Variant::Plus => ((n + 1.0) / df).ln(),
            Variant::L => ((n + 1.0) / (df + 0.5)).ln(),
        }
    }

    /// 1 / (μ·p) of a token that occurs `count` times among all `tokens`.
    pub fn inverse_probability(&self, count: f64, tokens: f64) -> f64 {
        (tokens + 1.0) / ((count + 1.0) * self.mu)
    }

    /// Replaces a negative idf, given the mean idf of the vocabulary; only `okapi` has it.
    pub(crate) fn floor(&self, mean_idf: f64) -> Option<f64> {
        (self.variant == Variant::Okapi).then_some(EPSILON * mean_idf)
    }

    /// The length normalisation of a document: computed once per document, in the order of
    /// operations of `rank_bm25`, so that what ties there ties here.
    pub fn norm(&self, length: f64, mean_length: f64) -> f64 {
        let relative = (1.0 - self.b) + self.b * length / mean_length;
        match self.variant {
            Variant::L => relative,
            Variant::Ql => (self.mu / (length + self.mu)).ln(),
            _ => self.k1 * relative,
        }
    }

    /// The contribution of `tf` occurrences of a token to the score of a document with this
    /// [`Bm25::norm`]. The weight is the idf, or [`Bm25::inverse_probability`].
    #[inline]
    pub fn contribution(&self, weight: f64, tf: f64, norm: f64) -> f64 {
        match self.variant {
            Variant::Ql => ((1.0 + tf * weight).ln() + norm).max(0.0),
            _ => weight * self.saturation(tf, norm),
        }
    }

    /// The factor of `tf` occurrences in a document with this [`Bm25::norm`], beside the idf. Query
    /// likelihood has no such factor.
    #[inline]
    pub fn saturation(&self, tf: f64, norm: f64) -> f64 {
        match self.variant {
            Variant::Ql => 1.0,
            Variant::Okapi => tf * (self.k1 + 1.0) / (tf + norm),
            Variant::Lucene | Variant::LuceneDefault => tf / (tf + norm),
            Variant::Plus => self.delta + tf * (self.k1 + 1.0) / (tf + norm),
            Variant::L => {
                let shifted = tf / norm + self.delta;
                (self.k1 + 1.0) * shifted / (self.k1 + shifted)
            }
        }
    }

    /// A document's length as the formula counts it.
    pub(crate) fn length(&self, tokens: u32) -> u32 {
        match self.variant {
            Variant::LuceneDefault | Variant::Ql => byte_length(tokens),
            _ => tokens,
        }
    }

    /// True if documents without a token are part of *N* and of the mean length.
    pub(crate) fn counts_empty(&self) -> bool {
        self.variant != Variant::LuceneDefault
    }

    /// The formulas of [`Bm25::idf`] and [`Bm25::saturation`] for an explanation.
    pub(crate) fn formulas(&self) -> [&'static str; 2] {
        match self.variant {
            Variant::Okapi => [
                "ln(N−df+½) − ln(df+½), at least ¼ of the mean idf where negative",
                "tf·(k1+1) / (tf + k1·(1−b+b·dl/avgdl))",
            ],
            Variant::Lucene | Variant::LuceneDefault => {
                ["ln(1 + (N−df+½)/(df+½))", "tf / (tf + k1·(1−b+b·dl/avgdl))"]
            }
            Variant::Plus => ["ln((N+1)/df)", "δ + tf·(k1+1) / (tf + k1·(1−b+b·dl/avgdl))"],
            Variant::Ql => ["", ""],
            Variant::L => ["ln((N+1)/(df+½))", "(k1+1)·(c+δ) / (k1+c+δ), c = tf/(1−b+b·dl/avgdl)"],
        }
    }
}

/// The length that Lucene reads back of a length that it wrote in one byte: exact up to 39, with
/// four significant bits above 24 (`SmallFloat.intToByte4` and `byte4ToInt`).
///
/// ```
/// use clariq_index::byte_length;
///
/// assert_eq!([7, 39, 40, 41, 57, 1000].map(byte_length), [7, 39, 40, 40, 56, 984]);
/// ```
pub fn byte_length(length: u32) -> u32 {
    let Some(rest) = length.checked_sub(24) else { return length };
    let dropped = (u32::BITS - rest.leading_zeros()).saturating_sub(4);
    24 + (rest >> dropped << dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_out_of_range_are_refused() {
        let parameters = |k1, b| Bm25 { k1, b, ..Bm25::okapi() };
        assert!(parameters(0.0, 1.0).check().is_ok());
        for (k1, b) in [(-0.1, 0.5), (1.0, 1.1), (f64::NAN, 0.5), (1.0, f64::NAN)] {
            assert!(parameters(k1, b).check().is_err(), "{k1} {b}");
        }
    }

    #[test]
    fn bm25_values_by_hand() {
        let okapi = Bm25::okapi();
        // N = 10, df = 2: ln(8.5) − ln(2.5).
        assert!((okapi.idf(10.0, 2.0) - 1.223_775_431_622_116).abs() < 1e-12);
        // A question of mean length has the norm k1: 2·2.5 / (2 + 1.5).
        assert!((okapi.saturation(2.0, okapi.norm(8.0, 8.0)) - 10.0 / 7.0).abs() < 1e-12);
        let lucene = Bm25::default_of(Variant::Lucene);
        assert!((lucene.idf(10.0, 2.0) - (1.0_f64 + 8.5 / 2.5).ln()).abs() < 1e-12);
        let plus = Bm25::default_of(Variant::Plus);
        assert!((plus.saturation(2.0, plus.norm(8.0, 8.0)) - 1.0 - 10.0 / 7.0).abs() < 1e-12);
        let long = Bm25::default_of(Variant::L);
        // c = 2, so 2.5·2.5 / (1.5 + 2.5).
        assert!((long.saturation(2.0, long.norm(8.0, 8.0)) - 6.25 / 4.0).abs() < 1e-12);
    }

    #[test]
    fn query_likelihood_by_hand() {
        let ql = Bm25::default_of(Variant::Ql);
        // p = (4 + 1) / (99 + 1), so that 1 / (μ·p) = 1 / 50; ln(1 + 2/50) + ln(1000/1024).
        let weight = ql.inverse_probability(4.0, 99.0);
        let score = ql.contribution(weight, 2.0, ql.norm(24.0, 8.0));
        assert!((weight - 0.02).abs() < 1e-15);
        assert!((score - (1.04_f64.ln() + (1000.0_f64 / 1024.0).ln())).abs() < 1e-15);
        assert_eq!(ql.contribution(weight, 1.0, ql.norm(24.0, 8.0)), 0.0, "below 0 counts 0");
        assert!(Bm25 { mu: 0.0, ..ql }.check().is_err() && ql.check().is_ok());
    }

    /// Lucene's own arithmetic, by way of the byte.
    fn through_a_byte(length: u32) -> u32 {
        let encoded = if length < 24 {
            length
        } else {
            let rest = u64::from(length - 24);
            let bits = 64 - rest.leading_zeros();
            24 + if bits < 4 {
                rest as u32
            } else {
                let shift = bits - 4;
                ((rest >> shift) as u32 & 7) | ((shift + 1) << 3)
            }
        };
        assert!(encoded < 256);
        if encoded < 24 {
            return encoded;
        }
        let (bits, shift) = ((encoded - 24) & 7, (encoded - 24) >> 3);
        24 + if shift == 0 { bits } else { (bits | 8) << (shift - 1) }
    }

    #[test]
    fn document_lengths_are_rounded_as_in_lucene() {
        for length in (0..100_000).chain([i32::MAX as u32]) {
            assert_eq!(byte_length(length), through_a_byte(length), "{length}");
        }
        assert_eq!(byte_length(1000), 24 + 960);
    }
}
