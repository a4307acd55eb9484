//! Objects that all stages of a run share: documents, indexes and spaces over them, models, and the
//! splits around the requests. Indexes and spaces are opened when a stage first needs them.

use crate::space::{Space, SpaceConfig};
use crate::tally::Tallies;
use clariq_core::{
    Doc, Documents, Models, NoModels, Observer, OnceMap, Result, Silent, Surroundings,
};
use clariq_index::{Analyzer, DocumentIndex, ImpactIndex};
use std::sync::{Arc, OnceLock};

type OpenIndex<'a> = dyn Fn(Analyzer, &dyn Documents) -> Result<DocumentIndex> + Sync + 'a;

/// Objects that all stages of a run share.
pub struct Context<'a> {
    /// All documents.
    pub documents: &'a dyn Documents,
    /// Opens models by name.
    pub models: &'a dyn Models,
    /// Receives the progress of stages.
    pub observer: &'a dyn Observer,
    /// Counts the answers of models that stages could not use as they are.
    pub tallies: Arc<Tallies>,
    /// The splits around the requests, if they belong to a split.
    pub surroundings: Option<Box<dyn Surroundings + 'a>>,
    open_index: Box<OpenIndex<'a>>,
    indexes: OnceMap<Analyzer, Arc<DocumentIndex>>,
    /// Spaces by their configurations, written as JSON.
    spaces: OnceMap<String, Arc<Space>>,
    impacts: OnceMap<String, Arc<ImpactIndex>>,
    with_text: OnceLock<Vec<Doc>>,
}

impl<'a> Context<'a> {
    /// A context without models or surroundings. `open_index` is called at most once per analyser.
    pub fn new(
        documents: &'a dyn Documents,
        open_index: impl Fn(Analyzer, &dyn Documents) -> Result<DocumentIndex> + Sync + 'a,
    ) -> Self {
        Self {
            documents,
            models: &NoModels,
            observer: &Silent,
            tallies: Arc::default(),
            surroundings: None,
            open_index: Box::new(open_index),
            indexes: OnceMap::default(),
            spaces: OnceMap::default(),
            impacts: OnceMap::default(),
            with_text: OnceLock::new(),
        }
    }

    /// All documents with a text, in order.
    pub(crate) fn documents_with_text(&self) -> Result<&[Doc]> {
        if let Some(docs) = self.with_text.get() {
            return Ok(docs);
        }
        let mut docs = Vec::with_capacity(self.documents.len());
        for doc in Doc::all(self.documents.len()) {
            if !self.documents.text(doc)?.is_empty() {
                docs.push(doc);
            }
        }
        Ok(self.with_text.get_or_init(|| docs))
    }

    /// The index of the documents by this analyser.
    pub(crate) fn index(&self, analyzer: Analyzer) -> Result<Arc<DocumentIndex>> {
        let open = || Ok(Arc::new((self.open_index)(analyzer, self.documents)?));
        self.indexes.get_or_open(analyzer, open)
    }

    /// The index of weights of a key, opened once for all stages.
    pub(crate) fn impacts(
        &self,
        key: &str,
        open: impl FnOnce() -> Result<ImpactIndex>,
    ) -> Result<Arc<ImpactIndex>> {
        self.impacts.get_or_open(key.to_owned(), || Ok(Arc::new(open()?)))
    }

    /// The space that a configuration describes, computed once for all stages.
    pub(crate) fn space(&self, config: &SpaceConfig) -> Result<Arc<Space>> {
        let key = serde_json::to_string(config).expect("plain data");
        let open = || Ok(Arc::new(Space::open(config, self.documents, self.models)?));
        self.spaces.get_or_open(key, open)
    }
}
