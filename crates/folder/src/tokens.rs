//! Tokens: texts and pairs as ids of the vocabulary.

use crate::guard;
use crate::rebuilt::{put_marks, rebuild};
use crate::tokenizer_class::TokenizerClass;
use crate::{
    COPY_AGAIN, DOCUMENTED, Family, ModelFolder, Object, SAVE_TOKENIZER, TokenizerConfig,
    parse_object,
};
use clariq_core::{CutTexts, Result, TextCounter, bail, problem};
use clariq_files::{MOST_OF_A_TABLE, Source};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::Path;
use tokenizers::normalizers::{Lowercase, NormalizerWrapper, Sequence};
use tokenizers::utils::padding::PaddingDirection;
use tokenizers::utils::truncation::{TruncationDirection, truncate_encodings};
use tokenizers::{AddedToken, Encoding, PostProcessor, Tokenizer, TruncationParams};

/// The tokens of a text or of a pair of texts, with the special tokens around them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Ids of the vocabulary.
    pub ids: Vec<i64>,
    /// 0 for the tokens of the first text, 1 for those of the second.
    pub segments: Vec<i64>,
    /// The number of the last tokens that no token attends to.
    pub unattended: usize,
    /// The number of the first tokens, those of a prompt, that do not count in the vector of the text.
    pub uncounted: usize,
}

/// The prompt before a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptKind {
    Query,
    Document,
}

/// The tokenizer of a model.
pub struct Tokenize {
    tokenizer: Tokenizer,
    /// True if special tokens are put around texts.
    marks_ends: bool,
    /// True if the model computes nothing for a text without any token.
    needs_tokens: bool,
    /// The prompts of requests and of documents.
    prompts: [String; 2],
    /// True if their tokens count in the vector of a text.
    counts_prompts: bool,
    /// The ids of the tokens that the settings call special.
    special: Vec<i64>,
    most: usize,
    /// The side at which long texts are cut.
    cut_at: TruncationDirection,
    /// The side at which short texts are padded.
    pad_at: PaddingDirection,
    /// The most tokens that the model reads.
    model_most: usize,
    /// The most tokens of a request and of a document, where they are not the same.
    lengths: [Option<usize>; 2],
    /// `[MASK]` and the token that ends a text, where the settings name them.
    usual_expansion: Vec<String>,
    /// Counts texts and pairs.
    read: TextCounter,
    name: String,
}

impl Tokenize {
    /// Reads the tokenizer of a model. A text is cut to `max_tokens` tokens, or by default to the
    /// folder's maximum; of a pair, the longer text is cut first.
    pub fn open(folder: &ModelFolder, max_tokens: Option<usize>) -> Result<Self> {
        let path = &folder.tokenizer;
        let family = folder.shape.family;
        let config = &folder.tokenizer_config;
        let ReadTokenizer { tokenizer, cut_at, pad_at } =
            read_tokenizer(path, config, family, folder.lower_case, folder.shape.vocabulary)?;
        let most = max_tokens
            .map_or(folder.max_tokens, |most| most.min(folder.shape.most_tokens() as usize));
        let special = count_special_tokens(&tokenizer, true);
        if most <= special {
            let found = format!("{most}; a pair of texts has {special} special tokens");
            bail!(&folder.path, "max_tokens that leaves room for a text", found);
        }
        let name = folder.path.display().to_string();
        let prompts = Default::default();
        let read = TextCounter::default();
        let model_most = folder.shape.most_tokens() as usize;
        let id = |token: &str| tokenizer.token_to_id(token).map(i64::from);
        Ok(Self {
            special: config.added_tokens.specials().filter_map(id).collect(),
            counts_prompts: true,
            tokenizer,
            marks_ends: true,
            needs_tokens: true,
            prompts,
            most,
            cut_at,
            pad_at,
            model_most,
            lengths: [None; 2],
            usual_expansion: config.usual_expansion(),
            read,
            name,
        })
    }

