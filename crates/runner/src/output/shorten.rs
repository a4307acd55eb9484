//! How does a long name fit into a narrow column? Its beginning and its end are kept: names of runs differ at either.

/// The columns of a terminal that a table may fill.
pub(crate) const WIDTH: usize = 80;

/// At most `width` characters of a text, `…` for what is left out of its middle.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let (first, last) = (kept.div_ceil(2), kept / 2);
    characters[..first].iter().chain(['…'].iter()).chain(&characters[characters.len() - last..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_gives_way() {
        assert_eq!(shorten("dense-feedback.dev", 10), "dense….dev");
        assert_eq!(shorten("übermaß", 7), "übermaß");
        assert_eq!(shorten("übermaß", 3), "ü…ß");
        assert_eq!(shorten("übermaß", 1), "…");
    }
}
