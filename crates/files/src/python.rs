//! The form of Python's numbers, for files that must equal those of Python programs.

/// A number in Python's form: the shortest decimal that reads back, with at least one digit after the
/// point, and with an exponent below 10⁻⁴ and from 10¹⁶ on.
pub fn python_float(number: f64) -> String {
    if !number.is_finite() {
        return number.to_string().to_lowercase();
    }
    let scientific = shortest(number);
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: isize = exponent.parse().unwrap_or_default();
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let digits = digits.bytes().filter(u8::is_ascii_digit).count();
    let decimals = digits.saturating_add_signed(-1 - exponent).max(1);
    format!("{number:.decimals$}")
}

/// The shortest decimal that reads back, in scientific notation. If two of one length are
/// equally close, Rust prints the upper one and Python the even one; numbers that were in single
/// precision are often halfway.
fn shortest(number: f64) -> String {
    let upper = format!("{number:e}");
    let digits = upper.bytes().take_while(|&byte| byte != b'e').filter(u8::is_ascii_digit).count();
    let even = format!("{number:.*e}", digits.saturating_sub(1));
    if even.parse() == Ok(number) { even } else { upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of the bits of a number and Python's `repr` of it: extremes, numbers halfway between
    /// two decimals of the fewest digits, large, random ones, and ratios.
    const GOLDEN: &str = include_str!("../tests/data/python-floats");

    #[test]
    fn every_golden_number_is_printed_as_python_prints_it() {
        assert!(GOLDEN.lines().count() > 400);
        for line in GOLDEN.lines() {
            let (bits, text) = line.split_once(' ').unwrap();
            let number = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
            assert_eq!(python_float(number), text, "{bits}");
        }
    }

    #[test]
    fn numbers_are_printed_as_python_prints_them() {
        for (number, text) in [
            (0.5, "0.5"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e-5, "1.5e-05"),
            (0.0001, "0.0001"),
            (1e300, "1e+300"),
            (f64::from(1.0_f32 / 6.0), "0.1666666716337204"),
            (f64::from(2.794_96_f32), "2.7949600219726562"),
            (1e22, "1e+22"),
            (5e-324, "5e-324"),
            (123_456_789_012.5, "123456789012.5"),
            (100.0, "100.0"),
            (0.000_123, "0.000123"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(python_float(number), text);
        }
    }
}
