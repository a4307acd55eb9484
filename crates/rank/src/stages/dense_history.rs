//! Similarities of documents to the last utterance of a conversation and to what led to it.
//!
//! A document's score is a sum of similarities, which is its similarity to the sum of the vectors
//! but for the length of that sum: the same order for every request.

use crate::context::Context;
use crate::space::Space;
use crate::stages::history::check_weights;
use crate::stages::meaning::Meaning;
use crate::table::Table;
use clariq_core::Error;
use clariq_core::{
    Doc, Explanation, History, HistoryPart, HistoryWeights, ModelName, Progress, Ranking, Request,
    rank_by_score,
};
use ndarray::{Array2, ArrayView1};
use serde::{Deserialize, Serialize};

/// The last utterances of the user among which the nearest counts.
const NEAREST_OF: usize = 4;

/// What is added to the similarity to the last utterance, which counts 1.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DenseHistory {
    /// The last utterance behind what led to it: the utterance before, the last sentence of the
    /// response to that, and the utterance itself, as one text.
    #[serde(default)]
    context: f64,
    /// The nearest of the last four utterances of the user.
    #[serde(default)]
    nearest: f64,
    /// What the system said one turn ago.
    #[serde(default)]
    system: f64,
    /// What `system` is multiplied by for each turn that has come since; 0 looks at the last
    /// response alone.
    #[serde(default)]
    decay: f64,
    /// What a conversational encoder takes the last utterance to mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<Meaning>,
}

impl DenseHistory {
    /// Takes the key `history` out of a stage's table, if it is there.
    pub(super) fn take(table: &mut Table) -> Result<Option<Self>, Error> {
        let at = table.at("history");
        let Some(history) = table.take_table("history")? else { return Ok(None) };
        let history: Self = history.read()?;
        let meaning = history.meaning.as_ref().map_or(0.0, |meaning| meaning.weight);
        let Self { context, nearest, system, decay, .. } = history;
        check_weights(&[meaning, context, nearest, system, decay], at)?;
        Ok(Some(history))
    }

    /// The conversational encoder that it asks for.
    pub(super) fn models(&self) -> Option<ModelName> {
        self.meaning.as_ref().map(Meaning::model)
    }

    /// The texts whose similarities are summed.
    fn parts<'a>(&self, said: &History<'a>) -> Vec<HistoryPart<'a>> {
        let Self { context, system, decay, .. } = *self;
        said.parts(&HistoryWeights { context, system, decay })
    }

    /// The utterances of which the nearest counts.
    fn nearest_of<'a>(&self, said: &History<'a>) -> Vec<&'a str> {
        if self.nearest == 0.0 {
            return Vec::new();
        }
        let all = [said.now].into_iter().chain(said.user.iter().copied());
        all.take(NEAREST_OF).filter(|text| !text.trim().is_empty()).collect()
    }

    /// Ranks `docs` for each request.
    pub(super) fn rank(
        &self,
        context: &Context,
        space: &Space,
        requests: &[Request],
        docs: &[Doc],
        depth: usize,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let mut rankings = Vec::with_capacity(requests.len());
        let said: Vec<History> =
            requests.iter().map(|request| History::of(&request.said)).collect();
        let meant = self.meant(context, space, &said, docs)?;
        for (index, said) in said.iter().enumerate() {
            let mut scores = self.scores(context, space, said, docs)?;
            if let Some(meant) = &meant {
                add_weighted(&mut scores, meant.row(index), 1.0);
            }
            rankings.push(rank_by_score(docs, scores.into_iter(), depth));
            progress(1);
        }
        Ok(rankings)
    }

    /// What the meaning of each conversation adds to the score of each document.
    fn meant(
        &self,
        context: &Context,
        space: &Space,
        said: &[History],
        docs: &[Doc],
    ) -> Result<Option<Array2<f32>>, Error> {
        let meaning = self.meaning.as_ref();
        meaning.map(|meaning| meaning.score(context, space, said, docs)).transpose()
    }

    fn scores(
        &self,
        context: &Context,
        space: &Space,
        said: &History,
        docs: &[Doc],
    ) -> Result<Vec<f32>, Error> {
        let (parts, nearest) = (self.parts(said), self.nearest_of(said));
        let texts = parts.iter().map(|part| part.text.as_ref());
        let texts: Vec<&str> = texts.chain(nearest.iter().copied()).collect();
        let likeness = space.to_documents_each(context.documents, context.models, &texts, docs)?;
        let mut scores = vec![0.0_f32; docs.len()];
        for (part, row) in parts.iter().zip(likeness.rows()) {
            add_weighted(&mut scores, row, part.weight as f32);
        }
        for (column, score) in scores.iter_mut().enumerate().filter(|_| !nearest.is_empty()) {
            let rows = (parts.len()..texts.len()).map(|row| likeness[[row, column]]);
            *score += self.nearest as f32 * rows.fold(f32::NEG_INFINITY, f32::max);
        }
        Ok(scores)
    }

    /// Explains what each text adds: its weight times its similarity to the document.
    pub(super) fn explain(
        &self,
        context: &Context,
        space: &Space,
        request: &Request,
        doc: Doc,
    ) -> Result<Explanation, Error> {
        let said = History::of(&request.said);
        let mut explained = Vec::new();
        for HistoryPart { what, text, weight } in self.parts(&said) {
            let likeness = likeness(context, space, &text, doc)?;
            let what = format!("{what}: {weight:.3} × {likeness:.6} {text:?}");
            explained.push(Explanation::value(weight * likeness, what));
        }
        let mut nearest: Option<(f64, &str)> = None;
        for text in self.nearest_of(&said) {
            let likeness = likeness(context, space, text, doc)?;
            if nearest.is_none_or(|(best, _)| likeness > best) {
                nearest = Some((likeness, text));
            }
        }
        if let Some((likeness, text)) = nearest {
            let weight = self.nearest;
            let what = format!("nearest utterance: {weight:.3} × {likeness:.6} {text:?}");
            explained.push(Explanation::value(weight * likeness, what));
        }
        if let Some(meaning) = &self.meaning {
            explained.push(meaning.explain(context, space, &said, doc)?);
        }
        let score = explained.iter().map(|part| part.value).sum();
        Ok(Explanation::of(score, "sum over what was said, weight × similarity", explained))
    }
}

fn add_weighted(scores: &mut [f32], row: ArrayView1<f32>, weight: f32) {
    scores.iter_mut().zip(row).for_each(|(score, &like)| *score += weight * like);
}

fn likeness(context: &Context, space: &Space, text: &str, doc: Doc) -> Result<f64, Error> {
    let docs = [doc];
    let likeness = space.to_documents_each(context.documents, context.models, &[text], &docs)?;
    Ok(likeness[[0, 0]].into())
}
