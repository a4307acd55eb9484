//! Vectors of documents in 8 bits a number. They tell quickly, and with a bound of their error,
//! which documents can be among the best; only these are compared by their vectors.
//!
//! Let `d` be a vector, `c` its codes times their step, and `q` and `p` the same of a request. By
//! the inequality of Cauchy and Schwarz, q·d is no farther from p·c than |q| |d − c| + |q − p| |c|;
//! and the score, which is computed in 32 bits, from q·d than a multiple of |q| |d|.

use clariq_core::{Best, Doc, Result, Vectors};
use rayon::prelude::*;

/// Documents whose vectors a thread reads at a time: with length 384, 1.5 MB.
pub(super) const PIECE: usize = 1024;

/// Bytes that codes may take: those of 2.8 million vectors of length 384.
const MOST: usize = 1 << 30;

/// The largest code of a document, and what its largest number is coded as.
const LARGEST: f32 = 127.0;

/// By so many steps a number may be wrong: by half of one, and by the rounding of its quotient.
const WRONG: f64 = 0.501;

/// Where vectors are longer, their products may overflow. No encoder makes such vectors.
const LONGEST: f32 = 1e15;

/// A score as a sum of weighted similarities to vectors.
pub(crate) type Sum<'v> = Vec<(f32, &'v [f32])>;

/// The codes of all documents.
pub(super) struct Codes {
    dim: usize,
    rows: Vec<i8>,
    /// By document, what its codes are multiplied by.
    steps: Vec<f32>,
}

/// Codes a vector, no number of which is then wrong by more than [`WRONG`] steps. The step is no
/// usual number where one of the vector is none.
fn code(vector: &[f32], codes: &mut [i8]) -> f32 {
    // The bits are in the order of the numbers, and those of what is no number come last.
    let largest = vector.iter().map(|number| number.abs().to_bits()).max().unwrap_or(0);
    // Not 0, and large enough to be divided by.
    let step = f32::from_bits(largest) / LARGEST + 1e-37;
    let steps = step.recip();
    for (code, number) in codes.iter_mut().zip(vector) {
        *code = ((number * steps + (LARGEST + 0.5)) as i32 - LARGEST as i32) as i8;
    }
    step
}

impl Codes {
    /// None where there are too many, or where vectors are not finite or too long.
    pub(super) fn of(vectors: &Vectors) -> Result<Option<Self>> {
        let (count, dim) = (vectors.count(), vectors.dim());
        if count * dim > MOST {
            return Ok(None);
        }
        let (mut codes, mut steps) = (vec![0; count * dim], vec![0.0; count]);
        let docs: Vec<Doc> = Doc::all(count).collect();
        let made = codes.par_chunks_mut(PIECE * dim).zip(steps.par_chunks_mut(PIECE));
        let pieces = docs.par_chunks(PIECE).zip(made);
        pieces.try_for_each_init(Vec::new, |room, (docs, (codes, steps))| -> Result<()> {
            let rows = vectors.rows(docs, room)?.chunks_exact(dim);
            for ((row, codes), step) in rows.zip(codes.chunks_exact_mut(dim)).zip(steps) {
                *step = code(row, codes);
            }
            Ok(())
        })?;
        let are_usual = steps.iter().all(|step| *step < LONGEST);
        Ok(are_usual.then_some(Self { dim, rows: codes, steps }))
    }

