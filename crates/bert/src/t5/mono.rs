//! monoT5, which scores a pair of request and document by a T5 (Nogueira et al., "Document Ranking
//! with a Pretrained Sequence-to-Sequence Model", Findings of EMNLP 2020).

use super::{T5, lock};
use crate::guard::{self, MOST_OF_A_TEXT};
use crate::inference::on_threads;
use crate::weights::values;
use clariq_core::{ModelOptions, PairScorer, Progress, Result, bail, sha256_hex};
use std::path::Path;
use std::sync::atomic::Ordering;
use tch::{Kind, Tensor};
use tokenizers::{PostProcessor as _, TruncationDirection};

/// The words whose probabilities are compared: the document is relevant, or it is not.
const WORDS: [&str; 2] = ["▁true", "▁false"];
/// The end of every input, which is never cut.
const SUFFIX: &str = " Relevant:";
/// The default length of an input, with which monoT5 was trained.
const USUAL_TOKENS: usize = 512;

/// A T5 that scores pairs: the log-probability of `true` against `false` as the first token.
pub struct MonoT5 {
    model: T5,
    /// The ids of [`WORDS`].
    words: [i64; 2],
    checksum: String,
}

impl MonoT5 {
    /// Reads a T5 with the words `true` and `false`.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self> {
        let mut options = options.clone();
        options.reading.max_tokens.get_or_insert(USUAL_TOKENS);
        let model = T5::open(path, &options)?;
        let mut words = [0; 2];
        for (id, word) in words.iter_mut().zip(WORDS) {
            let Some(found) = model.tokenizer.token_to_id(word) else {
                let hint = "`rerank` and `cross_encode` take T5s that score pairs as monoT5 does";
                bail!(
                    &model.folder.tokenizer,
                    "the tokens `▁true` and `▁false`",
                    "no `{word}`",
                    hint
                );
            };
            *id = found.into();
        }
        let checksum = sha256_hex(format!("monoT5 {}", model.checksum).as_bytes());
        let scorer = Self { model, words, checksum };
        let most = scorer.model.most;
        let empty = scorer.tokens("", "", usize::MAX)?.len();
        if most <= empty {
            bail!(&*scorer.model.folder.path, "max_tokens above {empty}", "{most}");
        }
        Ok(scorer)
    }

    /// The ids of an input of at most `most` tokens. The document is cut at its end.
    fn tokens(&self, request: &str, document: &str, most: usize) -> Result<Vec<i64>> {
        let T5 { tokenizer, folder, cut, .. } = &self.model;
        let at = &*folder.tokenizer;
        let short_request = guard::shorten(request, MOST_OF_A_TEXT / 4);
        let short_document = guard::shorten(document, MOST_OF_A_TEXT / 2);
        let before = format!("Query: {short_request} Document: {short_document}");
        let mut encoding = guard::encode(at, tokenizer, &(before.clone() + SUFFIX))?;
        let ends = tokenizer.get_post_processor();
        let ends = ends.map_or(0, |processor| processor.added_tokens(false));
        let room = most - ends.min(most);
        let is_long = encoding.len() > room;
        if is_long || short_request != request || short_document != document {
            cut.fetch_add(1, Ordering::Relaxed);
        }
        let whole = guard::call(at, || {
            if is_long {
                let is_suffix = |(start, _): &&(usize, usize)| *start >= before.len();
                let count = encoding.get_offsets().iter().filter(is_suffix).count();
                let mut suffix = encoding.clone();
                suffix.truncate(count, 0, TruncationDirection::Left);
                suffix.take_overflowing();
                encoding.truncate(room.saturating_sub(count), 0, TruncationDirection::Right);
                encoding.take_overflowing();
                encoding.merge_with(suffix, false);
            }
            tokenizer.post_process(encoding, None, true)
        })?;
        Ok(whole.get_ids().iter().map(|&id| i64::from(id)).collect())
    }

    fn score_pair(&self, request: &str, document: &str) -> Result<f32> {
        let T5 { device, folder, idle, most, .. } = &self.model;
        let ids = self.tokens(request, document, *most)?;
        let ids = Tensor::from_slice(&ids).unsqueeze(0).to_device(*device);
        let network = self.model.network()?;
        let encoded = network.model.encode(&ids, None);
        let logits = network.step(&encoded, &[folder.shape.start], &mut None);
        lock(idle).push(network);
        let words = Tensor::from_slice(&self.words).to_device(*device);
        let scores = logits.view(-1).index_select(0, &words).log_softmax(0, Kind::Float);
        Ok(values(&scores)?[0])
    }
}

impl PairScorer for MonoT5 {
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>> {
        let score = |(): &mut (), number: usize| {
            let (request, document) = pairs[number];
            let score = self.score_pair(request, document)?;
            progress(1);
            Ok(score)
        };
        on_threads(self.model.threads, pairs.len(), || Ok(()), score)
    }

    fn cut(&self) -> usize {
        self.model.cut.load(Ordering::Relaxed)
    }

    fn checksum(&self) -> &str {
        &self.checksum
    }
}
