//! A collection of five questions, models that count words, and systems of one stage.

use clariq_collections::documents::{Bank, BankRow};
use clariq_core::{
    Answer, AnswerForm, ChatModel, ChatRequest, Checksum, Completion, Decoding, Doc, DocumentOrder,
    Documents, EachCompletion, Embeddings, Encoder, Error, JudgedSplit, Model, ModelKind,
    ModelName, Models, PairScorer, Progress, Ranking, Request, SparseEncoder, SparseVectors,
    Surroundings, TextGenerator, TextSide, TokenVectors, Utterance,
};
use clariq_index::{Analyzer, BuildOptions, DocumentIndex};
use clariq_rank::{Context, SystemFile};
use clariq_track_clariq::NO_QUESTION;
use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use tempfile::TempDir;

/// Q1 stands for the empty question, whose id is longer.
pub(crate) const TEXTS: [(&str, &str); 5] = [
    ("Q1", ""),
    ("Q2", "red fox"),
    ("Q3", "blue fox"),
    ("Q4", "which red car"),
    ("Q5", "blue boat"),
];

pub(crate) fn bank() -> Bank {
    let id = |name: &str| if name == "Q1" { NO_QUESTION.into() } else { name.into() };
    let row = |(name, text): (&str, &str)| BankRow { id: id(name), text: text.to_owned() };
    Bank::new(TEXTS.map(row).to_vec(), "Q00001")
}

/// Vectors that count the words of the questions except "which"; logits that count letters.
pub(crate) struct Counts;

const WORDS: [&str; 5] = ["red", "blue", "fox", "car", "boat"];

impl Encoder for Counts {
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings, Error> {
        let mut values = Vec::new();
        for text in texts {
            let count = |word| text.split(' ').filter(|found| *found == word).count() as f32;
            let counts = WORDS.map(count);
            let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt().max(1.0);
            values.extend(counts.map(|count| count / length));
        }
        progress(texts.len() as u64);
        Ok(Embeddings { dim: WORDS.len(), values })
    }

    /// Each word is like itself alone.
    fn encode_tokens(
        &self,
        texts: &[&str],
        _: TextSide,
        _: Progress,
    ) -> Result<Vec<TokenVectors>, Error> {
        let tokens = |text: &&str| -> Vec<u32> {
            let place = |word| WORDS.iter().position(|known| *known == word);
            text.split(' ').filter_map(place).map(|place| place as u32).collect()
        };
        let row = |token: u32| (0..5).map(move |place| f32::from(u8::from(place == token)));
        let vectors = |tokens: Vec<u32>| {
            let rows: Vec<f32> = tokens.iter().copied().flat_map(row).collect();
            TokenVectors::new(tokens, &rows)
        };
        Ok(texts.iter().map(|text| vectors(tokens(text))).collect())
    }

    fn token(&self, id: u32) -> Cow<'_, str> {
        WORDS[id as usize].into()
    }

    fn checksum(&self) -> &Checksum {
        static SUM: LazyLock<Checksum> = LazyLock::new(|| Checksum::of(b"words"));
        &SUM
    }
}

/// A word weighs its number, counted from 1, times its count.
impl SparseEncoder for Counts {
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<SparseVectors, Error> {
        progress(texts.len() as u64);
        let vector = |text: &&str| {
            let count = |word| text.split(' ').filter(|found| *found == word).count() as f32;
            let weights = WORDS.map(count).into_iter().zip(0..);
            let weights = weights.map(|(count, word)| (word, count * (word + 1) as f32));
            weights.filter(|(_, weight)| *weight > 0.0).collect::<Vec<_>>()
        };
        Ok(texts.iter().map(vector).collect())
    }

    fn word(&self, number: u32) -> Cow<'_, str> {
        WORDS[number as usize].into()
    }

    fn checksum(&self) -> &Checksum {
        static SUM: LazyLock<Checksum> = LazyLock::new(|| Checksum::of(b"weights"));
        &SUM
    }
}

impl PairScorer for Counts {
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>, Error> {
        // Pairs that are computed together may change each other's last digits.
        assert!(pairs.iter().all(|(query, _)| *query == pairs[0].0), "pairs of several requests");
        progress(pairs.len() as u64);
        Ok(pairs.iter().map(|(_, document)| document.len() as f32).collect())
    }

    fn checksum(&self) -> &Checksum {
        static SUM: LazyLock<Checksum> = LazyLock::new(|| Checksum::of(b"letters"));
        &SUM
    }
}

/// Writes the text after the last separator, with "red boats" for "them"; nothing for "hm".
impl TextGenerator for Counts {
    fn generate(
        &self,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<String>, Error> {
        assert_eq!(decoding.beams.get(), 4);
        progress(texts.len() as u64);
        let last = |text: &&str| text.rsplit(" ||| ").next().unwrap_or_default().to_owned();
        let write = |text| last(text).replace("them", "red boats").replace("hm", "");
        Ok(texts.iter().map(write).collect())
    }

    /// The more letters, the less likely; the other way round after "long: ".
    fn likelihood(&self, source: &str, targets: &[&str]) -> Result<Vec<f32>, Error> {
        let sign = if source.starts_with("long: ") { 1.0 } else { -1.0 };
        Ok(targets.iter().map(|text| sign * text.len() as f32).collect())
    }

    fn checksum(&self) -> &Checksum {
        static SUM: LazyLock<Checksum> = LazyLock::new(|| Checksum::of(b"red boats"));
        &SUM
    }
}

/// Answers the built-in prompts. The more letters a passage has, the better it is. A rewrite is "red
/// boats", and then "fox" if several are wanted; it is nothing for "hm".
impl ChatModel for Counts {
    fn complete(
        &self,
        requests: &[ChatRequest],
        _: EachCompletion,
    ) -> Result<Vec<Completion>, Error> {
        Ok(requests.iter().map(complete).collect())
    }