    /// Adds those of the documents to `near` that can be among the best so many by a sum.
    pub(super) fn add_near(&self, sum: &Sum, docs: &[Doc], depth: usize, near: &mut Vec<Doc>) {
        let mut whole = vec![0.0; self.dim];
        let (mut weights, mut lengths) = (0.0, 0.0);
        for (weight, vector) in sum {
            let weight = f64::from(*weight);
            for (whole, &number) in whole.iter_mut().zip(*vector) {
                *whole += weight * f64::from(number);
            }
            weights += weight.abs();
            // Without the weight too, so that no product overflows.
            lengths += (1.0 + weight.abs()) * length(vector.iter().copied().map(f64::from));
        }
        let is_usual = lengths < f64::from(LONGEST);
        if !is_usual {
            near.extend(docs);
            return;
        }
        // No sum of products of codes overflows.
        let most = f64::from(i32::MAX) / f64::from(LARGEST) / self.dim as f64;
        let most = most.floor().min(i16::MAX.into());
        let largest = whole.iter().fold(0.0, |most: f64, number| most.max(number.abs()));
        let step = largest / most;
        let codes: Vec<i16> = whole.iter().map(|number| (number / step).round() as i16).collect();
        let missed = whole.iter().zip(&codes);
        let missed = length(missed.map(|(number, &code)| number - step * f64::from(code)));
        // Twice what so many roundings can amount to, relative and below all normal numbers.
        let rounding = (self.dim + 2 * sum.len() + 32) as f64 * f64::from(f32::EPSILON);
        let per_step = WRONG * length(whole.iter().copied())
            + f64::from(LARGEST) * (missed + rounding * lengths);
        let per_step = (self.dim as f64).sqrt() * per_step;
        let tiny = rounding * (1.0 + weights) * f64::from(f32::MIN_POSITIVE);
        let bounds = docs.par_iter().map(|doc| {
            let own = &self.rows[doc.index() * self.dim..][..self.dim];
            let own_step = f64::from(self.steps[doc.index()]);
            let score = own_step * step * f64::from(product(own, &codes));
            let error = own_step * per_step + tiny;
            ((score - error) as f32, (score + error) as f32)
        });
        let bounds: Vec<(f32, f32)> = bounds.collect();
        let mut best = Best::new(depth);
        best.add(docs, bounds.iter().map(|(lowest, _)| *lowest));
        let least = best.hits().iter().map(|hit| hit.score).fold(f64::INFINITY, f64::min);
        let can_be = docs.iter().zip(&bounds).filter(|(_, bound)| f64::from(bound.1) >= least);
        near.extend(can_be.map(|(doc, _)| doc));
    }
}

fn length(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(|number| number * number).sum::<f64>().sqrt()
}

