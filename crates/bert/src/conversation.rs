//! Conversational encoders: a conversation so far as one vector, near to that of the resolved
//! utterance.
//!
//! Yu, Liu, Xiong, Feng and Liu, "Few-Shot Conversational Dense Retrieval", SIGIR 2021, teach an
//! encoder so. Here the network sees the last utterance as the first text and what led to it as the
//! second; its vector is added to the one that the base gives the conversation.

use crate::inference::APART;
use crate::models::Reader;
use crate::network::Network;
use crate::tokens::{Tokenize, Tokens};
use clariq_core::{
    Embeddings, History, HistoryWeights, ModelOptions, Objective, Problem, Reading, Recipe, Result,
    bail, problem, read_regular, sentences, sha256_hex, weighted_sum,
};
use clariq_files::MOST_OF_A_TABLE;
use clariq_model::{ModelFolder, Sentence};
use serde::Deserialize;
use std::path::Path;

/// Where texts are cut, in tokens: the last utterance, an earlier one, and the sentences at the end
/// of the last response.
const NOW: usize = 64;
const EARLIER: usize = 48;
const RESPONSE: usize = 40;
/// How many earlier utterances are read.
const TURNS: usize = 6;

/// A conversational encoder on libtorch.
pub struct BertConversationEncoder {
    reader: Reader,
    space: String,
    untrained: f64,
    weights: HistoryWeights,
}

impl BertConversationEncoder {
    /// Reads a folder that a training of a conversational encoder left; any other is an error.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self> {
        let folder = ModelFolder::open(path)?;
        let recipe = recipe_of(path)?;
        let Objective::ResolvedUtterance { untrained, history, .. } = recipe.objective else {
            return Err(other_kind(path, &recipe.objective.kind().to_string()).into());
        };
        let options =
            ModelOptions { reading: Reading::cut_at(recipe.max_tokens), ..options.clone() };
        let usual = Sentence::usual(folder.shape.hidden as usize);
        let mut reader = Reader::new(&folder, &usual, &options)?;
        let made_of = serde_json::to_string(&recipe).unwrap_or_default();
        reader.checksum = sha256_hex(format!("{} {made_of}", reader.checksum).as_bytes());
        Ok(Self { reader, space: recipe.base, untrained, weights: history })
    }
}

/// The recipe that a folder was trained by.
fn recipe_of(folder: &Path) -> Result<Recipe> {
    #[derive(Deserialize)]
    struct Described {
        recipe: Recipe,
    }

    let path = folder.join("training.json");
    let described = read_regular(&path, MOST_OF_A_TABLE).ok();
    let described = described.and_then(|bytes| serde_json::from_slice::<Described>(&bytes).ok());
    Ok(described.ok_or_else(|| other_kind(&path, "no recipe that can be read"))?.recipe)
}

fn other_kind(path: &Path, found: &str) -> Problem {
    problem!(
        path,
        "a conversational encoder that `clariq train` made",
        found,
        "`clariq train conversational-encoder` trains one"
    )
}

impl clariq_core::ConversationEncoder for BertConversationEncoder {
    fn space(&self) -> &str {
        &self.space
    }

    fn weights(&self) -> &HistoryWeights {
        &self.weights
    }

    fn encode(&self, conversations: &[History], untrained: &Embeddings) -> Result<Embeddings> {
        let Reader { network, tokenize, dim, .. } = &self.reader;
        if untrained.dim != *dim {
            bail!(
                &self.space,
                (format!("vectors of length {dim}, as `{}` has", self.space)),
                (format!("vectors of length {}", untrained.dim)),
                "another model has been installed under that name: train again"
            );
        }
        let tokens: Vec<Tokens> = conversations
            .iter()
            .map(|history| tokenize.conversation(history))
            .collect::<Result<_>>()?;
        let learned = network.rows(&tokens, APART, Network::pooled_first, &|_| {})?;
        let pairs = learned.chunks_exact(*dim).zip(untrained.rows());
        let sum = |(learned, untrained)| {
            weighted_sum(*dim, [(learned, 1.0), (untrained, self.untrained)])
        };
        Ok(Embeddings { dim: *dim, values: pairs.flat_map(sum).collect() })
    }

    fn checksum(&self) -> &str {
        &self.reader.checksum
    }
}

impl Tokenize {
    /// A conversation as a pair: the last utterance; and the earlier ones, the latest first, each
    /// with `[SEP]` behind it, the latest also with the sentences at the end of what was answered
    /// to it.
    pub(crate) fn conversation(&self, history: &History) -> Result<Tokens> {
        let (cls, sep) = self.marks()?;
        let mut ids = vec![cls];
        ids.extend(self.pieces(history.now)?.into_iter().take(NOW));
        ids.push(sep);
        let first = ids.len();
        for (turn, utterance) in history.user.iter().take(TURNS).enumerate() {
            ids.extend(self.pieces(utterance)?.into_iter().take(EARLIER));
            if let (0, Some(response)) = (turn, history.system.first()) {
                ids.extend(self.end_of(response)?);
            }
            ids.push(sep);
        }
        ids.truncate(self.most());
        let segments = (0..ids.len()).map(|position| i64::from(position >= first)).collect();
        Ok(Tokens { ids, segments })
    }

