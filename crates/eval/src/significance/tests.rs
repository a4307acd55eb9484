//! The tests of significance against scipy's figures, and their properties.

use super::*;
use proptest::prelude::*;

/// Whole numbers below a prime, as shares of it: figures without ties and without a pattern.
fn shares(count: u32, factor: u32, prime: u32) -> impl Iterator<Item = f64> {
    (0..count).map(move |index| f64::from(index * factor % prime) / f64::from(prime))
}

fn ten_topics() -> ([f64; 10], [f64; 10]) {
    (
        [0.5, 0.4, 0.9, 0.3, 0.75, 0.2, 0.6, 0.35, 0.8, 0.45],
        [0.4, 0.45, 0.5, 0.1, 0.7, 0.25, 0.3, 0.35, 0.55, 0.5],
    )
}

fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs().max(1e-3),
        "{found} is not {expected}"
    );
}

fn holds(test: &PairedTest, [mean, t, t_p, effect_size]: [f64; 4]) {
    near(test.mean_difference, mean);
    near(test.t, t);
    assert!((test.t_p / t_p - 1.0).abs() < 1e-9, "{} is not {t_p}", test.t_p);
    near(test.effect_size, effect_size);
}

// The expected values are those of scipy 1.17.1: `ttest_rel`, and `permutation_test` of the mean
// difference with `permutation_type="samples"`, exact unless said.

#[test]
fn ten_topics_as_in_scipy() {
    let (run, baseline) = ten_topics();
    let test = paired_test(&run, &baseline, ROUNDS, 42);
    holds(
        &test,
        [
            0.114_999_999_999_999_99,
            2.225_806_451_612_903,
            0.053_058_793_632_228_804,
            0.703_861_801_779_413_5,
        ],
    );
    assert_eq!(test.randomisation_p, 0.078_125);
    assert_eq!((test.wins, test.ties, test.losses), (6, 1, 3));
}

#[test]
fn sixteen_differing_topics_are_still_exact() {
    let (run, baseline): (Vec<f64>, Vec<f64>) = shares(16, 7, 11).zip(shares(16, 5, 13)).unzip();
    let test = paired_test(&run, &baseline, 1, 42);
    holds(
        &test,
        [
            0.013_111_888_111_888_091,
            0.128_443_049_679_132_73,
            0.899_504_659_074_496_4,
            0.032_110_762_419_783_18,
        ],
    );
    assert_eq!(test.randomisation_p, 0.878_479_003_906_25);
}

#[test]
fn fifty_topics_are_sampled() {
    let (run, baseline): (Vec<f64>, Vec<f64>) =
        shares(50, 37, 53).zip(shares(50, 29, 59).map(|share| share * 0.8)).unzip();
    let test = paired_test(&run, &baseline, ROUNDS, 42);
    holds(
        &test,
        [
            0.065_875_279_820_914_6,
            1.416_304_627_502_143_8,
            0.163_012_326_967_01,
            0.200_295_721_266_530_64,
        ],
    );
    // scipy's estimate from a million rounds; four standard errors of ours are 0.0047.
    assert!((test.randomisation_p - 0.163_15).abs() < 0.005, "{}", test.randomisation_p);
}

#[test]
fn more_topics_than_a_word_has_bits_and_a_tiny_p() {
    let (run, baseline): (Vec<f64>, Vec<f64>) = shares(80, 37, 83)
        .map(|share| share * 0.9 + 0.1)
        .zip(shares(80, 31, 89).map(|share| share * 0.5))
        .unzip();
    let test = paired_test(&run, &baseline, 1_000, 42);
    holds(
        &test,
        [
            0.304_626_878_299_715_74,
            9.258_854_277_476_502,
            3.040_118_518_341_774e-14,
            1.035_171_377_910_107_7,
        ],
    );
    assert_eq!(test.randomisation_p, 1.0 / 1001.0, "never 0");
}

#[test]
fn two_topics_as_in_scipy() {
    let test = paired_test(&[1.0, 2.0], &[0.5, 0.9], ROUNDS, 42);
    holds(&test, [0.8, 2.666_666_666_666_666_5, 0.228_400_502_439_816_3, 1.885_618_083_164_126_7]);
    assert_eq!(test.randomisation_p, 0.5);
}

