//! The tables of released files.

use clariq_tracks::TRACKS;

#[test]
fn names_are_plain_and_digests_are_whole() {
    for release in TRACKS.kinds().iter().filter_map(|kind| kind.released) {
        assert_eq!(release.files().len() + 1, release.table.lines().count());
        for file in release.files() {
            let plain =
                |name: &str| !name.is_empty() && !name.contains('\\') && !name.starts_with('.');
            assert!(file.name.split('/').all(plain), "{}", file.name);
            let whole = |digest: &str| {
                digest.len() == 64 && digest.bytes().all(|b| b"0123456789abcdef".contains(&b))
            };
            assert!(file.sha256.is_none_or(whole), "{}", file.name);
            assert!(!file.required || file.most_bytes < 100 << 20, "{}", file.name);
        }
    }
}
