//! Texts that a model wrote, in the cache, kept under what made them.

use crate::cache::Kept;
use clariq_core::{Decoding, Observer, Progress, Result, Rewriter, read_regular, sha256};
use std::path::Path;

/// Bytes that a text may have: ten times those of the most tokens.
const MOST_OF_A_TEXT: u64 = 1 << 18;

/// What a model writes for some texts, from an entry in `folder` that is named after what made it, or
/// written now and kept there.
pub(super) fn cached(
    folder: &Path,
    model: &dyn Rewriter,
    texts: &[&str],
    decoding: &Decoding,
    observer: &dyn Observer,
    progress: Progress,
) -> Result<Vec<String>> {
    let how = format!("{} {}\0", model.checksum(), serde_json::json!(decoding));
    let separated = texts.iter().flat_map(|text| [text.as_bytes(), b"\0"]);
    let made_of = sha256(std::iter::once(how.as_bytes()).chain(separated));
    let entry = folder.join(made_of.short());
    let kept = Kept { entry, file: "texts.json", what: "rewrites" };
    let read = |path: &Path| {
        let bytes = read_regular(path, MOST_OF_A_TEXT * (texts.len() as u64 + 1)).ok()?;
        let found: Vec<String> = serde_json::from_slice(&bytes).ok()?;
        progress(texts.len() as u64);
        (found.len() == texts.len()).then_some(found)
    };
    let rewrite = || model.rewrite(texts, decoding, progress);
    kept.read_or_make(observer, read, rewrite, |written, out| {
        Ok(serde_json::to_writer(out, written)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Silent;
    use std::num::NonZeroUsize;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Upper(AtomicUsize);

    impl Rewriter for Upper {
        fn rewrite(&self, texts: &[&str], _: &Decoding, _: Progress) -> Result<Vec<String>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(texts.iter().map(|text| text.to_uppercase()).collect())
        }

        fn checksum(&self) -> &'static str {
            "upper"
        }
    }

    #[test]
    fn a_text_is_written_once_for_each_way_of_writing() {
        let folder = tempfile::tempdir().unwrap();
        let model = Upper(AtomicUsize::new(0));
        let get = |texts: &[&str], length_penalty| {
            let beams = NonZeroUsize::MIN;
            let decoding = Decoding { beams, length_penalty, max_length: 9, early_stopping: true };
            cached(folder.path(), &model, texts, &decoding, &Silent, &|_| {}).unwrap()
        };
        for (texts, penalty, times) in [
            (&["a", "b"][..], 1.0, 1),
            (&["a", "b"], 1.0, 1),
            (&["a", "b"], 2.0, 2),
            (&["a"], 1.0, 3),
        ] {
            let upper: Vec<String> = texts.iter().map(|text| text.to_uppercase()).collect();
            assert_eq!(get(texts, penalty), upper);
            assert_eq!(model.0.load(Ordering::Relaxed), times);
        }
    }
}