    /// A tokenizer that puts no special tokens around a text.
    pub(crate) fn without_special_tokens(
        path: &Path,
        config: &TokenizerConfig,
        family: Family,
        vocabulary: i64,
        most: usize,
    ) -> Result<Self> {
        let ReadTokenizer { tokenizer, cut_at, pad_at } =
            read_tokenizer(path, config, family, false, vocabulary)?;
        let name = path.display().to_string();
        let prompts = Default::default();
        let read = TextCounter::default();
        Ok(Self {
            special: Vec::new(),
            counts_prompts: true,
            tokenizer,
            marks_ends: false,
            needs_tokens: false,
            prompts,
            most,
            cut_at,
            pad_at,
            model_most: most,
            lengths: [None; 2],
            usual_expansion: Vec::new(),
            read,
            name,
        })
    }

    /// Takes texts without any token, in which the model finds no words.
    #[must_use]
    pub fn with_empty_texts(mut self) -> Self {
        self.needs_tokens = false;
        self
    }

    /// The word of a number; the number itself if there is none.
    pub fn word_or_number(&self, number: u32) -> Cow<'_, str> {
        let word = self.tokenizer.id_to_token(number);
        word.unwrap_or_else(|| format!("#{number}")).into()
    }

    /// The same with prompts before requests and documents.
    #[must_use]
    pub fn with_prompts(self, query: &str, document: &str) -> Self {
        Self { prompts: [query.to_owned(), document.to_owned()], ..self }
    }

    /// The same for a model in whose vectors the tokens of prompts count or not.
    #[must_use]
    pub fn with_prompts_that_count(self, counts_prompts: bool) -> Self {
        Self { counts_prompts, ..self }
    }

    /// Cuts requests and documents at lengths of their own, within the length that is set.
    pub fn set_lengths(&mut self, lengths: [Option<usize>; 2]) {
        self.lengths = lengths.map(|length| Some(length?.min(self.model_most)));
    }

    /// Makes one token of each of these beginnings of texts that the vocabulary has.
    pub fn mark(&mut self, marks: &[String]) -> Result<()> {
        for mark in marks {
            let first = mark.split_whitespace().next();
            let known = [Some(mark.as_str()), first].into_iter().flatten();
            let mut known = known.filter(|mark| self.id_of(mark).is_some());
            let (Some(_), Some(known)) = (first, known.next()) else { continue };
            let token = AddedToken::from(known, true).normalized(false);
            self.tokenizer
                .add_special_tokens([token])
                .map_err(|error| problem!(&*self.name, "a token `{known}`", "{error}"))?;
        }
        Ok(())
    }

    /// The id of a word of the vocabulary.
    pub fn id_of(&self, word: &str) -> Option<i64> {
        self.tokenizer.token_to_id(word).map(i64::from)
    }

    /// The id of the token that expands requests: the named one, `[MASK]`, or the one that ends a text.
    pub fn expansion(&self, named: Option<&str>) -> Result<i64> {
        if matches!(self.pad_at, PaddingDirection::Left) {
            let hint = "the library puts the tokens of an expansion where padding is";
            bail!(&*self.name, "padding_side `right` beside query_expansion", "`left`", hint);
        }
        let usual = || self.usual_expansion.iter().find_map(|word| self.id_of(word));
        let found = named.map_or_else(usual, |word| self.id_of(word));
        let Some(id) = found else {
            let found = named.unwrap_or("no mask_token and no eos_token");
            bail!(&*self.name, "a token for query_expansion", "{found}", DOCUMENTED);
        };
        Ok(id)
    }

    /// The tokens of each text, in order.
    pub fn texts(&self, texts: &[&str], prompt: PromptKind) -> Result<Vec<Tokens>> {
        let before = &self.prompts[usize::from(prompt == PromptKind::Document)];
        let own = self.lengths[usize::from(prompt == PromptKind::Document)];
        let most = own.unwrap_or(self.most);
        let uncounted = self.uncounted(before, most)?;
        let tokens = |text: &&str| {
            let tokens = self.tokens(&format!("{before}{text}"), None, most)?;
            if uncounted > 0 && uncounted >= tokens.ids.len() {
                let hint =
                    "this tokenizer puts no mark behind texts: leave out those without words";
                bail!(&*self.name, "a text with a token after its prompt", "one without any", hint);
            }
            Ok(Tokens { uncounted, ..tokens })
        };
        texts.par_iter().map(tokens).collect()
    }

    /// The number of a prompt's tokens, with the mark before it and without the one behind it, where they do
    /// not count.
    fn uncounted(&self, prompt: &str, most: usize) -> Result<usize> {
        if self.counts_prompts || prompt.is_empty() {
            return Ok(0);
        }
        let ids = self.tokens(prompt, None, most)?.ids;
        let is_marked = ids.last().is_some_and(|last| self.special.contains(last));
        Ok(ids.len() - usize::from(is_marked))
    }

    /// The tokens of each pair, in order.
    pub fn pairs(&self, pairs: &[(&str, &str)]) -> Result<Vec<Tokens>> {
        let [before, _] = &self.prompts;
        let tokens = |&(first, second): &(&str, &str)| {
            self.tokens(&format!("{before}{first}"), Some(second), self.most)
        };
        pairs.par_iter().map(tokens).collect()
    }

    /// The texts and pairs that were cut because they were too long for the model.
    pub fn cut(&self) -> CutTexts {
        self.read.cut_at(self.most)
    }

    /// The longest text or pair, in tokens.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The tokens of a text without special tokens.
    fn encode(&self, text: &str) -> Result<Encoding> {
        guard::encode(Path::new(&self.name), &self.tokenizer, text)
    }

    /// The tokens of a text or of a pair. They are cut here because the crate `tokenizers` cuts long
    /// texts at another place than Hugging Face's library.
    fn tokens(&self, first: &str, second: Option<&str>, most: usize) -> Result<Tokens> {
        let mut first = self.encode(first)?;
        let mut second = second.map(|text| self.encode(text)).transpose()?;
        let mut room = most;
        if self.marks_ends {
            room -= count_special_tokens(&self.tokenizer, second.is_some());
        }
        let is_long = first.len() + second.as_ref().map_or(0, Encoding::len) > room;
        self.read.add(is_long);
        if is_long {
            let longest_first = TruncationParams {
                max_length: room,
                direction: self.cut_at,
                ..TruncationParams::default()
            };
            let cut = || truncate_encodings(first, second, &longest_first);
            (first, second) = guard::call(Path::new(&self.name), cut)?;
        }
        if let Some(second) = &mut second {
            second.set_type_ids(vec![1; second.len()]);
        }
        let add_special_tokens = || self.tokenizer.post_process(first, second, self.marks_ends);
        let encoding = guard::call(Path::new(&self.name), add_special_tokens)?;
        let (ids, segments) = (to_i64(encoding.get_ids()), to_i64(encoding.get_type_ids()));
        if self.needs_tokens && ids.is_empty() {
            let hint = "this tokenizer puts no marks around texts: leave out those without words";
            bail!(&*self.name, "a text with a token", "one without any", hint);
        }
        Ok(Tokens { ids, segments, ..Tokens::default() })
    }
}

