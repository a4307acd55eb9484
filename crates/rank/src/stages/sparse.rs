//! Stage `sparse`: ranks documents by the weights that a model gives to words of requests and
//! documents (learned sparse retrieval).
//!
//! Without `weights` and `history`, the whole conversation is one text. With one of them, the weights
//! of the texts' words are added up, each text with its weight, as `bm25` does.

use crate::build::Build;
use crate::context::Context;
use crate::stage::{About, Batch, Stage};
use crate::stages::conversation::{ConversationWeights, TermHistory, explain};
use clariq_core::{
    Doc, Error, Explanation, IoAction, Kept, ModelKind, ModelName, Ranking, ReadingOverrides,
    Request, Result, Role, SparseEncoder, SparseVectors, WeightedText, bail, encode_sparsely,
};
use clariq_index::{IMPACTS_FORMAT, ImpactIndex, ImpactWriter, WINDOW};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Retrieves documents; an earlier ranking is replaced. Documents without a text are left out.
#[derive(Serialize)]
struct Sparse {
    #[serde(flatten)]
    keys: SparseKeys,
    #[serde(flatten)]
    conversation: Option<ConversationWeights<TermHistory>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SparseKeys {
    /// The name or folder of a sparse encoder.
    model: String,
    /// The longest text in tokens, by default that of the model's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<usize>,
    /// The maximum number of documents.
    depth: NonZeroUsize,
    /// Weights of a document below this share of its largest one are not indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_ratio: Option<f32>,
}

/// Words with their weights, by ascending number.
type Words = Vec<(u32, f32)>;

/// A text of a request with the weights of its words.
type WeighedText<'a> = (WeightedText<'a>, Words);

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>> {
    let conversation = ConversationWeights::take(&mut build.table)?;
    let at = build.table.at("max_ratio");
    let keys: SparseKeys = build.table.read()?;
    if let Some(ratio) = keys.max_ratio.filter(|ratio| !(0.0..1.0).contains(ratio)) {
        let hint = "0.1 leaves out the weights below a tenth of a document's largest";
        bail!(at, "max_ratio from 0 to below 1", "{ratio}", hint);
    }
    Ok(Box::new(Sparse { keys, conversation }))
}

impl Sparse {
    fn model(&self) -> ModelName {
        let SparseKeys { model, max_tokens, .. } = &self.keys;
        let reading = ReadingOverrides::cut_at(*max_tokens);
        ModelName { reading, ..ModelName::new(&**model, ModelKind::Sparse) }
    }

    /// The index of the documents, computed once for a model.
    fn index(&self, context: &Context, encoder: &dyn SparseEncoder) -> Result<Arc<ImpactIndex>> {
        let documents = context.documents;
        let ratio = self.keys.max_ratio.unwrap_or(0.0);
        let models = encoder.checksum();
        let texts = documents.checksum();
        let key = format!("{IMPACTS_FORMAT} {models} {texts} {ratio}");
        context.impacts(&key, || self.open_index(context, encoder, &key))
    }

    fn open_index(
        &self,
        context: &Context,
        encoder: &dyn SparseEncoder,
        key: &str,
    ) -> Result<ImpactIndex> {
        let documents = context.documents;
        let ratio = self.keys.max_ratio.unwrap_or(0.0);
        let kept = Kept {
            model: &self.model(),
            folder: "impacts",
            what: "weights of words",
            key,
            documents: documents.len(),
        };
        let bytes = context.models.keep(&kept, &|out, progress| {
            let refused = Error::io(IoAction::Write, "the index of weights");
            let mut writer = ImpactWriter::new(out);
            encode_sparsely(encoder, documents, WINDOW, progress, |vectors| {
                writer.add(&largest(&vectors, ratio)).map_err(&refused)
            })?;
            writer.finish().map_err(&refused)
        })?;
        ImpactIndex::open(bytes)
    }

