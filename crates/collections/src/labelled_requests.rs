//! Requests with the clarification needs that people gave them, which systems do not see.

use crate::{Collection, NeedLabel};
use clariq_core::{Error, Request, RequestId, SplitRole};
use std::collections::HashMap;
use std::fmt::Display;
use std::io;

/// A request with its clarification need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledRequest {
    pub id: RequestId,
    /// The text that was labelled.
    pub text: String,
    pub need: NeedLabel,
}

/// The labelled requests of some splits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelledRequests {
    /// The file of the first split, or the collection without one, for messages.
    pub name: String,
    /// In the order of the splits and of their files.
    pub requests: Vec<LabelledRequest>,
}

impl dyn Collection {
    /// The labelled requests of the splits with these roles that the folder has. A label that is a
    /// number in quotes is that number.
    pub fn labelled_requests(&self, roles: &[SplitRole]) -> Result<LabelledRequests, Error> {
        let mut labelled = LabelledRequests { name: self.location(), requests: Vec::new() };
        let splits = self.available_splits().filter(|split| roles.contains(&split.role()));
        for (place, split) in splits.enumerate() {
            if place == 0 {
                labelled.name = self.source(split)?.name();
            }
            let annotations = self.annotations(split)?;
            let needs = annotations.into_iter().filter_map(|it| Some((it.id, it.need?)));
            let needs: HashMap<String, NeedLabel> = needs.collect();
            if needs.is_empty() {
                continue;
            }
            for request in self.requests(split, self.tasks()[0])? {
                let request: Request = request?;
                if let Some(need) = needs.get(request.id.as_str()) {
                    let text = self.labelled_text(&request);
                    labelled.requests.push(LabelledRequest {
                        id: request.id,
                        text,
                        need: need.as_number(),
                    });
                }
            }
        }
        Ok(labelled)
    }
}

/// Writes a need file: one label per request, in the order given.
pub fn put_need_lines(
    out: &mut dyn io::Write,
    labels: impl IntoIterator<Item = (impl Display, impl Display)>,
) -> io::Result<()> {
    labels.into_iter().try_for_each(|(request, need)| writeln!(out, "{request} {need}"))
}

impl NeedLabel {
    /// The label as a number, if it is a name that reads as one.
    fn as_number(&self) -> Self {
        match self {
            Self::Name(name) => name.parse().map_or_else(|_| self.clone(), Self::Number),
            Self::Number(_) => self.clone(),
        }
    }
}
