//! Numbers as Python writes them: the official scorer's output is Python's, digit for digit.

/// `repr` of a Python float: the shortest digits that read back the same, with `.0` where there is
/// no other digit after the point, and an exponent below 10⁻⁴ and from 10¹⁶ on.
///
/// ```
/// use clariq_eval::python_float;
/// assert_eq!(python_float(1.0), "1.0");
/// assert_eq!(python_float(0.3245570421150917), "0.3245570421150917");
/// assert_eq!(python_float(1e-7), "1e-07");
/// ```
pub fn python_float(value: f64) -> String {
    let size = value.abs();
    if value.is_finite() && size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) =
            exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    format!("{value:?}").replace("NaN", "nan")
}

#[cfg(test)]
mod tests {
    use super::python_float;

    #[test]
    fn as_python_prints() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e-4, "0.0001"),
            (0.000_099, "9.9e-05"),
            (1e16, "1e+16"),
            (1_234_567_890_123_456.0, "1234567890123456.0"),
            (1.5e-300, "1.5e-300"),
            (f64::INFINITY, "inf"),
        ];
        for (value, text) in cases {
            assert_eq!(python_float(value), text);
        }
    }
}
