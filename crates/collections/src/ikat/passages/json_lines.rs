//! A passage a line: `doc_id`, `passage_id`, `passage_text`, as the track releases them, or `id`,
//! `contents`, as Anserini indexes them. Further keys, such as `url`, are passed over.

use super::{Each, FORM, Lines, Passage};
use crate::json::{self, Node};
use clariq_core::{Error, Problem};

pub(super) fn read(lines: &mut Lines, each: Each) -> Result<(), Error> {
    let name = lines.archive.name().to_owned();
    loop {
        let number = lines.number + 1;
        let passage = match lines.next()? {
            None => return Ok(()),
            Some(Ok(line)) if line.trim().is_empty() => continue,
            Some(Ok(line)) => {
                json::parse_text(&name, number, line).and_then(|node| passage(&name, number, &node))
            }
            Some(Err(problem)) => Err(problem),
        };
        if each(passage.map_err(Error::Problem))?.is_break() {
            return Ok(());
        }
    }
}

fn passage(file: &str, line: u64, node: &Node) -> Result<Passage, Box<Problem>> {
    let (id, text) = if let Some(id) = node.get("id") {
        (text(file, id)?.to_owned(), field(file, node, "contents")?)
    } else {
        let page = text(file, field(file, node, "doc_id")?)?;
        let number = field(file, node, "passage_id")?;
        let number = match number.integer() {
            Some(number) => number.to_string(),
            None => text(file, number)?.to_owned(),
        };
        (format!("{page}:{number}"), field(file, node, "passage_text")?)
    };
    if id.is_empty() || id.contains(char::is_whitespace) {
        return Err(Box::new(node.unlike(file, "an id without blanks").hint(FORM.hint)));
    }
    Ok(Passage { id, text: self::text(file, text)?.trim().to_owned(), line })
}

fn field<'n, 'a>(file: &str, node: &'n Node<'a>, key: &str) -> Result<&'n Node<'a>, Box<Problem>> {
    node.get(key)
        .ok_or_else(|| Box::new(node.unlike(file, format!("a key `{key}`")).hint(FORM.hint)))
}

fn text<'n>(file: &str, node: &'n Node) -> Result<&'n str, Box<Problem>> {
    node.text().ok_or_else(|| Box::new(node.unlike(file, "a text").hint(FORM.hint)))
}
