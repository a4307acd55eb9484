//! The splits around one split: what was judged before it, and which requests there are.

use crate::clariq::bank::NO_QUESTION;
use crate::clariq::collection::{Collection, Split};
use clariq_core::{Error, Judged, Surroundings};
use std::sync::OnceLock;

/// A split and the splits around it, each read when it is first asked for.
pub struct Around<'a> {
    collection: &'a Collection,
    split: Split,
    judged: OnceLock<Vec<Judged>>,
    own: OnceLock<Vec<String>>,
    all: OnceLock<Vec<String>>,
}

impl<'a> Around<'a> {
    /// The splits around `split`. Nothing is read yet.
    pub fn new(collection: &'a Collection, split: Split) -> Self {
        let (judged, own, all) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { collection, split, judged, own, all }
    }

    fn judged(&self, split: Split) -> Result<Judged, Error> {
        let bank = &self.collection.bank;
        let labelled = self.collection.labelled(split)?;
        let asked = labelled.rows.iter().filter(|row| row.question.as_str() != NO_QUESTION);
        let relevant = asked.filter_map(|row| {
            Some((bank.find(row.question.as_str())?, labelled.facets[row.facet].topic))
        });
        Ok(Judged {
            relevant: relevant.collect(),
            requests: labelled.topics.into_iter().map(|topic| topic.request).collect(),
            source: labelled.name,
        })
    }

    fn requests(&self, split: Split) -> Result<Vec<String>, Error> {
        let topics = self.collection.split(split)?.topics;
        Ok(topics.into_iter().map(|topic| topic.request).collect())
    }
}

impl Surroundings for Around<'_> {
    fn judged_before(&self) -> Result<&[Judged], Error> {
        read_once(&self.judged, || {
            let before = Split::ALL.into_iter().take_while(|&before| before != self.split);
            let judged = before.filter(|&before| self.collection.has(before, true));
            judged.map(|before| self.judged(before)).collect()
        })
    }

    fn own_requests(&self) -> Result<&[String], Error> {
        read_once(&self.own, || self.requests(self.split))
    }

    fn all_requests(&self) -> Result<&[String], Error> {
        read_once(&self.all, || {
            let mut all: Vec<String> = Vec::new();
            for split in Split::ALL {
                if self.collection.has(split, false) {
                    let new = self.requests(split)?;
                    for request in new {
                        if !all.contains(&request) {
                            all.push(request);
                        }
                    }
                }
            }
            Ok(all)
        })
    }
}

/// The value of a cell, made when it is first asked for.
fn read_once<T>(
    cell: &OnceLock<Vec<T>>,
    make: impl FnOnce() -> Result<Vec<T>, Error>,
) -> Result<&[T], Error> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = make()?;
    Ok(cell.get_or_init(|| value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clariq::DataDir;

    #[test]
    fn what_was_judged_before_is_that_of_earlier_splits() {
        let collection = Collection::open(DataDir::Sample).unwrap();
        let sources = |split| {
            let around = Around::new(&collection, split);
            let judged = around.judged_before().unwrap();
            assert!(judged.iter().all(|judged| !judged.relevant.is_empty()));
            judged.iter().map(|judged| judged.source.clone()).collect::<Vec<_>>()
        };
        assert!(sources(Split::Train).is_empty());
        assert_eq!(sources(Split::Dev), ["<sample>/train.tsv"]);
        assert_eq!(sources(Split::Test), ["<sample>/train.tsv", "<sample>/dev.tsv"]);
    }

    #[test]
    fn requests_come_once_whatever_the_split() {
        let collection = Collection::open(DataDir::Sample).unwrap();
        let around = Around::new(&collection, Split::Dev);
        let (own, all) = (around.own_requests().unwrap(), around.all_requests().unwrap());
        assert!(own.iter().all(|request| all.contains(request)));
        assert!((1..all.len()).all(|index| !all[..index].contains(&all[index])));
    }
}
