//! What do stages work on? The question bank, indexes over it and models, opened when a stage first asks, and the collection
//! around the requests for stages that look beyond them.

use crate::error::Error;
use crate::learned::{Models, NoModels};
use crate::space::{Space, SpaceConfig};
use clariq_collections::clariq::{Collection, Labelled, QuestionBank, Split, Topic};
use clariq_index::{Analyzer, BankIndex};
use std::sync::{Arc, Mutex, PoisonError};

type OpenIndex<'a> = dyn Fn(Analyzer, &QuestionBank) -> Result<BankIndex, Error> + Sync + 'a;

/// What all stages of a run share.
pub struct Context<'a> {
    /// All questions.
    pub bank: &'a QuestionBank,
    open_index: Box<OpenIndex<'a>>,
    indexes: Mutex<Vec<Arc<BankIndex>>>,
    spaces: Mutex<Vec<(SpaceConfig, Arc<Space>)>>,
    models: &'a dyn Models,
    around: Option<(&'a Collection, Split)>,
}

impl<'a> Context<'a> {
    /// `open_index` says where the index of an analyser is; it is called at most once per analyser.
    pub fn new(
        bank: &'a QuestionBank,
        open_index: impl Fn(Analyzer, &QuestionBank) -> Result<BankIndex, Error> + Sync + 'a,
    ) -> Self {
        let (indexes, spaces) = (Mutex::default(), Mutex::default());
        Self {
            bank,
            open_index: Box::new(open_index),
            indexes,
            spaces,
            models: &NoModels,
            around: None,
        }
    }

    /// The same with learned models.
    #[must_use]
    pub fn with_models(self, models: &'a dyn Models) -> Self {
        Self { models, ..self }
    }

    /// The same for requests of a split: its other requests, and what was judged in earlier splits, can be looked at.
    #[must_use]
    pub fn within(self, collection: &'a Collection, split: Split) -> Self {
        Self { around: Some((collection, split)), ..self }
    }

    /// Where models come from.
    pub fn models(&self) -> &'a dyn Models {
        self.models
    }

    /// The index whose tokens this analyser made.
    pub fn index(&self, analyzer: Analyzer) -> Result<Arc<BankIndex>, Error> {
        // A poisoned lock means that another thread panicked while opening; the list itself is whole.
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = indexes.iter().find(|index| index.analyzer() == analyzer) {
            return Ok(Arc::clone(index));
        }
        let index = Arc::new((self.open_index)(analyzer, self.bank)?);
        indexes.push(Arc::clone(&index));
        Ok(index)
    }

    /// The space that a configuration describes. The bank's side of it is made once, whichever stages ask.
    pub(crate) fn space(&self, config: &SpaceConfig) -> Result<Arc<Space>, Error> {
        let mut spaces = self.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, space)) = spaces.iter().find(|(known, _)| known == config) {
            return Ok(Arc::clone(space));
        }
        let space = Arc::new(config.open(self)?);
        spaces.push((config.clone(), Arc::clone(&space)));
        Ok(space)
    }

    /// The labelled splits that come before the one whose requests are answered: train for dev, train and dev for test.
    /// Nothing that was judged for a request itself is ever among them.
    pub fn judged_before(&self) -> Result<Vec<Labelled>, Error> {
        let Some((collection, split)) = self.around else { return Ok(Vec::new()) };
        let before = Split::ALL.into_iter().take_while(|&before| before != split);
        before
            .filter(|&before| collection.has(before, true))
            .map(|before| collection.labelled(before).map_err(Error::from))
            .collect()
    }

    /// The requests of all splits, without anything that was judged of them; each text once, in the order of the splits.
    pub fn all_requests(&self) -> Result<Vec<Topic>, Error> {
        let Some((collection, _)) = self.around else { return Ok(Vec::new()) };
        let mut all: Vec<Topic> = Vec::new();
        for split in Split::ALL.into_iter().filter(|&split| collection.has(split, false)) {
            for topic in collection.split(split)?.topics {
                if all.iter().all(|known| known.request != topic.request) {
                    all.push(Topic { need: None, description: String::new(), ..topic });
                }
            }
        }
        Ok(all)
    }
}
