//! The order that `numpy.argsort` gave equal scores in 2020, which is that of the published
//! BM25 baseline.
//!
//! The baseline takes its best questions as `numpy.argsort(scores)[::-1][:n]`. With its default
//! kind, numpy sorted indices by introsort before 1.25, which is not stable, so that the order of
//! equal scores only depends on the algorithm. [`argsort`] repeats it step by step
//! (`numpy/core/src/npysort/quicksort.c.src`, release 1.18): quicksort with the median of the
//! first, middle and last element as pivot, insertion sort for up to 16 elements, and heapsort
//! for a part that is reached after too many partitions. Later releases sort with vector
//! instructions and give another order.

use crate::analysis::Analyzer;
use clariq_core::{Doc, Hit, Ranking};
use std::collections::HashMap;

/// numpy sorts parts of up to this number of elements by insertion (`SMALL_QUICKSORT` + 1).
const INSERTION: usize = 16;

/// Ranks questions as the published baseline does.
#[derive(Debug)]
pub struct NumpyOrder {
    /// Questions with the same tokens, in bank order.
    groups: Vec<Vec<Doc>>,
    /// The group of each question.
    group_of: Vec<usize>,
}

impl NumpyOrder {
    /// Prepares the order for a bank, given its texts in bank order.
    ///
    /// The baseline looks up its results by the tokens, joined with spaces, so that questions with equal
    /// tokens are found together.
    pub fn new<'t>(analyzer: Analyzer, texts: impl Iterator<Item = &'t str>) -> Self {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut groups = Vec::new();
        let mut group_of = Vec::new();
        for (number, text) in (0..).zip(texts) {
            let group = *numbers.entry(analyzer.tokens(text).join(" ")).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(Doc(number));
            group_of.push(group);
        }
        Self { groups, group_of }
    }

    /// The list of the published baseline: the best `limit` questions of the whole bank, each
    /// followed by those with the same tokens, all of them every time.
    ///
    /// `matching` holds the questions that share a token with the request, in any order; all
    /// others score 0. The list may be longer than `limit`, and a question may be in it twice.
    /// With `among`, all other questions are left out of the whole order.
    pub fn rank(&self, matching: &[Hit], limit: usize, among: Option<&[Doc]>) -> Ranking {
        let mut scores = vec![0.0; self.group_of.len()];
        for hit in matching {
            scores[hit.doc.index()] = hit.score;
        }
        let mut allowed = vec![among.is_none(); scores.len()];
        for doc in among.into_iter().flatten() {
            allowed[doc.index()] = true;
        }
        let mut order = argsort(&scores);
        order.retain(|&index| allowed[index as usize]);
        let mut ranking = Vec::with_capacity(limit.min(order.len()));
        for &best in order.iter().rev().take(limit) {
            let score = scores[best as usize];
            let found = self.groups[self.group_of[best as usize]].iter();
            let found = found.filter(|doc| allowed[doc.index()]);
            ranking.extend(found.map(|&doc| Hit { doc, score }));
        }
        ranking
    }
}

/// The indices that sort the scores ascending, as `numpy.argsort` of numpy 1.18 returns them.
fn argsort(scores: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..scores.len() as u32).collect();
    let partitions = 2 * scores.len().checked_ilog2().unwrap_or(0);
    sort(&mut order, scores, i64::from(partitions));
    order
}

/// Sorts a part of the indices; after the remaining number of partitions, heapsort takes over.
///
/// numpy pushes the larger part on a stack, and looks at the number of partitions left only when
/// it takes a part from there. So the larger part is the recursive call here, and the smaller one
/// is sorted in the loop.
fn sort(mut part: &mut [u32], scores: &[f64], mut partitions: i64) {
    if partitions < 0 {
        return heap_sort(part, scores);
    }
    while part.len() > INSERTION {
        let pivot = partition(part, scores);
        partitions -= 1;
        let (left, right) = part.split_at_mut(pivot);
        let right = &mut right[1..];
        let (smaller, larger) =
            if left.len() < right.len() { (left, right) } else { (right, left) };
        sort(larger, scores, partitions);
        part = smaller;
    }
    // Insertion sort is stable, and there is one stable order only.
    part.sort_by(|&a, &b| {
        scores[a as usize].partial_cmp(&scores[b as usize]).unwrap_or(std::cmp::Ordering::Equal)
    });
}

/// Partitions at the median of the first, middle and last element, and returns where it is then.
fn partition(part: &mut [u32], scores: &[f64]) -> usize {
    let score = |index: u32| scores[index as usize];
    let last = part.len() - 1;
    let middle = last / 2;
    for (low, high) in [(0, middle), (middle, last), (0, middle)] {
        if score(part[high]) < score(part[low]) {
            part.swap(low, high);
        }
    }
    let pivot = score(part[middle]);
    part.swap(middle, last - 1);
    // The first element is at most the pivot and the last two are at least it, so both searches
    // end inside the part.
    let mut left = 0;
    let mut right = last - 1;
    loop {
        left += 1;
        while score(part[left]) < pivot {
            left += 1;
        }
        right -= 1;
        while pivot < score(part[right]) {
            right -= 1;
        }
        if left >= right {
            part.swap(left, last - 1);
            return left;
        }
        part.swap(left, right);
    }
}

/// numpy's heapsort, for parts on which quicksort would take quadratic time.
fn heap_sort(part: &mut [u32], scores: &[f64]) {
    for root in (0..part.len() / 2).rev() {
        sift_down(part, root, scores);
    }
    for end in (1..part.len()).rev() {
        part.swap(0, end);
        sift_down(&mut part[..end], 0, scores);
    }
}

/// Moves the root down until no child scores more.
fn sift_down(heap: &mut [u32], mut root: usize, scores: &[f64]) {
    let score = |index: u32| scores[index as usize];
    loop {
        let mut child = 2 * root + 1;
        if child >= heap.len() {
            return;
        }
        if child + 1 < heap.len() && score(heap[child]) < score(heap[child + 1]) {
            child += 1;
        }
        if score(heap[root]) >= score(heap[child]) {
            return;
        }
        heap.swap(root, child);
        root = child;
    }
}

#[cfg(test)]
mod tests;
