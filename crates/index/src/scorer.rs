//! Ranking by BM25 or query likelihood: exhaustive for small indexes, pruned for large ones.

use crate::document_index::DocumentIndex;
use crate::model::WeightingModel;
use crate::pruned::Pruner;
use crate::weighting::{MatchedToken, Query, Weighting};
use clariq_core::{Best, Doc, Hit, Ranking, Result, best_first};
use std::cell::RefCell;
use std::mem;
use std::sync::Arc;

/// Pruning saves no time if more than one in this many documents is wanted.
const LEAST_PRUNED: usize = 16;

/// Buffers of a search, which are reused by the next one on the same thread.
#[derive(Default)]
struct Buffers {
    /// The scores of tantivy's documents; all 0 between queries.
    scores: Vec<f64>,
    /// The documents that have a token of the request.
    touched: Vec<u32>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

/// A model with its parameters over one index.
pub struct Scorer {
    pub(crate) weighting: Weighting,
    /// Absent if impacts are kept.
    pruner: Option<Pruner>,
}

impl Scorer {
    /// Prepares a scorer for any number of queries.
    pub fn new(index: &Arc<DocumentIndex>, model: impl Into<WeightingModel>) -> Result<Self> {
        let weighting = Weighting::new(index, model.into())?;
        let prunes = !weighting.keeps_impacts();
        let pruner = prunes.then(|| Pruner::new(&weighting)).flatten();
        Ok(Self { weighting, pruner })
    }

    /// The same scorer, but every posting of a query's tokens is scored. The rankings are the same.
    #[must_use]
    pub fn exhaustive(self) -> Self {
        Self { pruner: None, ..self }
    }

    pub fn index(&self) -> &Arc<DocumentIndex> {
        &self.weighting.index
    }

    /// Ranks documents by a query.
    pub fn rank(&self, query: &Query) -> Result<Ranking> {
        let matched = self.weighting.matched(query.tokens, query.weights)?;
        let docs = &self.weighting.index.docs;
        // A limit above the number of documents would only take memory.
        let limit = query.depth.limit.min(docs.len());
        if let Some(pruner) = &self.pruner
            && limit <= docs.len() / LEAST_PRUNED
            && Pruner::takes(&matched)
        {
            return self.rank_pruned(pruner, &matched, query, limit);
        }
        BUFFERS.with_borrow_mut(|buffers| {
            // After an error, scores are not all 0.
            self.sum(&matched, buffers).inspect_err(|_| buffers.scores.clear())?;
            let Buffers { scores, touched } = buffers;
            let hits = touched.iter().map(|&document| Hit {
                doc: docs[document as usize],
                score: mem::take(&mut scores[document as usize]),
            });
            let mut best = Best::new(limit);
            best.extend(hits.filter(|hit| query.admits(hit.doc)));
            let mut hits = best.ranking();
            if query.depth.pad {
                let shares = touched.iter().map(|&document| docs[document as usize]);
                self.pad(&mut hits, &shares.collect::<Vec<_>>(), query, limit);
            }
            Ok(hits)
        })
    }

    /// Ranks documents by tokens with positive weights.
    pub(crate) fn rank_pruned(
        &self,
        pruner: &Pruner,
        matched: &[MatchedToken],
        query: &Query,
        limit: usize,
    ) -> Result<Ranking> {
        let mut hits = pruner.rank(&self.weighting, matched, query, limit)?;
        if query.depth.pad {
            // If there are fewer hits than the limit, no other document shares a token.
            let shares: Vec<Doc> = hits.iter().map(|hit| hit.doc).collect();
            self.pad(&mut hits, &shares, query, limit);
        }
        Ok(hits)
    }

    /// Sums the contributions of the tokens, and collects the documents that have one.
    fn sum(&self, matched: &[MatchedToken], buffers: &mut Buffers) -> Result<()> {
        let Buffers { scores, touched } = buffers;
        scores.resize(self.weighting.norms.len(), 0.0);
        touched.clear();
        // A sum of 0 means that a document is new, unless a contribution can be 0 or negative.
        let may_be_zero = matches!(self.weighting.model, WeightingModel::QueryLikelihood(_));
        let signed = may_be_zero || matched.iter().any(|token| token.idf * token.weight <= 0.0);
        let mut seen = if signed { vec![false; scores.len()] } else { Vec::new() };
        for token in matched {
            self.visit(token, |document, score| {
                let sum = &mut scores[document as usize];
                let new = if signed {
                    !mem::replace(&mut seen[document as usize], true)
                } else {
                    *sum == 0.0
                };
                if new {
                    touched.push(document);
                }
                *sum += score;
            })?;
        }
        Ok(())
    }

    /// Calls `each` with every document that has the token, and its contribution to the score.
    fn visit(&self, token: &MatchedToken, mut each: impl FnMut(u32, f64)) -> Result<()> {
        let Some(impacts) = token.impacts else {
            return self
                .weighting
                .decode(token, |document, score| each(document, score * token.weight));
        };
        if impacts.get().is_none() {
            let mut decoded = Vec::with_capacity(token.info.doc_freq as usize);
            self.weighting.decode(token, |document, score| decoded.push((document, score)))?;
            // Another thread may have been first, with the same impacts.
            drop(impacts.set(decoded.into()));
        }
        for &(document, score) in impacts.get().into_iter().flatten() {
            each(document, score * token.weight);
        }
        Ok(())
    }