    fn checksum(&self) -> &Checksum {
        static SUM: LazyLock<Checksum> = LazyLock::new(|| Checksum::of(b"chat"));
        &SUM
    }
}

fn complete(request: &ChatRequest) -> Completion {
    let asked = &request.messages.last().unwrap().content;
    let line = |start: &str| {
        asked.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_default().to_owned()
    };
    let queries = || {
        let is_known = line("Last utterance: ") != "hm";
        if is_known { vec!["red boats".to_owned(), "fox".to_owned()] } else { Vec::new() }
    };
    let answer = request.form.as_ref().and_then(|form| match form {
        AnswerForm::Query | AnswerForm::Question => queries().into_iter().next().map(Answer::Text),
        AnswerForm::Queries(_) => {
            Some(Answer::Queries(queries())).filter(|_| !queries().is_empty())
        }
        AnswerForm::Order(count) => {
            let passages: Vec<&str> = asked.lines().filter(|line| line.starts_with('[')).collect();
            let mut order: Vec<usize> = (0..*count).collect();
            order.sort_by_key(|index| std::cmp::Reverse(passages[*index].len()));
            Some(Answer::Order(DocumentOrder { order, repairs: 0 }))
        }
        // The longest has 13 letters.
        AnswerForm::Grade(_) => Some(Answer::Grade((line("Passage: ").len() / 4) as u8)),
        AnswerForm::Response => None,
    });
    let mut first_token = Vec::new();
    if request.parameters.top_logprobs > 0 {
        let yes = line("Passage: ").len() as f64 / 20.0;
        first_token = vec![(" Yes".to_owned(), yes.ln()), ("no".to_owned(), (1.0 - yes).ln())];
    }
    Completion { answer, first_token, ..Completion::default() }
}

impl Models for Counts {
    fn open(&self, model: &ModelName) -> Result<Model, Error> {
        Ok(match model.kind {
            ModelKind::Encoder => Model::Encoder(Arc::new(Counts)),
            ModelKind::Sparse => Model::Sparse(Arc::new(Counts)),
            ModelKind::CrossEncoder => Model::CrossEncoder(Arc::new(Counts)),
            ModelKind::TextGenerator => Model::TextGenerator(Arc::new(Counts)),
            ModelKind::Chat => Model::Chat(Arc::new(Counts)),
        })
    }
}

/// An earlier split in which Q3 was judged relevant to "tell me about blue animals".
pub(crate) struct Earlier {
    judged: [JudgedSplit; 1],
    own: Vec<String>,
}

impl Earlier {
    /// For a split with these requests.
    pub(crate) fn new(own: &[&str]) -> Self {
        let judged = JudgedSplit {
            source: "train.tsv".to_owned(),
            requests: vec!["tell me about blue animals".to_owned()],
            relevant: vec![(Doc(2), 0)],
        };
        Self { judged: [judged], own: own.iter().map(|&text| text.to_owned()).collect() }
    }
}

impl Surroundings for &Earlier {
    fn judged_before(&self) -> Result<&[JudgedSplit], Error> {
        Ok(&self.judged)
    }

    fn own_requests(&self) -> Result<&[String], Error> {
        Ok(&self.own)
    }

    fn all_requests(&self) -> Result<&[String], Error> {
        Ok(&self.own)
    }
}

/// Opens indexes in a folder.
pub(crate) fn index_below(
    folder: &Path,
) -> impl Fn(Analyzer, &dyn Documents) -> Result<DocumentIndex, Error> + Sync {
    move |analyzer, documents| {
        let folder = folder.join(analyzer.name());
        let options = BuildOptions::default();
        Ok(DocumentIndex::open_or_build(&folder, documents, analyzer, &options)?.0)
    }
}

/// Calls a function with a context over the bank.
pub(crate) fn with_context<T>(earlier: &Earlier, call: impl FnOnce(&Context) -> T) -> T {
    let (bank, folder) = (bank(), TempDir::new().unwrap());
    let mut context = Context::new(&bank, index_below(folder.path()));
    context.models = &Counts;
    context.surroundings = Some(Box::new(earlier));
    call(&context)
}

/// A system of one stage, in a space of the words alone.
pub(crate) fn system(stage: &str) -> SystemFile {
    let text = format!(
        "name = \"one\"\nuses = [\"train-labels\", \"dev-labels\", \"batch\", \"language-model\"]\n[space]\nmodels = {{ words = 1.0 }}\n\
         [need]\nmodel = \"majority\"\n[[stages]]\n{stage}"
    );
    SystemFile::parse("one.toml", &text, &[]).unwrap_or_else(|error| panic!("{stage}: {error}"))
}

/// A conversation: what the user said first, then questions and answers.
pub(crate) fn conversation(said: &[&str]) -> Request {
    let mut request = Request::new("1", said[0]);
    for turn in said[1..].chunks(2) {
        request.said.extend([Utterance::system(turn[0]), Utterance::user(turn[1])]);
    }
    request
}

/// The names of the documents of a ranking.
pub(crate) fn ids(ranking: &Ranking) -> Vec<&'static str> {
    ranking.iter().map(|hit| TEXTS[hit.doc.index()].0).collect()
}
