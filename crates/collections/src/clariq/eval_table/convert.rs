//! Conversion of evaluation tables to other formats, and back.

use super::{Builder, ContextId, EvalTable, FORM as TABLE, Scores};
use clariq_core::{Error, Location, Problem};
use clariq_files::archive::Archive;
use clariq_files::{BoundedLines, Source, Target};
use clariq_pickle::PickleWriter;
use compact_str::CompactString;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::io::{self, BufReader, Read, Write};

const FORM: &str =
    r#"{"metric": …, "context": …, "values": {question: {"no_answer": …, "with_answer": …}}}"#;

/// A longer line holds more questions than any context has candidates.
const LONGEST: u64 = 16 << 20;

impl EvalTable {
    /// Writes one JSON object per context of each metric, in file order: `{"metric": …, "context":
    /// …, "values": {question: {"no_answer": x, "with_answer": y}}}`. Figures are written so that
    /// they are read back to the last bit. A metric without contexts has one line, whose context is
    /// `null`.
    pub fn write_jsonl(&self, target: &Target) -> Result<(), Error> {
        target.write(|out| self.put_jsonl(out))
    }

    /// The same lines, to anything that can be written to.
    pub fn put_jsonl(&self, out: &mut dyn Write) -> io::Result<()> {
        for part in self.parts() {
            if part.is_empty() {
                write_line(out, part.name(), None, std::iter::empty())?;
            }
            for entry in (0..part.len()).map(|place| part.entry(place)) {
                write_line(out, part.name(), Some(&entry.context), entry.questions())?;
            }
        }
        Ok(())
    }

    /// Reads what [`EvalTable::write_jsonl`] writes, line by line.
    pub fn read_jsonl(source: &Source) -> Result<Self, Error> {
        let archive = Archive::new(std::slice::from_ref(source), &TABLE)?;
        read_lines(&archive, archive.open()?)
    }

    /// Writes a pickle of plain floats, protocol 4, that Python and [`EvalTable::read`] read back.
    pub fn write_pickle(&self, target: &Target) -> Result<(), Error> {
        target.write(|out| self.put_pickle(out))
    }

    /// The same pickle, to anything that can be written to.
    pub fn put_pickle(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = PickleWriter::new(out)?;
        writer.dict(self.parts(), |writer, part| {
            writer.text(part.name())?;
            writer.dict((0..part.len()).map(|place| part.entry(place)), |writer, entry| {
                match &entry.context {
                    ContextId::Number(number) => writer.int(*number)?,
                    ContextId::Facet(facet) => writer.text(facet.as_str())?,
                }
                writer.dict(entry.questions(), write_question)
            })
        })?;
        writer.finish().map(drop)
    }
}

fn read_lines(archive: &Archive, content: impl Read) -> Result<EvalTable, Error> {
    let mut lines = BoundedLines::new(archive.name(), BufReader::new(content), LONGEST);
    let mut builder = Builder::default();
    while let Some((number, line)) = lines.next_bytes()? {
        add_line(&mut builder, line.trim_ascii())
            .map_err(|found| wrong(Location::line(archive.name(), number), found))?;
    }
    builder.finish().map_err(|found| wrong(Location::file(archive.name()), found))
}

fn write_question<W: Write>(
    writer: &mut PickleWriter<W>,
    (id, scores): (&str, Scores),
) -> io::Result<()> {
    writer.text(id)?;
    let named = [("no_answer", scores.no_answer), ("with_answer", scores.with_answer)];
    let present = named.into_iter().filter_map(|(name, score)| Some((name, score?)));
    writer.dict(present, |writer, (name, score)| {
        writer.text(name)?;
        writer.float(score)
    })
}

fn write_line<'a>(
    out: &mut dyn Write,
    metric: &str,
    context: Option<&ContextId>,
    questions: impl Iterator<Item = (&'a str, Scores)>,
) -> io::Result<()> {
    let questions = questions.map(|(id, scores)| (id, scores.into())).collect();
    serde_json::to_writer(
        &mut *out,
        &Line { metric: metric.into(), context: context.cloned(), values: Values(questions) },
    )?;
    out.write_all(b"\n")
}

fn add_line(builder: &mut Builder, line: &[u8]) -> Result<(), String> {
    if line.is_empty() {
        return Ok(());
    }
    let line: Line<CompactString> = serde_json::from_slice(line).map_err(|error| {
        let (expected, found) = ("a line of a table", error.to_string());
        format!("{found}, in place of {expected}")
    })?;
    match &line.context {
        None => builder.add_metric(&line.metric),
        Some(context) => {
            let questions =
                line.values.0.iter().map(|(id, scores)| (id.as_str(), Scores::from(*scores)));
            builder.add(&line.metric, context, questions)?;
        }
    }
    Ok(())
}

fn wrong(at: Location, found: String) -> Error {
    Problem::new(at, TABLE.kind, format!("a line of the form {FORM}"), found)
        .hint("write the lines anew from the pickle")
        .into()
}

#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
struct Line<S: Serialize> {
    metric: CompactString,
    context: Option<ContextId>,
    values: Values<S>,
}

/// A JSON object in its own order.
struct Values<S>(Vec<(S, Figures)>);

impl<S: Serialize> Serialize for Values<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(id, figures)| map.serialize_entry(id, figures))?;
        map.end()
    }
}

impl<'de, S: Deserialize<'de>> Deserialize<'de> for Values<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<S>(std::marker::PhantomData<S>);
        impl<'de, S: Deserialize<'de>> Visitor<'de> for Pairs<S> {
            type Value = Values<S>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object of questions")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Values(pairs))
            }
        }
        deserializer.deserialize_map(Pairs(std::marker::PhantomData))
    }
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Figures {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    no_answer: Option<Figure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    with_answer: Option<Figure>,
}

impl From<Scores> for Figures {
    fn from(scores: Scores) -> Self {
        Self {
            no_answer: scores.no_answer.map(Figure::from),
            with_answer: scores.with_answer.map(Figure::from),
        }
    }
}

impl From<Figures> for Scores {
    fn from(figures: Figures) -> Self {
        Self {
            no_answer: figures.no_answer.map(f64::from),
            with_answer: figures.with_answer.map(f64::from),
        }
    }
}

/// A float, with names for those that JSON has no numbers for.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum Figure {
    Number(f64),
    Name(Name),
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Name {
    NaN,
    Infinity,
    #[serde(rename = "-Infinity")]
    MinusInfinity,
}

impl From<f64> for Figure {
    fn from(value: f64) -> Self {
        match value {
            value if value.is_nan() => Self::Name(Name::NaN),
            f64::INFINITY => Self::Name(Name::Infinity),
            f64::NEG_INFINITY => Self::Name(Name::MinusInfinity),
            value => Self::Number(value),
        }
    }
}

impl From<Figure> for f64 {
    fn from(figure: Figure) -> Self {
        match figure {
            Figure::Number(value) => value,
            Figure::Name(Name::NaN) => Self::NAN,
            Figure::Name(Name::Infinity) => Self::INFINITY,
            Figure::Name(Name::MinusInfinity) => Self::NEG_INFINITY,
        }
    }
}
