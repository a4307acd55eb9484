//! Explanations of scores: the share of each text.

use super::search::DenseSearch;
use crate::stages::conversation::explain;
use clariq_core::{Doc, Explanation, Result, Role, WeightedText};

impl DenseSearch<'_> {
    /// Explains the score of a document for a request with these texts.
    pub(super) fn explain(&self, said: &[WeightedText], doc: Doc) -> Result<Explanation> {
        let mut parts = Vec::new();
        let mut nearest: Option<Explanation> = None;
        for said in said {
            let part = self.explain_text(said, doc)?;
            if said.role != Role::Nearest {
                parts.push(part);
            } else if nearest.as_ref().is_none_or(|best| part.value > best.value) {
                nearest = Some(part);
            }
        }
        parts.extend(nearest);
        let mut explained = Explanation::sum("sum over what was said, weight × similarity", parts);
        if let Some(least) = self.min_likeness {
            let of_user = said.iter().filter(|said| !said.role.is_system());
            let texts: Vec<&str> = of_user.map(|said| said.text.as_ref()).collect();
            let best = self.best_likeness(&texts)?;
            let what = format!(
                "similarity of what the user said to the nearest document, at least {least} needed"
            );
            explained.parts.push(Explanation::value(best.into(), what));
        }
        Ok(explained)
    }

    fn explain_text(&self, said: &WeightedText, doc: Doc) -> Result<Explanation> {
        let similarity = self.space.explain(self.models, &said.text, doc)?;
        let likeness = similarity.value;
        let mut explained = explain(said, similarity.parts);
        if let Some(same) = self.repeat
            && said.role.is_system()
            && likeness >= f64::from(same)
        {
            let what = format!("left out: from {same}, it is the same in other words");
            explained.parts.push(Explanation::value(likeness, what));
        }
        Ok(explained)
    }
}
