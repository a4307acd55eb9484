//! The mean of finite values, rounded once.
//!
//! The official scorer takes `statistics.mean` of Python, which adds exact fractions and rounds the
//! quotient to the nearest double. A sum of doubles differs from that in the last digits.

use num_bigint::{BigInt, BigUint, Sign};
use std::collections::BTreeMap;

/// Doubles are whole multiples of 2⁻¹⁰⁷⁴.
const SCALE: i32 = 1074;

/// The mean of finite values, as `statistics.mean` of Python gives it; 0 for no values.
pub fn exact_mean(values: impl IntoIterator<Item = f64>) -> f64 {
    // Values with one exponent add up as whole numbers, and there are few exponents.
    let mut sums = BTreeMap::<i32, i128>::new();
    let mut count = 0_u64;
    for value in values {
        let (digits, exponent) = parts(value);
        *sums.entry(exponent).or_default() += i128::from(digits);
        count += 1;
    }
    if count == 0 {
        return 0.0;
    }
    let sum: BigInt = sums.into_iter().map(|(exponent, sum)| BigInt::from(sum) << exponent).sum();
    let magnitude = nearest(sum.magnitude(), &(BigUint::from(count) << SCALE));
    if sum.sign() == Sign::Minus { -magnitude } else { magnitude }
}

/// A whole number and an exponent: the number times 2 to the exponent is the value times 2¹⁰⁷⁴.
fn parts(value: f64) -> (i64, i32) {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)).cast_signed();
    let (digits, exponent) =
        if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) };
    (if value.is_sign_negative() { -digits } else { digits }, exponent)
}

/// The double nearest to a quotient, ties to even.
fn nearest(numerator: &BigUint, denominator: &BigUint) -> f64 {
    if *numerator == BigUint::ZERO {
        return 0.0;
    }
    // Scale the quotient to 64 or 65 bits, more than a double has, and mark in the last bit whether
    // anything is left: the conversion to a double then rounds as if it saw all digits.
    let shift = 64 - (numerator.bits().cast_signed() - denominator.bits().cast_signed());
    let (numerator, denominator) = if shift >= 0 {
        (numerator << shift.unsigned_abs(), denominator.clone())
    } else {
        (numerator.clone(), denominator << shift.unsigned_abs())
    };
    let quotient = &numerator / &denominator;
    let rest = &numerator % &denominator;
    let sticky = u128::from(rest != BigUint::ZERO);
    let digits =
        quotient.iter_u64_digits().rev().fold(0_u128, |all, digit| all << 64 | u128::from(digit))
            | sticky;
    scale_by_power_of_two(digits as f64, -shift)
}

/// Multiplies in steps, because 2 to the whole power may be no double although the product is one.
fn scale_by_power_of_two(mut value: f64, mut power: i64) -> f64 {
    while power != 0 {
        let step = power.clamp(-1000, 1000);
        value *= 2.0_f64.powi(step as i32);
        power -= step;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn means_are_those_of_python() {
        // python3 -c 'from statistics import mean; print(mean([...]))'
        let cases: [(&[f64], f64); 6] = [
            (&[0.1, 0.2, 0.3], 0.2),
            (&[1.0 / 3.0; 7], 0.333_333_333_333_333_3),
            (&[0.384_615_384_615_384_64, 0.357_142_857_142_857_15, 0.2], 0.313_919_413_919_413_9),
            (&[1e300, -1e300, 1.0], 0.333_333_333_333_333_3),
            (&[0.1, 0.1, 0.1, 0.7], 0.25),
            (&[-0.5, -0.25], -0.375),
        ];
        for (values, mean) in cases {
            assert_eq!(exact_mean(values.iter().copied()).to_bits(), mean.to_bits(), "{values:?}");
        }
        assert_eq!(exact_mean([]), 0.0);
    }

    /// The sum of the values' own fractions, one by one.
    fn naive(values: &[f64]) -> f64 {
        let whole = |value: &f64| {
            let (digits, exponent) = parts(*value);
            BigInt::from(digits) << exponent
        };
        let sum = values.iter().map(whole).fold(BigInt::ZERO, |sum, value| sum + value);
        let mean = nearest(sum.magnitude(), &(BigUint::from(values.len()) << SCALE));
        if sum.sign() == Sign::Minus { -mean } else { mean }
    }

    proptest! {
        #[test]
        fn sums_by_exponent_are_sums_of_fractions(values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 1..60)) {
            prop_assert_eq!(exact_mean(values.iter().copied()).to_bits(), naive(&values).to_bits());
        }

        #[test]
        fn close_to_the_naive_mean_and_exact_for_equal_values(values in prop::collection::vec(0.0..1.0_f64, 1..80)) {
            let naive = values.iter().sum::<f64>() / values.len() as f64;
            prop_assert!((exact_mean(values.iter().copied()) - naive).abs() < 1e-14);
            let first = values[0];
            prop_assert_eq!(exact_mean(values.iter().map(|_| first)), first);
        }

        #[test]
        fn order_does_not_matter(mut values in prop::collection::vec(-1e3..1e3_f64, 1..40)) {
            let mean = exact_mean(values.iter().copied());
            values.sort_by(f64::total_cmp);
            prop_assert_eq!(mean, exact_mean(values));
        }
    }
}
