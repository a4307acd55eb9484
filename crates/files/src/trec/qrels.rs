//! TREC qrels: `<topic or facet> 0 <document> <relevance>`.

use crate::lines::for_each_line;
use crate::output::Target;
use crate::source::{Input, MOST_OF_A_TABLE, Source};
use crate::table::{Sink, strictly};
use clariq_core::{Error, ProblemKind};
use compact_str::CompactString;
use std::io;

/// One line of a qrels file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The topic; in `ClariQ`'s own files a facet.
    pub topic: CompactString,
    /// The document; for question relevance a question.
    pub document: CompactString,
    /// Graded relevance; 0 and below is not relevant.
    pub relevance: i32,
}

/// Reads a qrels file in file order; the first problem is the error.
pub fn read_qrels(source: &Source) -> Result<Vec<Judgement>, Error> {
    let input = source.read_at_most(MOST_OF_A_TABLE)?;
    strictly(|sink| parse_qrels(&input, sink))
}

/// Reads what can be read of a qrels file: every problem goes to `sink`, and its line is left out.
pub fn parse_qrels(input: &Input, sink: Sink) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    for_each_line(input, "<topic> 0 <document> <relevance>", 0, sink, |line, sink| {
        match line.fields[3].parse() {
            Ok(relevance) => {
                judgements.push(Judgement {
                    topic: line.fields[0].into(),
                    document: line.fields[2].into(),
                    relevance,
                });
            }
            Err(_) => sink(
                line.problem(
                    ProblemKind::NotANumber,
                    "a whole number as relevance in the fourth field",
                )
                .hint("0 and below is not relevant, 1 and above is"),
            ),
        }
    });
    judgements
}

/// Writes judgements in the order given.
pub fn write_qrels<'a>(
    target: &Target,
    judgements: impl IntoIterator<Item = &'a Judgement>,
) -> Result<(), Error> {
    target.write(|out| put_judgements(out, judgements))
}

/// The same lines, to anything that can be written to.
pub fn put_judgements<'a>(
    out: &mut dyn io::Write,
    judgements: impl IntoIterator<Item = &'a Judgement>,
) -> io::Result<()> {
    judgements.into_iter().try_for_each(|Judgement { topic, document, relevance }| {
        writeln!(out, "{topic} 0 {document} {relevance}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.qrel.gz");
        let judgement = |document: &str, relevance| Judgement {
            topic: "F0010".into(),
            document: document.into(),
            relevance,
        };
        let judgements = vec![judgement("d1", 2), judgement("d2", -2)];
        write_qrels(&Target::new(&path), &judgements).unwrap();
        assert_eq!(read_qrels(&Source::new(&path)).unwrap(), judgements);
    }
}
