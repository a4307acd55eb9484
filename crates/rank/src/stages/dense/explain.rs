//! Explanations of scores: the share of each text.

use super::search::DenseSearch;
use crate::stages::conversation::explain;
use clariq_core::{Doc, Explanation, Result, Role, WeightedText};

impl DenseSearch<'_> {
    /// Explains the score of a document for a request with these texts.
    pub(super) fn explain(&self, texts: &[WeightedText], doc: Doc) -> Result<Explanation> {
        let mut parts = Vec::new();
        let mut nearest: Option<Explanation> = None;
        for weighted in texts {
            let part = self.explain_text(weighted, doc)?;
            if weighted.role != Role::Nearest {
                parts.push(part);
            } else if nearest.as_ref().is_none_or(|best| part.value > best.value) {
                nearest = Some(part);
            }
        }
        parts.extend(nearest);
        let mut explained =
            Explanation::sum("sum over the conversation, weight × similarity", parts);
        if let Some(least) = self.min_likeness {
            let of_user = texts.iter().filter(|weighted| !weighted.role.is_system());
            let texts: Vec<&str> = of_user.map(|weighted| weighted.text.as_ref()).collect();
            let best = self.best_likeness(&texts)?;
            let what = format!(
                "similarity of the user's texts to the nearest document, at least {least} needed"
            );
            explained.parts.push(Explanation::value(best.into(), what));
        }
        Ok(explained)
    }

    fn explain_text(&self, weighted: &WeightedText, doc: Doc) -> Result<Explanation> {
        let similarity = self.space.explain(self.models, &weighted.text, doc)?;
        let likeness = similarity.value;
        let mut explained = explain(weighted, similarity.parts);
        if let Some(same) = self.repeat
            && weighted.role.is_system()
            && likeness >= f64::from(same)
        {
            let what =
                format!("left out: with a similarity of at least {same}, it repeats this text");
            explained.parts.push(Explanation::value(likeness, what));
        }
        Ok(explained)
    }
}