    /// The texts of a request that have a weight.
    fn texts<'a>(&self, request: &'a Request) -> Vec<WeightedText<'a>> {
        let Some(conversation) = &self.conversation else {
            return vec![WeightedText::new(Role::Opening, request.flatten(), 1.0)];
        };
        let mut texts = conversation.texts(request);
        texts.retain(WeightedText::counts);
        texts
    }

    /// The texts of requests with the weights of their words. A question that was answered "no" keeps
    /// only the words that the texts of the user lack.
    fn weigh<'a>(
        &self,
        encoder: &dyn SparseEncoder,
        requests: &'a [Request],
    ) -> Result<Vec<Vec<WeighedText<'a>>>> {
        let texts: Vec<Vec<WeightedText>> =
            requests.iter().map(|request| self.texts(request)).collect();
        let flat: Vec<&str> = texts.iter().flatten().map(|weighted| &*weighted.text).collect();
        let vectors = encoder.encode(&flat, &|_| {})?;
        let mut rows = vectors.rows();
        let mut weighed = Vec::with_capacity(requests.len());
        for texts in texts {
            let words = rows.by_ref().take(texts.len()).map(<[(u32, f32)]>::to_vec);
            let mut of_request: Vec<WeighedText> = texts.into_iter().zip(words).collect();
            let of_user = of_request.iter().filter(|(weighted, _)| !weighted.role.is_system());
            let user_words: HashSet<u32> =
                of_user.flat_map(|(_, words)| words).map(|(word, _)| *word).collect();
            for (weighted, words) in &mut of_request {
                if matches!(weighted.role, Role::Question { refused: true, .. }) {
                    words.retain(|(word, _)| !user_words.contains(word));
                }
            }
            weighed.push(of_request);
        }
        Ok(weighed)
    }

    fn rank(&self, index: &ImpactIndex, request: &Request, texts: &[WeighedText]) -> Ranking {
        let depth = request.depth(self.keys.depth.get());
        index.rank(&sum(texts), request.candidates.as_deref(), depth)
    }
}

/// The sum of the texts' weights of each word.
fn sum(texts: &[WeighedText]) -> Words {
    let mut sums: BTreeMap<u32, f32> = BTreeMap::new();
    for (weighted, words) in texts {
        for (word, weight) in words {
            *sums.entry(*word).or_default() += weighted.weight as f32 * weight;
        }
    }
    sums.into_iter().filter(|(_, weight)| *weight != 0.0).collect()
}

/// Vectors without weights below a share of the largest one; weights below 0 count by their size.
fn largest(vectors: &SparseVectors, ratio: f32) -> SparseVectors {
    let row = |row: &[(u32, f32)]| -> Words {
        let most = row.iter().map(|(_, weight)| weight.abs()).fold(0.0, f32::max);
        row.iter().copied().filter(|(_, weight)| weight.abs() >= ratio * most).collect()
    };
    vectors.rows().map(row).collect()
}

impl Stage for Sparse {
    fn about(&self) -> About {
        About { models: vec![self.model()], ..About::new("sparse", self) }
    }

    fn apply(&self, batch: &Batch, _: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let encoder = batch.context.models.sparse_encoder(&self.model())?;
        let index = self.index(batch.context, &*encoder)?;
        let texts = self.weigh(&*encoder, batch.requests)?;
        let rank = |(request, texts): (&Request, Vec<WeighedText>)| {
            let ranking = self.rank(&index, request, &texts);
            (batch.progress)(1);
            ranking
        };
        Ok(batch.requests.par_iter().zip(texts).map(rank).collect())
    }

    /// The words that request and document share, the largest products first.
    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let encoder = one.context.models.sparse_encoder(&self.model())?;
        let index = self.index(one.context, &*encoder)?;
        let texts = self.weigh(&*encoder, one.requests)?.pop().unwrap_or_default();
        let mut parts = Vec::new();
        for (weighted, words) in &texts {
            let impacts = index.weights(doc, words.iter().map(|(word, _)| *word));
            let mut products = Vec::new();
            for ((word, weight), impact) in
                words.iter().zip(impacts).filter(|(_, impact)| *impact != 0.0)
            {
                let what = format!("`{}` = request × document", encoder.word(*word));
                let factors = vec![
                    Explanation::value(f64::from(*weight), "weight in the request"),
                    Explanation::value(f64::from(impact), "weight in the document"),
                ];
                products.push(Explanation::of(f64::from(weight * impact), what, factors));
            }
            products.sort_by(|a, b| b.value.total_cmp(&a.value));
            if self.conversation.is_none() {
                let what = "sum over the words that request and document share";
                return Ok(Some(Explanation::sum(what, products)));
            }
            if !products.is_empty() {
                parts.push(explain(weighted, products));
            }
        }
        let what = "sum over the conversation, of the words that it shares with the document";
        Ok(Some(Explanation::sum(what, parts)))
    }
}