/// A tokenizer without the padding and truncation of the program that saved it.
struct ReadTokenizer {
    tokenizer: Tokenizer,
    cut_at: TruncationDirection,
    pad_at: PaddingDirection,
}

/// Reads a tokenizer, and the sides at which it cuts and pads.
fn read_tokenizer(
    path: &Path,
    config: &TokenizerConfig,
    family: Family,
    lower_case: bool,
    vocabulary: i64,
) -> Result<ReadTokenizer> {
    let unreadable = |error: tokenizers::Error| {
        let hint = "copy the file again from where the model came from";
        problem!(path, "a tokenizer", "{error}", hint)
    };
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
    config.added_tokens.add_to(&mut tokenizer, vocabulary).map_err(unreadable)?;
    put_marks(&mut tokenizer, config).map_err(unreadable)?;
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
    tokenizer.with_truncation(None).map_err(unreadable)?;
    if lower_case {
        let mut steps = vec![NormalizerWrapper::Lowercase(Lowercase)];
        steps.extend(tokenizer.get_normalizer().cloned());
        let normalizer = NormalizerWrapper::Sequence(Sequence::new(steps));
        tokenizer.with_normalizer(Some(normalizer)).map_err(unreadable)?;
    }
    Ok(ReadTokenizer { tokenizer, cut_at, pad_at })
}

/// The number of special tokens around a text or a pair.
pub fn count_special_tokens(tokenizer: &Tokenizer, is_pair: bool) -> usize {
    tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(is_pair))
}

fn to_i64(values: &[u32]) -> Vec<i64> {
    values.iter().map(|&value| i64::from(value)).collect()
}

/// Refuses a tokenizer with ids beyond the table of word embeddings.
pub fn check_vocabulary(path: &Path, tokenizer: &Tokenizer, vocabulary: i64) -> Result<()> {
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
