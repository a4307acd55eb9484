//! The topics and the question pool in the track's public repository, at one commit. The names here
//! have the year in front, which some have not there.

use crate::clariq::{Release, Released, found_at};

pub(super) const RELEASE: Release = Release {
    at: "https://raw.githubusercontent.com/daltonj/treccastweb/33846610b736da392efeab00e4c6f4519e0dacf1/",
    files: RELEASED,
};

/// In the folder of its year, under its name here.
macro_rules! of {
    ($year:literal, $name:literal, $bytes:literal, $sha256:literal) => {
        found_at(concat!($year, "/", $name), $name, $bytes, $sha256)
    };
}

const RELEASED: &[Released] = &[
    found_at(
        "2019/data/evaluation/evaluation_topics_v1.0.json",
        "2019_evaluation_topics_v1.0.json",
        57_204,
        "7cd4ba25e56dd3cde21ddb2c34143b57612fba0ac85c670bc7ba73b901ede48a",
    ),
    found_at(
        "2019/data/evaluation/evaluation_topics_annotated_resolved_v1.0.tsv",
        "2019_evaluation_topics_annotated_resolved_v1.0.tsv",
        24_112,
        "d137a656a4644b38b573ae613f69420b5512d71cf0efc00a6d66fd773a4d4589",
    ),
    of!(
        "2020",
        "2020_manual_evaluation_topics_v1.0.json",
        78_998,
        "d75c85bc316c4f8ffa9faff7ee8920450e4c22b5d5a969db42d647e6fd8ef29c"
    ),
    of!(
        "2021",
        "2021_manual_evaluation_topics_v1.0.json",
        364_897,
        "928af52d98fa1708c3b1eca5c459bd96b031f41cedf5505c328ecbeba24947a8"
    ),
    of!(
        "2022",
        "2022_automatic_evaluation_topics_tree_v1.0.json",
        251_019,
        "10ba41dffe74973a2a41058a2c590470837780ff0263161f2ab3685932a00810"
    ),
    of!(
        "2022",
        "2022_evaluation_topics_tree_v1.0.json",
        252_600,
        "1fa12654f3671d2a76f6600a921d282465ce0e6fe4a64e69bae46a3beb41051e"
    ),
    of!(
        "2022",
        "2022_mixed_initiative_question_pool.json",
        559_215,
        "2fd813c09da1735a5fc222e9d723c4f17e04f87c28a9c3cc7815330e31618f38"
    ),
];
