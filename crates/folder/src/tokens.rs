//! Tokens: texts and pairs as ids of the vocabulary.

mod read;

use crate::chat::{self, ChatTemplate, RoleText};
use crate::guard;
use crate::prompts::Prompts;
use crate::{DOCUMENTED, ModelFolder};
use clariq_core::{CutTexts, Result, TextCounter, TextSide, bail, problem};
use rayon::prelude::*;
pub use read::{check_vocabulary, count_special_tokens};
use std::borrow::Cow;
use std::path::Path;
use tokenizers::utils::padding::PaddingDirection;
use tokenizers::utils::truncation::{TruncationDirection, truncate_encodings};
use tokenizers::{AddedToken, Encoding, Tokenizer, TruncationParams};

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

/// The tokenizer of a model.
pub struct Tokenize {
    tokenizer: Tokenizer,
    /// True if special tokens are put around texts.
    marks_ends: bool,
    /// The template that texts and pairs are put into, in place of special tokens.
    chat: Option<ChatTemplate>,
    /// True if the model computes nothing for a text without any token.
    needs_tokens: bool,
    prompts: Prompts,
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
        let config = &folder.tokenizer_config;
        let path = &folder.tokenizer;
        let shape = &folder.shape;
        let mut tokenize =
            Self::without_special_tokens(path, config, shape.family, shape.vocabulary)?;
        if folder.settings.do_lower_case {
            tokenize.lower_case(path)?;
        }
        let model_most = shape.most_tokens() as usize;
        let most = max_tokens.map_or(folder.max_tokens, |most| most.min(model_most));
        let special = count_special_tokens(&tokenize.tokenizer, true);
        if most <= special {
            let found = format!("{most}; a pair of texts has {special} special tokens");
            bail!(&folder.path, "max_tokens that leaves room for a text", found);
        }
        let specials = config.added_tokens.specials();
        Ok(Self {
            special: specials.filter_map(|token| tokenize.id_of(token)).collect(),
            marks_ends: folder.chat.is_none(),
            chat: folder.chat.clone(),
            needs_tokens: true,
            most,
            model_most,
            usual_expansion: config.usual_expansion(),
            name: folder.path.display().to_string(),
            ..tokenize
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
    pub fn with_prompts(self, prompts: &Prompts) -> Self {
        Self { prompts: prompts.clone(), ..self }
    }

    /// Refuses padding at the left, for models that read the first token of a batch, whatever it is.
    pub fn expect_padding_behind(&self) -> Result<()> {
        if matches!(self.pad_at, PaddingDirection::Left) {
            let hint = "the score would be that of padding, in the library, too";
            bail!(
                &*self.name,
                "padding_side `right` for a score of the first token",
                "`left`",
                hint
            );
        }
        Ok(())
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
        if self.chat.is_some() {
            let hint = "the library refuses it, too";
            bail!(&*self.name, "no query_expansion beside a chat template", "one", hint);
        }
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
    pub fn texts(&self, texts: &[&str], side: TextSide) -> Result<Vec<Tokens>> {
        let [of_requests, of_documents] = self.lengths;
        let (before, most) = match side {
            TextSide::Request => (&self.prompts.query, of_requests),
            TextSide::Document => (&self.prompts.document, of_documents),
        };
        let most = most.unwrap_or(self.most);
        if let Some(chat) = &self.chat {
            let messages: Vec<_> = texts.iter().map(|text| [(chat::TEXT[0], *text)]).collect();
            return self.messages(chat, before, &messages, most);
        }
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
        if self.prompts.are_counted || prompt.is_empty() {
            return Ok(0);
        }
        let ids = self.tokens(prompt, None, most)?.ids;
        let is_marked = ids.last().is_some_and(|last| self.special.contains(last));
        Ok(ids.len() - usize::from(is_marked))
    }

    /// The tokens of each pair, in order.
    pub fn pairs(&self, pairs: &[(&str, &str)]) -> Result<Vec<Tokens>> {
        let before = &self.prompts.query;
        if let Some(chat) = &self.chat {
            let [query, document] = chat::PAIR;
            let messages =
                pairs.iter().map(|(first, second)| [(query, *first), (document, *second)]);
            return self.messages(chat, before, &messages.collect::<Vec<_>>(), self.most);
        }
        let tokens = |&(first, second): &(&str, &str)| {
            self.tokens(&format!("{before}{first}"), Some(second), self.most)
        };
        pairs.par_iter().map(tokens).collect()
    }

    /// The tokens of texts or pairs in a chat template. What it has behind them is there in those that are cut,
    /// too.
    fn messages<const N: usize>(
        &self,
        chat: &ChatTemplate,
        prompt: &str,
        all: &[[RoleText; N]],
        most: usize,
    ) -> Result<Vec<Tokens>> {
        let Some(first) = all.first() else { return Ok(Vec::new()) };
        let filled = |filler: &'static str| -> Result<Vec<u32>> {
            let text = chat.render(prompt, &first.map(|(role, _)| (role, filler)))?;
            Ok(self.encode(&text)?.get_ids().to_vec())
        };
        let one = filled("0")?;
        let other = filled("1 2 3 4")?;
        let is_same = |(left, right): &(&u32, &u32)| left == right;
        let common = one.iter().rev().zip(other.iter().rev()).take_while(is_same).count();
        let common = if common < one.len().min(other.len()) { common } else { 0 };
        let end = to_i64(one.get(one.len() - common..).unwrap_or_default());
        let tokens = |messages: &[RoleText; N]| {
            let mut tokens = self.tokens(&chat.render(prompt, messages)?, None, most)?;
            if tokens.ids.len() >= most {
                let kept = end.iter().rev().zip(tokens.ids.iter_mut().rev());
                kept.for_each(|(end, id)| *id = *end);
            }
            Ok(tokens)
        };
        all.par_iter().map(tokens).collect()
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
        let ids = to_i64(encoding.get_ids());
        if self.needs_tokens && ids.is_empty() {
            let hint = "this tokenizer puts no marks around texts: leave out those without words";
            bail!(&*self.name, "a text with a token", "one without any", hint);
        }
        Ok(Tokens { ids, segments: to_i64(encoding.get_type_ids()), ..Tokens::default() })
    }
}

fn to_i64(values: &[u32]) -> Vec<i64> {
    values.iter().map(|&value| i64::from(value)).collect()
}
