//! `ClariQ` in the registry of collections.

use crate::collection::{ClariQ, QUESTIONS, RELEASE, SAMPLE};
use crate::conversation::Conversations;
use crate::evaluation::{Official, names};
use crate::splits;
use crate::{check, stats};
use clariq_collections::documents::Bank;
use clariq_collections::evaluation::Evaluation;
use clariq_collections::{
    AnnotatedFacet, Annotation, Collection, ConversationForm, Kind, NeedLabel, Requests, Split,
    Statistics, Task,
};
use clariq_core::{Documents, Error, JudgedQuestions, Request, TrainOn};
use clariq_files::{Qrels, Source};

/// `ClariQ`: a bank of questions, and the splits train, dev and test.
pub static KIND: Kind = Kind {
    name: "ClariQ",
    signs: &["question_bank.tsv"],
    tasks: &[QUESTIONS],
    usual: "data/clariq",
    splits: &splits::ALL,
    usual_split: splits::DEV,
    endings: &[],
    sample: Some(SAMPLE),
    is_in: |data| RELEASE.files().iter().any(|file| data.file(file.name).is_some()),
    files: |data| RELEASE.files().iter().filter_map(|file| data.file(file.name)).collect(),
    open: |data, _| Ok(Box::new(ClariQ::open(data.clone())?)),
    check: check::check,
    validate: super::validate::validate,
    rankings: |_| None,
    scores: names,
    released: Some(RELEASE),
};

/// The first digits of the checksums of the known banks, and their names.
const NAMED: [(&str, &str); 2] = [("2100c70232f6", "clariq"), ("575333ff3f8b", "sample")];

impl Collection for ClariQ {
    fn registered(&self) -> &'static Kind {
        &KIND
    }

    /// `clariq` for the released bank, `sample` for the bank of the sample, `bank-` and the first
    /// digits of the checksum for any other.
    fn label(&self) -> String {
        let checksum = self.bank.checksum().short();
        match NAMED.iter().find(|(known, _)| *known == checksum) {
            Some((_, name)) => (*name).to_owned(),
            None => format!("bank-{checksum}"),
        }
    }

    fn folder_name(&self) -> String {
        let label = self.label();
        let is_known = NAMED.iter().any(|(_, name)| *name == label);
        self.data.name().filter(|_| !is_known).unwrap_or(label)
    }

    fn location(&self) -> String {
        self.data.to_string()
    }

    fn has(&self, split: Split) -> bool {
        self.has(split, false)
    }

    fn documents(&self, _task: Task) -> Result<&dyn Documents, Error> {
        Ok(&self.bank)
    }

    fn source(&self, split: Split) -> Result<Source, Error> {
        self.requests_file(split)
    }

    fn requests(&self, split: Split, _task: Task) -> Result<Requests<'_>, Error> {
        let topics = self.split(split)?.topics;
        Ok(Box::new(topics.into_iter().map(|topic| Ok(Request::from(&topic)))))
    }

    fn qrels(&self, split: Split, _task: Task) -> Result<Option<Qrels>, Error> {
        Ok(self.split(split)?.labels.as_ref().map(Qrels::from))
    }

    fn own_evaluation(&self, split: Split) -> Result<Option<Box<dyn Evaluation + '_>>, Error> {
        Ok(Some(Box::new(Official::new(self, split))))
    }

    fn annotations(&self, split: Split) -> Result<Vec<Annotation>, Error> {
        let Some(labels) = self.split(split)?.labels else { return Ok(Vec::new()) };
        let mut annotations: Vec<Annotation> = labels
            .topics
            .iter()
            .map(|topic| Annotation {
                id: topic.id.to_string(),
                need: topic.need.map(|need| NeedLabel::Number(need.get().into())),
                ..Annotation::default()
            })
            .collect();
        for facet in &labels.facets {
            let id = facet.id.to_string();
            let text = facet.description.clone();
            annotations[facet.topic].facets.push(AnnotatedFacet { id, text });
        }
        Ok(annotations)
    }

    /// The labels belong to topics, which are the requests that open conversations.
    fn labelled_text(&self, request: &Request) -> String {
        request.opening().to_owned()
    }

    fn question_bank(&self) -> Option<&Bank> {
        Some(&self.bank)
    }

    fn training_rows(
        &self,
        train_on: TrainOn,
    ) -> Result<Option<(Vec<Request>, JudgedQuestions)>, Error> {
        let labelled = self.training_labels(train_on)?;
        let requests = labelled.topics.iter().map(Request::from).collect();
        Ok(Some((requests, labelled.judged_rows(&self.bank))))
    }

    fn conversation_form(&self) -> Option<Box<dyn ConversationForm + '_>> {
        Some(Box::new(Conversations(&self.bank)))
    }

    fn is_sample(&self) -> bool {
        self.data == SAMPLE
    }

    fn statistics(&self) -> Result<Statistics, Error> {
        stats::statistics(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_a_collection_like_any_other() {
        let sample: Box<dyn Collection> = (KIND.open)(&SAMPLE, None).unwrap();
        assert_eq!((sample.label().as_str(), sample.kind()), ("sample", "ClariQ"));
        assert_eq!(sample.find_split("dev").unwrap(), splits::DEV);
        let refused = sample.find_split("devel").unwrap_err();
        assert_eq!(refused.expected, "one of the splits train, dev, test");
        let dev = ClariQ::of(&*sample).unwrap().labelled(splits::DEV).unwrap();
        let requests: Vec<_> = sample.requests(splits::DEV, QUESTIONS).unwrap().collect();
        assert_eq!(requests.len(), dev.topics.len());
        let qrels = sample.qrels(splits::DEV, QUESTIONS).unwrap().unwrap();
        assert_eq!(qrels, Qrels::from(&dev));
    }
}