    /// Fills a ranking with documents that share no token with the request. They score 0, more than
    /// documents with a negative score.
    fn pad(&self, hits: &mut Ranking, sharing: &[Doc], query: &Query, limit: usize) {
        if hits.len() >= limit && hits.last().is_none_or(|last| last.score > 0.0) {
            return;
        }
        let mut shares = vec![false; self.weighting.index.docs.len()];
        for doc in sharing {
            shares[doc.index()] = true;
        }
        let rest = (0..shares.len()).rev().filter(|&place| !shares[place]);
        let rest = rest.map(|place| Doc(place as u32)).filter(|&doc| query.admits(doc));
        hits.extend(rest.take(limit).map(|doc| Hit { doc, score: 0.0 }));
        hits.sort_unstable_by(best_first);
        hits.truncate(limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analyzer;
    use crate::bm25::{Bm25, Bm25Form};
    use crate::build::BuildOptions;
    use crate::weighting::Depth;
    use clariq_collections::documents::{Bank, BankRow};
    use proptest::prelude::*;

    /// A document is the ranks of its words, of which low ones are frequent; some are long.
    fn documents() -> impl Strategy<Value = Vec<Vec<u32>>> {
        let word = prop_oneof![0..4_u32, 0..16_u32, 0..60_u32];
        let length = prop_oneof![20 => 0..12_usize, 1 => 100..400_usize];
        let document =
            length.prop_flat_map(move |length| prop::collection::vec(word.clone(), length));
        prop::collection::vec(document, 1..500)
    }

    /// Words with their weights, some of them again and again.
    fn request() -> impl Strategy<Value = Vec<(u32, f64)>> {
        let word = prop_oneof![2 => 0..6_u32, 2 => 0..62_u32];
        let weight = prop_oneof![8 => Just(1.0), 8 => 0.01..4.0_f64, 1 => -2.0..0.0_f64];
        prop::collection::vec((word, weight), 0..9)
    }

    fn models() -> impl Strategy<Value = Vec<Bm25>> {
        let k1 = prop_oneof![1 => Just(0.0), 6 => 0.0..3.0_f64, 1 => 0.0..1000.0_f64];
        let b = prop_oneof![1 => Just(0.0), 1 => Just(1.0), 6 => 0.0..1.0_f64];
        let delta = prop_oneof![1 => Just(0.0), 6 => 0.0..2.0_f64];
        (k1, b, delta).prop_map(|(k1, b, delta)| {
            let forms = [
                Bm25Form::Okapi,
                Bm25Form::Lucene,
                Bm25Form::LuceneDefault,
                Bm25Form::Plus { delta },
                Bm25Form::L { delta },
            ];
            forms.map(|form| Bm25 { form, k1, b }).to_vec()
        })
    }

    fn name(word: u32) -> String {
        format!("w{word}")
    }

    fn index(documents: &[Vec<u32>]) -> DocumentIndex {
        let row = |(place, words): (usize, &Vec<u32>)| BankRow {
            id: format!("Q{place:05}").as_str().into(),
            text: words.iter().copied().map(name).collect::<Vec<_>>().join(" "),
        };
        let bank = Bank::new(documents.iter().enumerate().map(row).collect(), "Q00001");
        let folder = tempfile::tempdir().unwrap();
        let options = BuildOptions::default();
        DocumentIndex::rebuild(folder.path(), &bank, Analyzer::English, &options).unwrap()
    }

    /// Documents and scores to the last bit.
    fn bits(hits: &[Hit]) -> Vec<(Doc, u64)> {
        hits.iter().map(|hit| (hit.doc, hit.score.to_bits())).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(60)
        })]

        #[test]
        fn pruned_hits_are_those_of_the_exhaustive_search(
            mut documents in documents(),
            sorted in prop::bool::ANY,
            requests in prop::collection::vec(request(), 1..6),
            models in models(),
            limits in prop::collection::vec(0..60_usize, 2),
            every in 1..4_usize,
        ) {
            if sorted {
                // The first windows raise expectations that the others do not meet.
                documents.sort_by_key(Vec::len);
            }
            let index = Arc::new(index(&documents));
            let among: Vec<Doc> = Doc::all(documents.len()).step_by(every).collect();
            for model in models {
                let scorer = Scorer::new(&index, model).unwrap();
                for request in &requests {
                    let tokens: Vec<String> = request.iter().map(|&(word, _)| name(word)).collect();
                    let weights: Vec<f64> = request.iter().map(|&(_, weight)| weight).collect();
                    for (&limit, weighted) in limits.iter().zip([false, true]) {
                        let query = Query {
                            tokens: &tokens,
                            weights: weighted.then_some(&weights),
                            among: (every > 1).then_some(&among),
                            depth: Depth { limit, pad: weighted },
                        };
                        if let Some(found) = pruned(&scorer, &query) {
                            let expected = scorer.rank(&query).unwrap();
                            prop_assert_eq!(bits(&found), bits(&expected), "{:?} {:?}", model, query);
                        }
                    }
                }
            }
        }
    }

    /// The hits of the pruned search, if it takes the request.
    fn pruned(scorer: &Scorer, query: &Query) -> Option<Ranking> {
        let matched = scorer.weighting.matched(query.tokens, query.weights).unwrap();
        let limit = query.depth.limit.min(scorer.weighting.index.docs.len());
        let pruner = Pruner::new(&scorer.weighting).unwrap();
        let takes = Pruner::takes(&matched);
        takes.then(|| scorer.rank_pruned(&pruner, &matched, query, limit).unwrap())
    }
}
