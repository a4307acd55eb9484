//! monoT5, which scores a pair of request and document by a T5 (Nogueira et al., "Document Ranking
//! with a Pretrained Sequence-to-Sequence Model", Findings of EMNLP 2020).

use super::{T5, T5Network};
use crate::weights::values;
use clariq_core::{
    Checksum, CutTexts, ModelOptions, PairScorer, Progress, Result, TextGenerator as _, bail,
};
use clariq_folder::count_special_tokens;
use clariq_folder::guard::{self, MOST_OF_A_TEXT};
use std::path::Path;
use tch::{Kind, Tensor};
use tokenizers::{Encoding, TruncationDirection};

/// The tokens whose probabilities are compared: the document is relevant, or it is not.
const ANSWERS: [&str; 2] = ["▁true", "▁false"];
/// The end of every input, which is never cut.
const SUFFIX: &str = " Relevant:";
/// The default length of an input, with which monoT5 was trained.
const DEFAULT_TOKENS: usize = 512;

/// A T5 that scores pairs: the log-probability of `true` against `false` as the first token.
pub struct MonoT5 {
    model: T5,
    /// The ids of [`ANSWERS`].
    answer_ids: [i64; 2],
    checksum: Checksum,
}

impl MonoT5 {
    /// Reads a T5 with the tokens `true` and `false`.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self> {
        let mut options = options.clone();
        options.reading.max_tokens.get_or_insert(DEFAULT_TOKENS);
        let model = T5::open(path, &options)?;
        let mut answer_ids = [0; 2];
        for (id, answer) in answer_ids.iter_mut().zip(ANSWERS) {
            let Some(answer_id) = model.tokenizer.token_to_id(answer) else {
                let expected = "the tokens `▁true` and `▁false`";
                let hint = "`rerank` and `cross_encode` take T5s that score pairs as monoT5 does";
                bail!(&model.folder.tokenizer, expected, "no `{answer}`", hint);
            };
            *id = answer_id.into();
        }
        let checksum = Checksum::of(format!("monoT5 {}", model.checksum).as_bytes());
        let scorer = Self { model, answer_ids, checksum };
        let max_tokens = scorer.model.max_tokens;
        let empty = scorer.tokens("", "", usize::MAX)?.len();
        if max_tokens <= empty {
            bail!(&*scorer.model.folder.path, "max_tokens above {empty}", "{max_tokens}");
        }
        Ok(scorer)
    }

    /// The ids of an input of at most `max_tokens` tokens. The document is cut at its end.
    fn tokens(&self, request: &str, document: &str, max_tokens: usize) -> Result<Vec<i64>> {
        let T5 { tokenizer, folder, read, .. } = &self.model;
        let at = &*folder.tokenizer;
        let short_request = guard::beginning(request, MOST_OF_A_TEXT / 4);
        let short_document = guard::beginning(document, MOST_OF_A_TEXT / 2);
        let pair = format!("Query: {short_request} Document: {short_document}");
        let mut encoding = guard::encode(at, tokenizer, &format!("{pair}{SUFFIX}"))?;
        let room = max_tokens.saturating_sub(count_special_tokens(tokenizer, false));
        let is_long = encoding.len() > room;
        read.add(is_long || short_request != request || short_document != document);
        let encoding = guard::call(at, || {
            if is_long {
                cut_before_suffix(&mut encoding, pair.len(), room);
            }
            tokenizer.post_process(encoding, None, true)
        })?;
        Ok(encoding.get_ids().iter().map(|&id| i64::from(id)).collect())
    }

    fn score_pair(&self, network: &T5Network, request: &str, document: &str) -> Result<f32> {
        let T5 { device, folder, max_tokens, .. } = &self.model;
        let ids = self.tokens(request, document, *max_tokens)?;
        let ids = Tensor::from_slice(&ids).unsqueeze(0).to_device(*device);
        let encoded = network.model.encode(&ids, None);
        let logits = network.step(&encoded, &[folder.shape.start], &mut None);
        let answer_ids = Tensor::from_slice(&self.answer_ids).to_device(*device);
        let scores = logits.view(-1).index_select(0, &answer_ids).log_softmax(0, Kind::Float);
        Ok(values(&scores)?[0])
    }
}

/// Cuts an encoding to `room` tokens, but keeps its suffix, which starts at a byte of the text.
fn cut_before_suffix(encoding: &mut Encoding, suffix_start: usize, room: usize) {
    let offsets = encoding.get_offsets();
    let length = offsets.iter().filter(|(start, _)| *start >= suffix_start).count();
    let mut suffix = encoding.clone();
    suffix.truncate(length, 0, TruncationDirection::Left);
    suffix.take_overflowing();
    encoding.truncate(room.saturating_sub(length), 0, TruncationDirection::Right);
    encoding.take_overflowing();
    encoding.merge_with(suffix, false);
}

impl PairScorer for MonoT5 {
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>> {
        self.model.each(pairs, |network, (request, document)| {
            let score = self.score_pair(network, request, document)?;
            progress(1);
            Ok(score)
        })
    }

    fn cut(&self) -> CutTexts {
        self.model.cut()
    }

    fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}
