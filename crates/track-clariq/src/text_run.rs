//! Multi-turn run files: `<context_id> 0 "<question text>" <rank> <score> <run_id>`.
//!
//! The official scorer reads them as CSV with spaces (a quote inside a text is doubled) and finds
//! the text in the question bank. An empty text is the empty question.

use clariq_collections::documents::Bank;
use clariq_core::{Documents as _, Error, Problem, ProblemKind, count_of, problem};
use clariq_files::records::Records;
use clariq_files::{
    FileContent, MOST_OF_A_RUN, Run, RunLine, Sink, Source, not_utf8, read_strictly,
};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{self, Write};

const FORM: &str = "<context_id> 0 \"<question text>\" <rank> <score> <run_id>";

/// The id of texts that are not in the bank. No table has a candidate of this id.
pub(super) const NOT_IN_THE_BANK: &str = "<not in the bank>";

/// True for a multi-turn run: its third fields are texts of questions, in quotes, and never an id of the
/// bank. A run of ids may have quotes, too.
pub(crate) fn is_text_run(input: &FileContent, bank: &Bank) -> bool {
    if !input.bytes.contains(&b'"') {
        return false;
    }
    let texts: HashSet<&[u8]> = bank.rows().iter().map(|row| row.text.as_bytes()).collect();
    let mut has_texts = false;
    let mut records = Records::new(input, b' ');
    while let Some((_, record)) = records.next() {
        let Ok(fields) = record else { continue };
        let [_, _, third, ..] = fields[..] else { continue };
        let is_text = texts.contains(third);
        if !is_text && str::from_utf8(third).is_ok_and(|id| bank.find(id).is_some()) {
            return false;
        }
        has_texts |= is_text || third.contains(&b' ');
    }
    has_texts
}

/// Refuses a multi-turn run where a run of the bank's ids is wanted.
pub(crate) fn refuse_text_run(input: &FileContent, bank: &Bank) -> Result<(), Problem> {
    if !is_text_run(input, bank) {
        return Ok(());
    }
    let hint = "`clariq eval --task document_relevance --multi-turn` scores it, and so does `clariq \
                eval --conversations FILE` with the conversations that it was made for";
    Err(problem!(&*input.name, "a run with ids of questions", "a multi-turn run, with texts", hint))
}

/// Reads a multi-turn run and puts the ids of `bank` in place of the texts; the first problem is
/// the error.
pub fn read_text_run(source: &Source, bank: &Bank) -> Result<Run, Error> {
    read_strictly(source, MOST_OF_A_RUN, |input, sink| parse_text_run(input, bank, sink))
}

/// Reads the valid lines of a multi-turn run. Every problem goes to `sink`, and its line is left out.
pub fn parse_text_run(input: &FileContent, bank: &Bank, sink: Sink) -> Run {
    // Of two questions with the same text, the last counts, as in a Python dictionary.
    let ids: HashMap<&str, &str> =
        bank.rows().iter().map(|row| (row.text.as_str(), row.id.as_str())).collect();
    let mut run = Run { name: input.name.clone(), ..Run::default() };
    let mut records = Records::new(input, b' ');
    let mut is_empty = true;
    while let Some((at, record)) = records.next() {
        is_empty = false;
        match record.and_then(|fields| parse_line(&fields, at, &ids)) {
            Ok(line) => run.lines.push(line),
            Err(problem) => sink(*problem),
        }
    }
    if is_empty {
        let hint = "was the run that wrote it interrupted?";
        let problem = problem!((&*input.name, 1), "lines of the form `{FORM}`", "nothing", hint);
        sink(problem.kind(ProblemKind::Empty));
    }
    run
}

/// Writes one line. A text is written in double quotes, and a quote inside it is doubled, as pandas
/// reads it.
pub fn put_text_run_line(
    out: &mut dyn Write,
    context: impl fmt::Display,
    text: &str,
    rank: usize,
    score: f64,
    tag: &str,
) -> io::Result<()> {
    let text = text.replace('"', "\"\"");
    writeln!(out, "{context} 0 \"{text}\" {rank} {score} {tag}")
}

fn parse_line(
    record: &[&[u8]],
    at: (&str, u64),
    ids: &HashMap<&str, &str>,
) -> Result<RunLine, Box<Problem>> {
    let mut fields = Vec::with_capacity(record.len());
    for bytes in record {
        fields.push(std::str::from_utf8(bytes).map_err(|_| Box::new(not_utf8(at, "line", bytes)))?);
    }
    let [topic, _, text, _, score, _] = fields[..] else {
        let found = count_of(fields.len(), "field");
        let hint = "the text is in double quotes, and a quote inside it is doubled";
        return Err(Box::new(problem!(at, "6 fields, `{FORM}`", found, hint)));
    };
    let Some(score) = score.parse().ok().filter(|score: &f64| score.is_finite()) else {
        let expected = "a finite score in the fifth field";
        let hint = "write scores as 12.5 or 1.25e1";
        return Err(Box::new(problem!(at, expected, "`{score}`", hint)));
    };
    let document = ids.get(text).copied().unwrap_or(NOT_IN_THE_BANK).into();
    Ok(RunLine { topic: topic.into(), document, score, line: at.1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::documents::BankRow;

    fn read(text: &str) -> Result<Vec<String>, Error> {
        let row = |id: &str, text: &str| BankRow { id: id.into(), text: text.to_owned() };
        let bank = Bank::new(
            vec![row("Q00001", ""), row("Q2", "which one"), row("Q3", "a \"b\" c")],
            crate::NO_QUESTION,
        );
        let run = read_text_run(&Source::memory("m.run", text.as_bytes()), &bank)?;
        Ok(run.lines.iter().map(|line| line.document.to_string()).collect())
    }

    #[test]
    fn texts_become_ids() {
        let text = "968 0 \"which one\" 0 5 t\r\n969 0 \"\" 0 4 t\n970 0 \"a \"\"b\"\" c\" 0 1e1 t\n971 0 \"no\" 0 1 t\n";
        assert_eq!(read(text).unwrap(), ["Q2", "Q00001", "Q3", NOT_IN_THE_BANK]);
        let mut out = Vec::new();
        put_text_run_line(&mut out, 970, "a \"b\" c", 0, 10.0, "t").unwrap();
        assert_eq!(out, b"970 0 \"a \"\"b\"\" c\" 0 10 t\n");
    }

    #[test]
    fn bad_lines_are_named() {
        for text in [
            "968 0 \"which one\" 0 5 t\n969 0 which one 0 4 t x\n",
            "968 0 \"\" 0 5 t\n969 0 \"\" 0 x t\n",
        ] {
            let Err(Error::Problem(problem)) = read(text) else { panic!("{text}") };
            assert_eq!(problem.at.line, Some(2));
        }
        assert!(read("").is_err());
        let Err(Error::Problem(problem)) =
            read("968 0 \"which one\" 0 5 t\n969 0 \"which one 0 4 t\n")
        else {
            panic!("the rest of the file is no question")
        };
        assert_eq!(problem.at.line, Some(2));
    }
}
