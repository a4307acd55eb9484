//! Tokens: texts and pairs as ids, grouped by length so that nothing is padded.

use clariq_core::Error;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_model::{ModelFolder, problem};
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
    pub fn open(folder: &ModelFolder, max_tokens: Option<usize>) -> Result<Self, Error> {
        let path = folder.tokenizer()?;
        let unreadable = |error: tokenizers::Error| {
            problem(&path, "a tokenizer", error.to_string())
                .hint("copy the file again from where the model came from")
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
    pub fn texts(&self, texts: &[&str]) -> Result<Vec<Tokens>, Error> {
        texts.par_iter().map(|&text| self.one(text.into(), text)).collect()
    }

    /// The tokens of each pair, in order.
    pub fn pairs(&self, pairs: &[(&str, &str)]) -> Result<Vec<Tokens>, Error> {
        pairs.par_iter().map(|&(first, second)| self.one((first, second).into(), first)).collect()
    }

    /// The tokens of a text, without `[CLS]` and `[SEP]`.
    pub(crate) fn pieces(&self, text: &str) -> Result<Vec<i64>, Error> {
        Ok(wide(self.encode(text.into(), false)?.get_ids()))
    }

    /// `[CLS]` and `[SEP]`.
    pub(crate) fn marks(&self) -> Result<(i64, i64), Error> {
        let empty = self.one("".into(), "")?.ids;
        match empty[..] {
            [cls, sep] => Ok((cls, sep)),
            _ => Err(problem(Path::new(&self.name), "`[CLS]` and `[SEP]` around a text", "others")
                .hint("the tokenizer must be that of a BERT")
                .into()),
        }
    }

    /// The longest text or pair, in tokens.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    fn encode(&self, input: EncodeInput, special: bool) -> Result<Encoding, Problem> {
        self.tokenizer.encode(input, special).map_err(|error| {
            Problem::new(
                Location::file(&self.name),
                ProblemKind::Model,
                "a text that can be tokenised",
                error.to_string(),
            )
            .hint("the tokenizer's files may be damaged")
        })
    }

    fn one(&self, input: EncodeInput, shown: &str) -> Result<Tokens, Error> {
        let encoding = self.encode(input, true)?;
        let length = encoding.get_ids().len();
        if length > self.positions && !self.cut {
            let start: String = shown.chars().take(40).collect();
            let expected = format!("at most {} tokens", self.positions);
            let found = format!("{length} tokens in \"{start}…\"");
            return Err(Problem::new(
                Location::file(&self.name),
                ProblemKind::TextLength,
                expected,
                found,
            )
            .hint("shorten the text, or set `max_tokens` where the model is named, which cuts it")
            .into());
        }
        Ok(Tokens { ids: wide(encoding.get_ids()), segments: wide(encoding.get_type_ids()) })
    }
}

fn wide(values: &[u32]) -> Vec<i64> {
    values.iter().map(|&value| i64::from(value)).collect()
}

/// Refuses words whose ids the table of word embeddings does not have.
fn check_words(path: &Path, tokenizer: &Tokenizer, vocabulary: i64) -> Result<(), Error> {
    let words = tokenizer.get_vocab(true);
    match words.iter().max_by_key(|(word, id)| (**id, word.as_str())) {
        Some((word, &id)) if i64::from(id) >= vocabulary => {
            let expected = format!("words with ids below {vocabulary}, vocab_size of config.json");
            Err(problem(path, expected, format!("the id {id} of `{word}`"))
                .hint("the files are of different models")
                .into())
        }
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

/// Places in a list, in groups of one length each and of at most `tokens` tokens (or one text). The
/// groups depend on the texts alone, not on the number of threads: that keeps every bit of the
/// result the same.
pub(crate) fn groups(all: &[Tokens], tokens: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&place| (all[place].ids.len(), place));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for place in order {
        let length = all[place].ids.len();
        match groups.last_mut() {
            Some(group)
                if all[group[0]].ids.len() == length && (group.len() + 1) * length <= tokens =>
            {
                group.push(place);
            }
            _ => groups.push(vec![place]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_place_is_in_one_group_of_its_length(lengths in prop::collection::vec(1_usize..20, 0..100), limit in 1_usize..80) {
            let all: Vec<Tokens> = lengths.iter().map(|&length| Tokens { ids: vec![0; length], segments: vec![0; length] }).collect();
            let groups = groups(&all, limit);
            let mut seen: Vec<usize> = groups.concat();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..all.len()).collect::<Vec<_>>());
            for group in groups {
                prop_assert!(group.iter().all(|&place| lengths[place] == lengths[group[0]]));
                prop_assert!(group.len() == 1 || group.len() * lengths[group[0]] <= limit);
            }
        }
    }
}
