//! Figures and counts as text.

use clariq_core::plural;

/// A figure to four digits, as on the challenge's leaderboards.
pub(crate) fn figure(value: f64) -> String {
    difference(value).trim_start_matches('+').to_owned()
}

/// A difference to four digits, with its sign.
pub(crate) fn difference(value: f64) -> String {
    signed(value, 4)
}

/// An effect size, or a dash where it is not finite.
pub(crate) fn effect(value: f64) -> String {
    if value.is_finite() { signed(value, 2) } else { "–".to_owned() }
}

/// The minus sign is as wide as the plus. A number that rounds to 0 has no sign.
fn signed(value: f64, digits: usize) -> String {
    let shown = format!("{:.digits$}", value.abs());
    match value {
        _ if shown.bytes().all(|byte| matches!(byte, b'0' | b'.')) => shown,
        _ if value < 0.0 => format!("−{shown}"),
        _ => format!("+{shown}"),
    }
}

/// A p-value to three digits.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// `1 topic`, `2,000 topics`.
pub(crate) fn count(count: usize, what: &str) -> String {
    format!("{} {}", thousands(count), plural(count, what))
}

/// `1234567` as `1,234,567`.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_are_printed_with_their_sign() {
        assert_eq!(difference(0.12346), "+0.1235");
        assert_eq!(difference(-0.5), "−0.5000");
        assert_eq!([difference(-0.000_01), difference(0.0)], ["0.0000", "0.0000"]);
        assert_eq!([effect(-0.456), effect(f64::INFINITY)], ["−0.46", "–"]);
        assert_eq!([figure(0.25), figure(-0.25)], ["0.2500", "−0.2500"]);
        assert_eq!(
            [thousands(0), thousands(999), thousands(1000), thousands(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!([p_value(0.0004), p_value(0.0496)], ["< 0.001", "0.050"]);
    }
}