/// The sum of the products, in parts that compilers turn into instructions for many numbers.
fn product(one: &[i8], other: &[i16]) -> i32 {
    let (ones, one) = one.as_chunks::<32>();
    let (others, other) = other.as_chunks::<32>();
    let part = |(one, other): (&[i8], &[i16])| -> i32 {
        one.iter().zip(other).map(|(&one, &other)| i32::from(one) * i32::from(other)).sum()
    };
    let parts = ones.iter().zip(others).map(|(one, other)| part((one, other)));
    parts.sum::<i32>() + part((one, other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::{Block, Rows, rank_by_score};
    use ndarray::{Array1, ArrayView2};

    /// Numbers from -1 to 1.
    fn numbers(mut state: u64) -> impl Iterator<Item = f32> {
        std::iter::repeat_with(move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        })
    }

    fn codes_of(dim: usize, values: &[f32]) -> Option<Codes> {
        let rows = |_| Ok(Block { dim, rows: Rows::Memory(values.to_vec()), empty: vec![] });
        Codes::of(&Vectors::of(values.len() / dim, rows).unwrap()).unwrap()
    }

    /// A score as `dense` makes it.
    fn scores(dim: usize, values: &[f32], sum: &Sum) -> Vec<f32> {
        let rows = ArrayView2::from_shape((values.len() / dim, dim), values).unwrap();
        let mut scores = Array1::<f32>::zeros(rows.nrows());
        for (weight, vector) in sum {
            let vector = ArrayView2::from_shape((1, dim), vector).unwrap();
            scores.scaled_add(*weight, &vector.dot(&rows.t()).row(0));
        }
        scores.to_vec()
    }

    #[test]
    fn the_best_are_among_those_that_are_near() {
        const COUNT: usize = 500;
        let (mut kept, mut all) = (0, 0);
        for (seed, dim) in (0..).zip([1, 2, 7, 33, 384]) {
            // Of these sizes, duplicates, and vectors that differ in one number by one bit.
            for size in [1.0, 0.03, 1e-20, 1e-38, 1e-42, 1e12, 0.0] {
                let mut values: Vec<f32> =
                    numbers(seed).map(|number| number * size).take(COUNT * dim).collect();
                for copy in 0..COUNT / 4 {
                    values.copy_within(copy * dim..(copy + 1) * dim, (COUNT - 1 - copy) * dim);
                    if copy % 3 == 0 {
                        let number = &mut values[(COUNT - 1 - copy) * dim];
                        *number = f32::from_bits(number.to_bits() ^ 1);
                    }
                    if copy % 50 == 0 {
                        values[copy * dim..(copy + 1) * dim].fill(0.0);
                    }
                }
                let codes = codes_of(dim, &values).unwrap();
                let said: Vec<Vec<f32>> = [1.0, 1e-3, 0.0, 1e-38]
                    .map(|size| numbers(seed + 7).map(|x| x * size).take(dim).collect())
                    .into();
                let own = &values[5 * dim..6 * dim];
                let sums: [Sum; 6] = [
                    vec![(1.0, &*said[0])],
                    vec![(1.0, &*said[2])],
                    vec![(1.0, &*said[3])],
                    vec![(1.0, own), (-0.2, &*said[0]), (0.3, &*said[1]), (0.0, own)],
                    vec![(1.0, own), (-1.0, own)],
                    vec![],
                ];
                let docs: Vec<Doc> = Doc::all(COUNT).filter(|doc| doc.0 % 5 != 3).collect();
                for (sum, depth) in sums.iter().zip([1, 10, 3, 30, 50, 5000]) {
                    let scores = scores(dim, &values, sum);
                    let rank = |docs: &[Doc]| {
                        rank_by_score(docs, docs.iter().map(|doc| scores[doc.index()]), depth)
                    };
                    let mut near = Vec::new();
                    codes.add_near(sum, &docs, depth, &mut near);
                    assert!(near.is_sorted());
                    assert_eq!(rank(&near), rank(&docs), "{dim} {size} {depth} {sum:?}");
                    if dim > 30 && size == 1.0 && depth == 1 {
                        kept += near.len();
                        all += docs.len();
                    }
                }
            }
        }
        assert!(kept * 10 < all, "{kept} of {all}");
    }

    #[test]
    fn errors_that_add_up_are_within_the_bound() {
        const DIM: usize = 33;
        // The first number decides the step; the others are all wrong by the same part of it.
        let vector =
            |[first, other]: [f32; 2]| [&[1.0 + first.abs()][..], &[other; DIM - 1]].concat();
        let pairs: Vec<f32> = numbers(3).take(4000).collect();
        let values = pairs.as_chunks::<2>().0.iter().copied().flat_map(vector).collect::<Vec<_>>();
        let (codes, mut said) = (codes_of(DIM, &values).unwrap(), [1.0; DIM]);
        said[0] = 0.0;
        let sum: Sum = vec![(1.0, &said)];
        let scores = scores(DIM, &values, &sum);
        let docs: Vec<Doc> = Doc::all(scores.len()).collect();
        for depth in 1..50 {
            let rank = |docs: &[Doc]| {
                rank_by_score(docs, docs.iter().map(|doc| scores[doc.index()]), depth)
            };
            let mut near = Vec::new();
            codes.add_near(&sum, &docs, depth, &mut near);
            assert_eq!(rank(&near), rank(&docs), "{depth}");
            assert!(near.len() < depth + 100, "{} of {depth}", near.len());
        }
    }

    #[test]
    fn vectors_that_are_not_usual_have_no_codes() {
        for number in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30] {
            assert!(codes_of(2, &[0.5, 0.25, number, 0.5]).is_none(), "{number}");
            let (mut near, vector) = (Vec::new(), [1.0, number]);
            let codes = codes_of(2, &[0.5, 0.25, 1.0, 0.5]).unwrap();
            codes.add_near(&vec![(1e-20, &vector)], &[Doc(0), Doc(1)], 1, &mut near);
            assert_eq!(near.len(), 2, "{number}");
        }
    }
}
