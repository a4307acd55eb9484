//! A bounded selection of the best hits under the one order of the project.

use clariq_core::{Hit, best_first};

/// Keeps the best `depth` of the hits it is shown, whatever their order.
///
/// Hits are gathered up to four times the depth and then cut back; after the first cut most are
/// refused by one comparison, which is cheaper than a heap for lists of this size.
pub(crate) struct Top<'a> {
    hits: &'a mut Vec<Hit>,
    depth: usize,
    threshold: f64,
}

impl<'a> Top<'a> {
    /// `hits` is a buffer to reuse.
    pub(crate) fn new(hits: &'a mut Vec<Hit>, depth: usize) -> Self {
        hits.clear();
        Self { hits, depth, threshold: f64::NEG_INFINITY }
    }

    #[inline]
    pub(crate) fn offer(&mut self, hit: Hit) {
        if hit.score >= self.threshold {
            self.hits.push(hit);
            if self.hits.len() >= self.depth.max(16) * 4 {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        if self.depth == 0 {
            self.hits.clear();
        } else if self.hits.len() > self.depth {
            let (_, last, _) = self.hits.select_nth_unstable_by(self.depth - 1, best_first);
            self.threshold = last.score;
            self.hits.truncate(self.depth);
        }
    }

    /// The best hits, in order.
    pub(crate) fn finish(mut self) -> Vec<Hit> {
        self.cut();
        self.hits.sort_unstable_by(best_first);
        self.hits.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Doc;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_sorting_everything(scores in prop::collection::vec(0..20_i32, 0..400), depth in 0..50_usize) {
            let hits: Vec<Hit> = (0..).zip(&scores).map(|(doc, &score)| Hit { doc: Doc(doc), score: score.into() }).collect();
            let mut sorted = hits.clone();
            sorted.sort_by(best_first);
            sorted.truncate(depth);
            let mut buffer = vec![Hit { doc: Doc(0), score: 1e9 }];
            let mut top = Top::new(&mut buffer, depth);
            for &hit in &hits {
                top.offer(hit);
            }
            prop_assert_eq!(top.finish(), sorted);
        }
    }
}
