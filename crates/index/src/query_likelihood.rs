//! Query likelihood.

/// Query likelihood with Dirichlet's smoothing (Zhai and Lafferty, "A Study of Smoothing Methods for
/// Language Models Applied to Information Retrieval", TOIS 2004) as Lucene's `LMDirichletSimilarity`
/// computes it: ln(1 + tf / (μ·p)) + ln(μ / (dl + μ)), at least 0, for the tokens that the document
/// has.
///
/// *p* is (*cf* + 1) / (*T* + 1), where *cf* is the count of the token in all documents and *T* that of
/// all tokens; *dl* is kept in one byte ([`byte_length`](crate::byte_length)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryLikelihood {
    /// The smoothing μ, above 0.
    pub mu: f64,
}

impl QueryLikelihood {
    /// 1 / (μ·p) of a token that occurs `count` times among all `tokens`.
    pub fn inverse_probability(&self, count: f64, tokens: f64) -> f64 {
        (tokens + 1.0) / ((count + 1.0) * self.mu)
    }

    /// The term of a document of this length, ln(μ / (dl + μ)).
    pub fn norm(&self, length: f64) -> f64 {
        (self.mu / (length + self.mu)).ln()
    }

    /// The contribution of `tf` occurrences of a token with this
    /// [`QueryLikelihood::inverse_probability`] to the score of a document with this
    /// [`QueryLikelihood::norm`].
    #[inline]
    pub fn contribution(&self, inverse_probability: f64, tf: f64, norm: f64) -> f64 {
        ((1.0 + tf * inverse_probability).ln() + norm).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_likelihood_by_hand() {
        let ql = QueryLikelihood { mu: 1000.0 };
        // p = (4 + 1) / (99 + 1), so that 1 / (μ·p) = 1 / 50; ln(1 + 2/50) + ln(1000/1024).
        let weight = ql.inverse_probability(4.0, 99.0);
        let score = ql.contribution(weight, 2.0, ql.norm(24.0));
        assert!((weight - 0.02).abs() < 1e-15);
        assert!((score - (1.04_f64.ln() + (1000.0_f64 / 1024.0).ln())).abs() < 1e-15);
        assert_eq!(ql.contribution(weight, 1.0, ql.norm(24.0)), 0.0, "below 0 counts 0");
    }
}
