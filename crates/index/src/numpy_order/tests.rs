#![expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "the transcription keeps numpy's signed indices"
)]

use super::*;
use proptest::prelude::*;

/// `numpy.argsort` (numpy 1.24.4, no vector instructions) of `pseudo_random(100, 7)`.
#[rustfmt::skip]
const SEVEN_VALUES_SORTED: [u32; 100] = [
    23, 81, 52, 50, 86, 88, 36, 8, 18, 73, 93, 94, 26, 74, 76, 34, 21, 67, 66, 15, 16, 56, 6, 3,
    46, 64, 17, 31, 38, 79, 32, 84, 28, 53, 20, 19, 57, 61, 91, 63, 44, 54, 60, 98, 51, 0, 33,
    78, 80, 25, 1, 95, 87, 70, 71, 85, 42, 83, 29, 30, 45, 14, 82, 90, 68, 77, 75, 49, 62, 2, 9,
    10, 12, 37, 41, 99, 48, 55, 47, 43, 97, 96, 69, 4, 5, 92, 7, 59, 89, 11, 72, 13, 22, 65, 27,
    35, 39, 40, 58, 24,
];

/// Scores that use up the partitions, so that numpy turns to heapsort, with many equal ones.
#[rustfmt::skip]
const ADVERSARIAL: [u32; 120] = [
    0, 30, 2, 30, 4, 30, 6, 30, 8, 30, 10, 30, 12, 30, 14, 30, 16, 30, 18, 30, 20, 30, 22, 30,
    24, 27, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
    30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23,
    25, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
    30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 29,
    28, 30, 26,
];

/// `numpy.argsort` of [`ADVERSARIAL`].
#[rustfmt::skip]
const ADVERSARIAL_SORTED: [u32; 120] = [
    0, 59, 2, 60, 4, 61, 6, 62, 8, 63, 10, 64, 12, 65, 14, 66, 16, 67, 18, 68, 20, 69, 22, 70,
    24, 71, 119, 25, 117, 116, 31, 32, 28, 35, 30, 36, 37, 38, 39, 40, 43, 34, 118, 44, 45, 46,
    47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 42, 91, 58, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21,
    23, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90, 89, 57, 92, 93,
    94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112,
    113, 114, 115, 41, 33, 29, 27, 26,
];

/// Values below `different` from the generator of the C standard's example.
fn pseudo_random(length: usize, different: u32) -> Vec<f64> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345) % (1 << 31);
        f64::from((state >> 16) % different)
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// A checksum of an order: the sum of each index times its position from 1.
fn weighted_sum(order: &[u32]) -> u64 {
    (1..).zip(order).map(|(position, &index)| position * u64::from(index)).sum()
}

#[test]
fn argsort_gives_the_order_of_numpy() {
    assert_eq!(argsort(&pseudo_random(100, 7)), SEVEN_VALUES_SORTED);
    assert_eq!(weighted_sum(&argsort(&pseudo_random(3941, 9))), 15_241_090_375);
    assert_eq!(weighted_sum(&argsort(&pseudo_random(3941, 2000))), 15_264_006_617);
    assert!(argsort(&[]).is_empty());
}

#[test]
fn argsort_turns_to_heapsort_where_numpy_does() {
    assert_eq!(argsort(&ADVERSARIAL.map(f64::from)), ADVERSARIAL_SORTED);
}

/// numpy's function transcribed line by line: a stack, and indices in place of pointers.
fn transcribed(scores: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..scores.len() as u32).collect();
    let v = |index: u32| scores[index as usize];
    let mut pl = 0_i64;
    let mut pr = scores.len() as i64 - 1;
    let mut depth = 2 * scores.len().checked_ilog2().map_or(0, i64::from);
    let mut stack = Vec::new();
    loop {
        if depth < 0 {
            heap_sort(&mut order[pl as usize..=pr as usize], scores);
        } else {
            while pr - pl > 15 {
                let pm = pl + ((pr - pl) >> 1);
                for (low, high) in [(pl, pm), (pm, pr), (pl, pm)] {
                    if v(order[high as usize]) < v(order[low as usize]) {
                        order.swap(low as usize, high as usize);
                    }
                }
                let vp = v(order[pm as usize]);
                let mut pi = pl;
                let mut pj = pr - 1;
                order.swap(pm as usize, pj as usize);
                loop {
                    pi += 1;
                    while v(order[pi as usize]) < vp {
                        pi += 1;
                    }
                    pj -= 1;
                    while vp < v(order[pj as usize]) {
                        pj -= 1;
                    }
                    if pi >= pj {
                        break;
                    }
                    order.swap(pi as usize, pj as usize);
                }
                order.swap(pi as usize, pr as usize - 1);
                depth -= 1;
                if pi - pl < pr - pi {
                    stack.push((pi + 1, pr, depth));
                    pr = pi - 1;
                } else {
                    stack.push((pl, pi - 1, depth));
                    pl = pi + 1;
                }
            }
            for start in pl + 1..=pr {
                let moved = order[start as usize];
                let mut pj = start;
                while pj > pl && v(moved) < v(order[pj as usize - 1]) {
                    order[pj as usize] = order[pj as usize - 1];
                    pj -= 1;
                }
                order[pj as usize] = moved;
            }
        }
        match stack.pop() {
            Some(part) => (pl, pr, depth) = part,
            None => return order,
        }
    }
}

proptest! {
    #[test]
    fn argsort_sorts_and_equals_the_transcription_of_numpy(
        scores in prop::collection::vec(0..40_i32, 0..500),
        flat in 1..40_i32,
    ) {
        let scores: Vec<f64> = scores.iter().map(|&score| f64::from(score / flat)).collect();
        let order = argsort(&scores);
        let sorted: Vec<f64> = order.iter().map(|&index| scores[index as usize]).collect();
        prop_assert!(sorted.is_sorted());
        let mut indices = order.clone();
        indices.sort_unstable();
        prop_assert!(indices.into_iter().eq(0..scores.len() as u32));
        prop_assert_eq!(order, transcribed(&scores));
    }
}

#[test]
fn questions_of_equal_tokens_are_found_together_and_repeated() {
    let texts = ["", "are you looking for dogs", "the cat", "looking for a dog"];
    let order = NumpyOrder::new(Analyzer::Nltk, texts.into_iter());
    let matching = [1, 3].map(|doc| Hit { doc: Doc(doc), score: 2.0 });
    let found = |among: Option<&[Doc]>| -> Vec<(u32, f64)> {
        let ranking = order.rank(&matching, 3, among);
        ranking.iter().map(|hit| (hit.doc.0, hit.score)).collect()
    };
    assert_eq!(found(None), [(1, 2.0), (3, 2.0), (1, 2.0), (3, 2.0), (2, 0.0)]);
    assert_eq!(found(Some(&[Doc(0), Doc(3)])), [(3, 2.0), (0, 0.0)], "candidates alone");
}
