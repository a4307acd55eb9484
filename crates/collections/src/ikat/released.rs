//! The files of 2023 in the public repositories, each at one commit.

use crate::clariq::{Release, Released, found_at};

pub(super) const RELEASE: Release =
    Release { at: "https://raw.githubusercontent.com/", files: RELEASED };

/// In the track's own repository.
macro_rules! track {
    ($path:literal, $name:literal, $bytes:literal, $sha256:literal) => {
        found_at(
            concat!(
                "irlabamsterdam/iKAT/05399308a3cf4eb56b35bed8bee0771e4f8f1404/2023/",
                $path,
                $name
            ),
            $name,
            $bytes,
            $sha256,
        )
    };
}

const RELEASED: &[Released] = &[
    track!(
        "data/",
        "2023_train_topics.json",
        101_792,
        "ff52ac0fd49d6bf337679342867214390a2920e57665586df0455d5054c7032d"
    ),
    track!(
        "data/",
        "2023_test_topics.json",
        362_388,
        "ff0c1fe67af03cab4b563f628736ca924b9b450212e0dd66daa2d9a7d1e1a883"
    ),
    track!(
        "data/",
        "2023_train_topics_psg_text.jsonl",
        274_158,
        "e79fa3fdafb6ee4792bf5af7109cb6a4d8950e5ad4acc5856e73bce92af325e0"
    ),
    track!(
        "data/",
        "2023_test_topics_psg_text.jsonl",
        993_224,
        "78117e71ed31806337dc02218b29bb8c709cfc818f2f153fff15eaa30abb4717"
    ),
    track!(
        "evaluation/",
        "ptkb_rel_org",
        15_463,
        "b4c647baec07f9101b538037cafbb71ff6f0111d312b83304202ab6cc04eac36"
    ),
    track!(
        "evaluation/",
        "ptkb_rel_nist",
        13_762,
        "a77b50c238df21e44e303f00bc22bfecf5823704c792a6d5387c970d04a5cc00"
    ),
    // NIST's file, which the track's repository does not have.
    found_at(
        "EricLangezaal/PersonalizedCIR/45079e885d29ff08d1e797777a6c7635cde77841/data/2023-qrels.all-turns.txt",
        "2023-qrels.all-turns.txt",
        1_348_250,
        "c23f5df9acc1f3952d8f50202a516d24fc9662878a258ca03811cb97846534e2",
    ),
];
