//! A tokenizer as its files and settings have it.

use super::Tokenize;
use crate::guard;
use crate::prompts::Prompts;
use crate::rebuilt::{put_marks, rebuild};
use crate::tokenizer_class::TokenizerClass;
use crate::{
    COPY_AGAIN, Family, OTHER_MODELS, Object, SAVE_TOKENIZER, TokenizerConfig, parse_object,
};
use clariq_core::{Result, TextCounter, bail};
use clariq_files::{MOST_OF_A_TABLE, Source};
use serde_json::{Value, json};
use std::path::Path;
use tokenizers::normalizers::{Lowercase, NormalizerWrapper, Sequence};
use tokenizers::utils::padding::PaddingDirection;
use tokenizers::utils::truncation::TruncationDirection;
use tokenizers::{PostProcessor, Tokenizer};

impl Tokenize {
    /// Reads a tokenizer without the padding and truncation of the program that saved it. It puts no
    /// special tokens around a text, and cuts where its settings say.
    pub(crate) fn without_special_tokens(
        path: &Path,
        config: &TokenizerConfig,
        family: Family,
        vocabulary: i64,
    ) -> Result<Self> {
        let mut tokenizer = if config.class == TokenizerClass::File {
            guard::read(path)?
        } else {
            if let Some(other) = &config.added_tokens.in_file_alone {
                let found = format!("`{other}` in tokenizer.json alone");
                bail!(path, "added_tokens_decoder with all added tokens", found, SAVE_TOKENIZER);
            }
            let file = rebuild(read_words(path, config)?, config);
            guard::call(path, || Ok(serde_json::from_value(file)?))?
        };
        guard::call(path, || {
            config.added_tokens.add_to(&mut tokenizer, vocabulary)?;
            put_marks(&mut tokenizer, config)
        })?;
        tokenizer.set_encode_special_tokens(config.splits_special_tokens());
        check_vocabulary(path, &tokenizer, vocabulary)?;
        let is_left = |direction: &PaddingDirection| matches!(direction, PaddingDirection::Left);
        let own = tokenizer.get_padding().map(|padding| is_left(&padding.direction));
        let pads_left = config.pads_left(path, own, family)?;
        let pad_at = if pads_left { PaddingDirection::Left } else { PaddingDirection::Right };
        let own = tokenizer.get_truncation().map(|truncation| truncation.direction);
        let cut_at = match config.cuts_beginnings() {
            Some(true) => TruncationDirection::Left,
            Some(false) => TruncationDirection::Right,
            None => own.unwrap_or(TruncationDirection::Right),
        };
        tokenizer.with_padding(None);
        guard::call(path, || tokenizer.with_truncation(None).map(drop))?;
        let most = config.max_tokens().unwrap_or(usize::MAX);
        Ok(Self {
            tokenizer,
            marks_ends: false,
            chat: None,
            needs_tokens: false,
            prompts: Prompts::default(),
            special: Vec::new(),
            most,
            cut_at,
            pad_at,
            model_most: most,
            lengths: [None; 2],
            usual_expansion: Vec::new(),
            read: TextCounter::default(),
            name: path.display().to_string(),
        })
    }

    /// Lower-cases texts before everything else.
    pub(super) fn lower_case(&mut self, path: &Path) -> Result<()> {
        let mut steps = vec![NormalizerWrapper::Lowercase(Lowercase)];
        steps.extend(self.tokenizer.get_normalizer().cloned());
        let normalizer = NormalizerWrapper::Sequence(Sequence::new(steps));
        guard::call(path, || self.tokenizer.with_normalizer(Some(normalizer)).map(drop))
    }
}

/// The number of special tokens around a text or a pair.
pub fn count_special_tokens(tokenizer: &Tokenizer, is_pair: bool) -> usize {
    tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(is_pair))
}

/// Refuses a tokenizer with ids beyond the table of word embeddings.
pub fn check_vocabulary(path: &Path, tokenizer: &Tokenizer, vocabulary: i64) -> Result<()> {
    let words = tokenizer.get_vocab(true);
    match words.iter().max_by_key(|(word, id)| (**id, word.as_str())) {
        Some((word, &id)) if i64::from(id) >= vocabulary => bail!(
            path,
            "words with ids below {vocabulary}, vocab_size of config.json",
            "the id {id} of `{word}`",
            OTHER_MODELS
        ),
        _ => Ok(()),
    }
}

/// A `tokenizer.json`, or one of the words of a `vocab.txt`, one a line.
fn read_words(path: &Path, config: &TokenizerConfig) -> Result<Object> {
    let text = Source::Path(path.to_owned()).read_at_most(MOST_OF_A_TABLE)?.bytes;
    if path.extension().is_some_and(|extension| extension == "json") {
        return parse_object(path, &text);
    }
    let Ok(text) = str::from_utf8(&text) else {
        bail!(path, "a word of UTF-8 on each line", "other bytes", COPY_AGAIN);
    };
    let words = text.lines().zip(0..);
    let words: Object = words.map(|(word, id)| (word.to_owned(), Value::from(id))).collect();
    let unknown = config.special("unk_token").unwrap_or_default();
    if !words.contains_key(unknown) {
        bail!(path, "the words of a tokenizer, with `{unknown}`", "none", COPY_AGAIN);
    }
    let model = json!({ "vocab": words });
    Ok(Object::from_iter([("model".to_owned(), model)]))
}
