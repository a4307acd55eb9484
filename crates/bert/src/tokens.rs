//! Tokens: texts and pairs as ids of the vocabulary.

use clariq_core::{Result, bail, problem};
use clariq_model::ModelFolder;
use rayon::prelude::*;
use std::path::Path;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::processors::bert::BertProcessing;
use tokenizers::{EncodeInput, Encoding, Tokenizer, TruncationParams};

/// A text, or a pair of texts, as the model reads it: with `[CLS]` in front and `[SEP]` behind each
/// text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Ids of the vocabulary.
    pub ids: Vec<i64>,
    /// 0 for the tokens of the first text, 1 for those of the second.
    pub segments: Vec<i64>,
}

/// The tokenizer of a model.
pub struct Tokenize {
    tokenizer: Tokenizer,
    positions: usize,
    cut: bool,
    most: usize,
    name: String,
}

impl Tokenize {
    /// Reads the tokenizer of a model. A text with more than `max_tokens` tokens is cut, the longer
    /// one of a pair first; without that limit a text that is longer than the model can read is an
    /// error.
    pub fn open(folder: &ModelFolder, max_tokens: Option<usize>) -> Result<Self> {
        let path = folder.tokenizer()?;
        let unreadable = |error: tokenizers::Error| {
            let hint = "copy the file again from where the model came from";
            problem!(&path, "a tokenizer", "{error}", hint)
        };
        let mut tokenizer = if path.extension().is_some_and(|extension| extension == "json") {
            Tokenizer::from_file(&path).map_err(unreadable)?
        } else {
            from_vocabulary(folder, &path).map_err(unreadable)?
        };
        check_words(&path, &tokenizer, folder.shape.vocabulary)?;
        let positions = folder.shape.positions as usize;
        // The file's own padding and truncation are habits of one program.
        tokenizer.with_padding(None);
        let limit = max_tokens.map(|limit| limit.min(positions));
        let truncation =
            limit.map(|max_length| TruncationParams { max_length, ..TruncationParams::default() });
        tokenizer.with_truncation(truncation).map_err(unreadable)?;
        Ok(Self {
            tokenizer,
            positions,
            cut: limit.is_some(),
            most: limit.unwrap_or(positions),
            name: folder.path.display().to_string(),
        })
    }

    /// The tokens of each text, in order.
    pub fn texts(&self, texts: &[&str]) -> Result<Vec<Tokens>> {
        texts.par_iter().map(|&text| self.one(text.into(), text)).collect()
    }

    /// The tokens of each pair, in order.
    pub fn pairs(&self, pairs: &[(&str, &str)]) -> Result<Vec<Tokens>> {
        pairs.par_iter().map(|&(first, second)| self.one((first, second).into(), first)).collect()
    }

    /// The tokens of a text, without `[CLS]` and `[SEP]`.
    pub(crate) fn pieces(&self, text: &str) -> Result<Vec<i64>> {
        Ok(wide(self.encode(text.into(), false)?.get_ids()))
    }

    /// `[CLS]` and `[SEP]`.
    pub(crate) fn marks(&self) -> Result<(i64, i64)> {
        let [cls, sep] = self.one("".into(), "")?.ids[..] else {
            let hint = "the tokenizer must be that of a BERT";
            bail!(&self.name, "`[CLS]` and `[SEP]` around a text", "others", hint);
        };
        Ok((cls, sep))
    }

    /// The longest text or pair, in tokens.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    fn encode(&self, input: EncodeInput, special: bool) -> Result<Encoding> {
        let encoding = self.tokenizer.encode(input, special).map_err(|error| {
            let hint = "the tokenizer's files may be damaged";
            problem!(&self.name, "a text that can be tokenised", "{error}", hint)
        })?;
        Ok(encoding)
    }

    fn one(&self, input: EncodeInput, shown: &str) -> Result<Tokens> {
        let encoding = self.encode(input, true)?;
        let (length, most) = (encoding.get_ids().len(), self.positions);
        if length > most && !self.cut {
            let start: String = shown.chars().take(40).collect();
            bail!(
                &self.name,
                "at most {most} tokens",
                "{length} tokens in \"{start}…\"",
                "shorten the text, or set `max_tokens` where the model is named, which cuts it"
            );
        }
        Ok(Tokens { ids: wide(encoding.get_ids()), segments: wide(encoding.get_type_ids()) })
    }
}

fn wide(values: &[u32]) -> Vec<i64> {
    values.iter().map(|&value| i64::from(value)).collect()
}

/// Refuses words whose ids the table of word embeddings does not have.
fn check_words(path: &Path, tokenizer: &Tokenizer, vocabulary: i64) -> Result<()> {
    let words = tokenizer.get_vocab(true);
    match words.iter().max_by_key(|(word, id)| (**id, word.as_str())) {
        Some((word, &id)) if i64::from(id) >= vocabulary => bail!(
            path,
            "words with ids below {vocabulary}, vocab_size of config.json",
            "the id {id} of `{word}`",
            "the files are of different models"
        ),
        _ => Ok(()),
    }
}

/// BERT's own tokenizer, from its list of words; lower case unless `tokenizer_config.json` says
/// otherwise.
fn from_vocabulary(folder: &ModelFolder, path: &Path) -> Result<Tokenizer, tokenizers::Error> {
    let settings = std::fs::read(folder.path.join("tokenizer_config.json")).unwrap_or_default();
    let settings: serde_json::Value = serde_json::from_slice(&settings).unwrap_or_default();
    let lowercase = settings["do_lower_case"].as_bool().unwrap_or(true);
    let words =
        WordPiece::from_file(&path.to_string_lossy()).unk_token("[UNK]".to_owned()).build()?;
    let mut tokenizer = Tokenizer::new(words);
    let special = |token: &str| {
        let id = tokenizer.token_to_id(token).ok_or_else(|| format!("no word `{token}`"))?;
        Ok::<_, tokenizers::Error>((token.to_owned(), id))
    };
    let processing = BertProcessing::new(special("[SEP]")?, special("[CLS]")?);
    special("[UNK]")?;
    tokenizer.with_normalizer(Some(BertNormalizer::new(true, true, None, lowercase)))?;
    tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
    tokenizer.with_post_processor(Some(processing));
    Ok(tokenizer)
}