#[test]
fn identical_runs_do_not_differ() {
    let (run, _) = ten_topics();
    for figures in [&run[..], &[0.3], &[]] {
        let test = paired_test(figures, figures, ROUNDS, 42);
        assert_eq!((test.t_p, test.randomisation_p), (1.0, 1.0));
        assert_eq!((test.mean_difference, test.t, test.effect_size), (0.0, 0.0, 0.0));
        assert_eq!((test.wins, test.ties, test.losses), (0, figures.len(), 0));
    }
}

#[test]
fn a_difference_that_is_the_same_everywhere_has_no_spread() {
    let test = paired_test(&[0.3, 0.6, 0.9], &[0.2, 0.5, 0.8], ROUNDS, 42);
    assert_eq!((test.t, test.t_p, test.effect_size), (f64::INFINITY, 0.0, f64::INFINITY));
    assert_eq!(test.randomisation_p, 0.25);
    let alone = paired_test(&[0.3], &[0.2], ROUNDS, 42);
    assert!(alone.t.is_nan() && alone.effect_size.is_nan());
    assert_eq!((alone.t_p, alone.randomisation_p), (1.0, 1.0));
}

#[test]
fn rounding_is_no_difference() {
    let test = paired_test(&[0.1 + 0.2, 0.5], &[0.3, 0.5], ROUNDS, 42);
    assert_eq!((test.wins, test.ties, test.randomisation_p), (0, 2, 1.0));
}

#[test]
fn holm_by_hand() {
    // statsmodels 0.15 `multipletests(…, method="holm")` of the same values.
    assert_eq!(holm(&[0.01, 0.02, 0.03, 0.04]), [0.04, 0.06, 0.06, 0.06]);
    assert_eq!(holm(&[0.9, 0.001, 0.6]), [1.0, 0.003, 1.0]);
    assert_eq!(holm(&[0.2]), [0.2]);
    assert!(holm(&[]).is_empty());
}

proptest! {
    #[test]
    fn swapping_the_runs_changes_only_signs(
        pairs in prop::collection::vec((0_u8..20, 0_u8..20), 2..40), seed in any::<u64>(),
    ) {
        let (a, b): (Vec<f64>, Vec<f64>) =
            pairs.iter().map(|&(a, b)| (f64::from(a) / 19.0, f64::from(b) / 19.0)).unzip();
        let there = paired_test(&a, &b, 200, seed);
        let back = paired_test(&b, &a, 200, seed);
        prop_assert_eq!(there.randomisation_p, back.randomisation_p);
        prop_assert_eq!(there.t_p, back.t_p);
        prop_assert_eq!(there.mean_difference, -back.mean_difference);
        prop_assert_eq!((there.wins, there.ties, there.losses), (back.losses, back.ties, back.wins));
        prop_assert!(0.0 < there.randomisation_p && there.randomisation_p <= 1.0);
        prop_assert!((0.0..=1.0).contains(&there.t_p));
        prop_assert_eq!(there.wins + there.ties + there.losses, pairs.len());
        prop_assert_eq!(there, paired_test(&a, &b, 200, seed), "same seed, same result");
    }

    #[test]
    fn sampling_estimates_what_enumeration_counts(pairs in prop::collection::vec((0_u8..9, 0_u8..9), 1..12), seed in 0..99_u64) {
        let differences: Vec<f64> =
            pairs.iter().map(|&(a, b)| f64::from(a) / 8.0 - f64::from(b) / 8.0).filter(|&d| d != 0.0).collect();
        // Five standard errors of 4000 rounds.
        prop_assert!((exact(&differences) - sampled(&differences, 4_000, seed)).abs() < 0.04);
    }

    #[test]
    fn holm_is_monotone_and_only_raises(p in prop::collection::vec(0.0..=1.0, 0..30)) {
        let corrected = holm(&p);
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
        prop_assert!(order.windows(2).all(|pair| corrected[pair[0]] <= corrected[pair[1]]));
        prop_assert!(p.iter().zip(&corrected).all(|(p, corrected)| p <= corrected && *corrected <= 1.0));
        if let Some(&smallest) = order.first() {
            prop_assert_eq!(corrected[smallest], (p[smallest] * p.len() as f64).min(1.0));
        }
    }
}
