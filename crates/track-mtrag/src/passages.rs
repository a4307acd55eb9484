//! The passages of the domains, each a collection of its own, and all of them as one.

use crate::domains::Domain;
use crate::folder::corpus;
use crate::tasks::{TaskContext, passage_text};
use clariq_collections::DataDir;
use clariq_collections::documents::{Bank, BankRow, LONGEST, Passage, is_id};
use clariq_collections::lines::ArchiveLines;
use clariq_core::{
    Checksum, Doc, Documents, Error, Problem, ProblemKind, TextKeeper, bail, parse_python_json,
    problem,
};
use clariq_files::archive::{Archive, ExpectedContent};
use clariq_files::{Source, shorten};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::sync::Arc;

static FORM: ExpectedContent = ExpectedContent {
    what: "passages as JSON lines",
    hint: "a line is {\"_id\": …, \"text\": …, \"title\": …}",
};

#[derive(Deserialize)]
struct PassageLine {
    #[serde(rename = "_id")]
    beir_id: Option<String>,
    id: Option<String>,
    text: String,
    title: Option<String>,
}

/// A passage, or the problem in its place.
type ReadPassage = Result<Passage, Box<Problem>>;

/// Calls `each` with every passage of a file.
pub(crate) fn for_each_passage(
    source: &Source,
    each: &mut dyn FnMut(ReadPassage) -> Result<(), Error>,
) -> Result<(), Error> {
    let archive = Archive::new(slice::from_ref(source), &FORM)?;
    archive.with_content(|content| {
        let mut lines = ArchiveLines::new(&archive, content, LONGEST);
        loop {
            let at = (archive.name(), lines.number() + 1);
            match lines.next("passage")? {
                None => return Ok(()),
                Some(Ok(line)) if line.trim().is_empty() => {}
                Some(Ok(line)) => each(parse(at, line))?,
                Some(Err(problem)) => each(Err(problem))?,
            }
        }
    })
}

fn parse(at: (&str, u64), line: &str) -> ReadPassage {
    let line: PassageLine = parse_python_json(at, line.as_bytes())
        .map_err(|problem| Box::new(problem.hint(FORM.hint)))?;
    let Some(id) = line.beir_id.or(line.id).filter(|id| is_id(id)) else {
        let expected = "an `_id` without blanks";
        return Err(Box::new(problem!(at, expected, "none", (FORM.hint))));
    };
    Ok(Passage { id, text: passage_text(line.title.as_deref(), &line.text), line: at.1 })
}

/// Reads the passages of a file. They are kept by `keeper` if they are too many for memory.
fn read(source: &Source, keeper: Option<&dyn TextKeeper>) -> Result<Arc<dyn Documents>, Error> {
    let size = match source {
        Source::Path(path) => std::fs::metadata(path).map_or(0, |found| found.len()),
        _ => 0,
    };
    if let Some(keeper) = keeper.filter(|keeper| keeper.takes(size)) {
        let checksum = Checksum::of(source.checksum()?.as_str().as_bytes());
        let kept = keeper.keep(&checksum, &|add| {
            for_each_passage(source, &mut |passage| {
                let passage = passage.map_err(Error::Problem)?;
                add(&passage.id, &passage.text)
            })
        })?;
        return Ok(Arc::from(kept));
    }
    let mut rows = BTreeMap::new();
    for_each_passage(source, &mut |passage| {
        let Passage { id, text, line } = passage.map_err(Error::Problem)?;
        if rows.get(&id).is_some_and(|first| *first != text) {
            let found = format!("`{}` with another text", shorten(&id));
            let at = (&*source.name(), line);
            bail!(at, "every passage with one text", found, (FORM.hint));
        }
        rows.insert(id, text);
        Ok(())
    })?;
    Ok(Arc::new(bank(rows)))
}

fn bank(rows: impl IntoIterator<Item = (String, String)>) -> Bank {
    let rows = rows.into_iter().map(|(id, text)| BankRow { id: id.as_str().into(), text });
    Bank::new(rows.collect(), "")
}