    /// The tokens of the last sentences of a response, as many as fit.
    fn end_of(&self, response: &str) -> Result<Vec<i64>> {
        let mut kept = Vec::new();
        let mut length = 0;
        for sentence in sentences(response).into_iter().rev() {
            let pieces = self.pieces(sentence)?;
            length += pieces.len();
            if length > RESPONSE {
                break;
            }
            kept.push(pieces);
        }
        Ok(kept.into_iter().rev().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::{ConversationEncoder, Reading, Utterance};
    use std::path::PathBuf;

    fn tiny() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny")
    }

    fn tokens(said: &[Utterance], most: usize) -> Tokens {
        let folder = ModelFolder::open(&tiny()).unwrap();
        let tokenize = Tokenize::open(&folder, Some(most)).unwrap();
        tokenize.conversation(&History::of(said)).unwrap()
    }

    #[test]
    fn the_last_utterance_is_the_first_text() {
        let said = [
            Utterance::user("tent"),
            Utterance::system("bees. wind car. honey!"),
            Utterance::user("animal system"),
        ];
        let folder = ModelFolder::open(&tiny()).unwrap();
        let tokenize = Tokenize::open(&folder, None).unwrap();
        let (cls, sep) = tokenize.marks().unwrap();
        let pieces = |text: &str| tokenize.pieces(text).unwrap();
        let expected = [
            vec![cls],
            pieces("animal system"),
            vec![sep],
            pieces("tent bees. wind car. honey!"),
            vec![sep],
        ];
        let found = tokens(&said, 128);
        assert_eq!(found.ids, expected.concat());
        let first = 2 + pieces("animal system").len();
        assert!(found.segments[..first].iter().all(|&segment| segment == 0));
        assert!(found.segments[first..].iter().all(|&segment| segment == 1));
        assert_eq!(tokens(&said, 8).ids, expected.concat()[..8]);
        assert_eq!(tokens(&said[..1], 128).ids, [vec![cls], pieces("tent"), vec![sep]].concat());
    }

    #[test]
    fn long_texts_are_cut_and_sentences_kept_whole() {
        let folder = ModelFolder::open(&tiny()).unwrap();
        let tokenize = Tokenize::open(&folder, None).unwrap();
        let long = |words: usize| vec!["tent"; words].join(" ");
        let of = |count: usize| tokenize.pieces(&long(count)).unwrap().len();
        assert_eq!(of(3), 3, "a word is a token");
        let said = [
            Utterance::user(long(60)),
            Utterance::system(format!("{}. {}. bees", long(35), long(30))),
            Utterance::user(long(70)),
        ];
        let found = tokens(&said, 500);
        let first = found.segments.iter().filter(|&&segment| segment == 0).count();
        assert_eq!((first, found.ids.len()), (66, 96), "64 tokens and marks; 96 positions");
        assert_eq!(tokenize.end_of(said[1].text.as_str()).unwrap().len(), 31 + 1);
    }

    #[test]
    fn a_folder_that_is_no_conversational_encoder_is_refused() {
        let error = BertConversationEncoder::open(&tiny(), &ModelOptions::default());
        let error = error.err().unwrap().to_string();
        assert!(error.contains("a conversational encoder that `clariq train` made"), "{error}");
    }

    #[test]
    fn a_conversation_has_the_same_vector_in_any_company() {
        let folder = ModelFolder::open(&tiny()).unwrap();
        let encoder = |threads| {
            let options =
                ModelOptions { threads, reading: Reading::cut_at(64), ..ModelOptions::default() };
            let usual = Sentence::usual(folder.shape.hidden as usize);
            BertConversationEncoder {
                reader: Reader::new(&folder, &usual, &options).unwrap(),
                space: "tiny".to_owned(),
                untrained: 0.5,
                weights: HistoryWeights { context: 0.0, system: 0.0, decay: 0.0 },
            }
        };
        let said: Vec<Utterance> =
            ["tent", "bees honey wind", "car"].into_iter().map(Utterance::user).collect();
        let all: Vec<History> = (1..=3).map(|count| History::of(&said[..count])).collect();
        let dim = folder.shape.hidden as usize;
        let rows = |count: usize| Embeddings { dim, values: vec![0.1; dim * count] };
        let together = encoder(3).encode(&all, &rows(3)).unwrap();
        for (history, row) in all.iter().zip(together.rows()) {
            let alone = encoder(1).encode(std::slice::from_ref(history), &rows(1)).unwrap();
            assert_eq!(alone.row(0), row);
        }
        let short = Embeddings { dim: 3, values: vec![0.0; 3] };
        let error = encoder(1).encode(&all[..1], &short).unwrap_err().to_string();
        assert!(error.contains("vectors of length 3"), "{error}");
    }
}
