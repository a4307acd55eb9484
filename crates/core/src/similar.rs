//! The known names that a mistyped one may mean.

/// Names with more typing errors than this are not similar.
const MOST_TYPOS: usize = 3;

/// The known name with the fewest typing errors, if there are few for its length.
pub fn similar<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .filter(|(typos, known)| {
            *typos < known.len() && *typos <= known.len().div_ceil(3).min(MOST_TYPOS)
        })
        .min()
        .map(|(_, known)| known)
}

/// The known name that is similar to the unknown one in a message of serde, such as `unknown field ...,
/// expected one of ...`.
pub fn meant(message: &str) -> Option<&str> {
    let (unknown, known) = message.strip_prefix("unknown ")?.split_once(", expected ")?;
    similar(unknown.split('`').nth(1)?, known.split('`').skip(1).step_by(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_similar_with_few_errors_for_its_length() {
        let known = ["k1", "b", "depth", "analyzer"];
        for (name, found) in [
            ("depht", Some("depth")),
            ("analyser", Some("analyzer")),
            ("k3", Some("k1")),
            ("weights", None),
            ("", None),
            ("c", None),
        ] {
            assert_eq!(similar(name, known), found, "{name}");
        }
    }
}