/// The passages of a domain.
pub(crate) struct DomainPassages {
    pub(crate) domain: Domain,
    pub(crate) documents: Arc<dyn Documents>,
    /// The number of its first passage among all.
    pub(crate) first: u32,
    /// True if they are those of references, in place of the collection.
    pub(crate) is_substitute: bool,
}

/// The passages of all domains.
///
/// A number is that of its domain's passage behind those of the domains before it: numbers ascend by
/// domain, and within a domain by id.
pub(crate) struct AllPassages {
    pub(crate) domains: Vec<DomainPassages>,
    checksum: Checksum,
}

impl AllPassages {
    /// Reads the collections of a folder. For a domain without one, the passages of its references
    /// stand in; if a passage has two texts there, the first counts.
    pub(crate) fn read(
        data: &DataDir,
        contexts: Vec<TaskContext>,
        keeper: Option<&dyn TextKeeper>,
    ) -> Result<Self, Error> {
        let mut substitutes: BTreeMap<Domain, BTreeMap<String, String>> = BTreeMap::new();
        for TaskContext { domain, id, text, .. } in contexts {
            substitutes.entry(domain).or_default().entry(id).or_insert(text);
        }
        let mut domains = Vec::new();
        let mut first = 0;
        for domain in Domain::ALL {
            let substitute = substitutes.remove(&domain);
            let (documents, is_substitute): (Arc<dyn Documents>, bool) =
                match (corpus(data, domain), substitute) {
                    (Some(file), _) => (read(&file, keeper)?, false),
                    (None, Some(rows)) => (Arc::new(bank(rows)), true),
                    (None, None) => continue,
                };
            let count = documents.len() as u32;
            domains.push(DomainPassages { domain, documents, first, is_substitute });
            first += count;
        }
        let sums = domains.iter().flat_map(|part| {
            [part.domain.name().as_bytes(), part.documents.checksum().as_str().as_bytes()]
        });
        let checksum = Checksum::of_pieces(sums);
        Ok(Self { domains, checksum })
    }

    /// The passages of a domain.
    pub(crate) fn of(&self, domain: Domain) -> Option<&DomainPassages> {
        self.domains.iter().find(|part| part.domain == domain)
    }

    /// The domains in which the passages of references stand in for a collection.
    pub(crate) fn substituted(&self, domains: impl Iterator<Item = Domain>) -> BTreeSet<Domain> {
        domains.filter(|it| self.of(*it).is_some_and(|part| part.is_substitute)).collect()
    }

    /// The domain of a passage, and its number there.
    #[allow(clippy::indexing_slicing, reason = "the first domain begins with document 0")]
    fn locate(&self, doc: Doc) -> (&dyn Documents, Doc) {
        let behind = self.domains.partition_point(|part| part.first <= doc.0);
        let part = &self.domains[behind - 1];
        (&*part.documents, Doc(doc.0 - part.first))
    }
}

impl Documents for AllPassages {
    fn len(&self) -> usize {
        self.domains.last().map_or(0, |last| last.first as usize + last.documents.len())
    }

    fn id(&self, doc: Doc) -> Cow<'_, str> {
        let (documents, doc) = self.locate(doc);
        documents.id(doc)
    }

    fn text(&self, doc: Doc) -> Result<Cow<'_, str>, Error> {
        let (documents, doc) = self.locate(doc);
        documents.text(doc)
    }

    /// The passage of the first domain that has this id.
    fn find(&self, id: &str) -> Option<Doc> {
        self.domains.iter().find_map(|part| Some(Doc(part.documents.find(id)?.0 + part.first)))
    }

    fn reading_order(&self) -> Vec<Doc> {
        let mut order = Vec::with_capacity(self.len());
        for part in &self.domains {
            let docs = part.documents.reading_order().into_iter();
            order.extend(docs.map(|doc| Doc(doc.0 + part.first)));
        }
        order
    }

    fn checksum(&self) -> &Checksum {
        &self.checksum
    }
}

/// The problem of a folder without passages.
pub(crate) fn no_passages(location: &str, what: &str) -> Problem {
    let hint = "corpora/passage_level of the repository has them, a zip file for each domain; --task \
                ranks for one that has passages";
    problem!(location, "passages of {what}", "only requests", hint).kind(ProblemKind::Empty)
}
