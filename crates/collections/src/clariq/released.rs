//! The files of the public `ClariQ` repository at one commit, with what is known of their bytes.

/// The folder `data/` of the repository at the commit that the digests belong to.
pub const RELEASED_AT: &str = "https://raw.githubusercontent.com/aliannejadi/ClariQ/46885a544581a0af8aff0681d29e4971807e2912/data/";

/// GitHub takes no larger file into a repository: 100 MiB.
const LARGEST: u64 = 100 << 20;

/// One released file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Released {
    /// The name in the data folder: one path component.
    pub name: &'static str,
    /// Its path at the origin.
    pub path: &'static str,
    /// The SHA-256 in lower-case hexadecimal; `None` where the released bytes are not known.
    pub sha256: Option<&'static str>,
    /// The size in bytes, or the most that it can be where the size is not known.
    pub most_bytes: u64,
    /// Whether the data folder is of no use without it.
    pub required: bool,
    /// Whether it is one of the large packed files with conversations and multi-turn evaluation
    /// tables.
    pub archive: bool,
}

/// Where the files of a collection were released.
#[derive(Debug, Clone, Copy)]
pub struct Release {
    /// The address that their paths follow.
    pub at: &'static str,
    /// The files.
    pub files: &'static [Released],
}

pub(crate) const RELEASE: Release = Release { at: RELEASED_AT, files: RELEASED };

/// All released files that any command reads.
pub const RELEASED: &[Released] = &[
    required(
        "question_bank.tsv",
        239_064,
        "266f501bdc31afbc8a763685ea0de82949137a2779241b325f5ee03026f42f1b",
    ),
    required(
        "train.tsv",
        2_354_040,
        "65d3da13b2d6ea77e7eaa45290894ffc162a5bd000e7640decd1b0a272a6e9d1",
    ),
    required(
        "dev.tsv",
        585_998,
        "68d2a5f87eab73721979b5f45f64099a9b2f080db1d0ce4b979d9daa4249906e",
    ),
    required("test.tsv", 2_457, "58f83a6fb1f50a2ccf7cb52e37b4a5b335ddd5905ddb80fc219b436513b85c85"),
    known(
        "test_with_labels.tsv",
        LARGEST,
        "792fb25a3f258e96b6957490faae13dc2ab9926a0d23345b12ab4b925eb02b58",
    ),
    known(
        "multi_turn_human_generated_data.tsv",
        200_783,
        "632a7c92dfedcc294e35bea6b2185df222d5705bf97a229d42b1186117cf203c",
    ),
    unknown("train.qrel"),
    known(
        "dev.qrel",
        1_274_783,
        "39ff433c7f580a20476ac40468422d222079beb8d088aeb0f6cf4051625b75e6",
    ),
    known("test.qrel", LARGEST, "83c0ee4241f274b358f406d379e403cffb210796d69a0d8c028848e8a699f9ea"),
    unknown("single_turn_train_eval.pkl"),
    archive("dev_synthetic.pkl.tar.gz"),
    archive("train_synthetic.pkl.tar.gz"),
    archive("multi_turn_dev_eval.pkl.tar.gz"),
    archive("multi_turn_test_eval.pkl.tar.gz"),
    archive("multi_turn_train_eval.pkl.tar.gz.aa"),
    archive("multi_turn_train_eval.pkl.tar.gz.ab"),
];

/// The released file of that name.
pub fn released(name: &str) -> Option<&'static Released> {
    RELEASED.iter().find(|file| file.name == name)
}

const fn known(name: &'static str, most_bytes: u64, sha256: &'static str) -> Released {
    Released { name, path: name, sha256: Some(sha256), most_bytes, required: false, archive: false }
}

/// A file that has another name at the origin, or is in a folder there.
pub(crate) const fn found_at(
    path: &'static str,
    name: &'static str,
    bytes: u64,
    sha256: &'static str,
) -> Released {
    Released { path, ..known(name, bytes, sha256) }
}

const fn required(name: &'static str, bytes: u64, sha256: &'static str) -> Released {
    Released { required: true, ..known(name, bytes, sha256) }
}

const fn unknown(name: &'static str) -> Released {
    Released { path: name, sha256: None, most_bytes: LARGEST, ..known(name, 0, "") }
}

const fn archive(name: &'static str) -> Released {
    Released { archive: true, ..unknown(name) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KINDS;

    #[test]
    fn names_are_plain_and_digests_are_whole() {
        let releases = KINDS.iter().filter_map(|kind| kind.released);
        for file in releases.flat_map(|release| release.files) {
            let plain = !file.name.contains(['/', '\\']) && !file.name.starts_with('.');
            assert!(plain, "{}", file.name);
            let whole = |digest: &str| {
                digest.len() == 64 && digest.bytes().all(|b| b"0123456789abcdef".contains(&b))
            };
            assert!(file.sha256.is_none_or(whole), "{}", file.name);
            assert!(!file.required || file.most_bytes < LARGEST, "{}", file.name);
        }
    }
}
