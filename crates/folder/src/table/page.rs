//! The page of the documentation that is made of the table.

use super::{
    CONFIG, DENSE, FILES, FileUse, GEMMA3, Keys, LATE, LAYER_NORM, LOGIT_SCORE, LOOKUP, MODERNBERT,
    MODULE_LIST, MULTI_VECTOR_MASK, NORMALIZE, POOLING, QWEN3, ROUTER, SENTENCE, SPLADE,
    STATIC_EMBEDDING, TEXT_GENERATOR, TOKENIZER, TRANSFORMER,
};
use std::fmt::Write as _;

/// Every file whose keys are in the table.
pub(super) const KEYS: [&Keys; 20] = [
    &CONFIG,
    &MODERNBERT,
    &QWEN3,
    &GEMMA3,
    &TEXT_GENERATOR,
    &TOKENIZER,
    &SENTENCE,
    &MODULE_LIST,
    &TRANSFORMER,
    &POOLING,
    &DENSE,
    &LAYER_NORM,
    &NORMALIZE,
    &LOGIT_SCORE,
    &SPLADE,
    &LOOKUP,
    &ROUTER,
    &STATIC_EMBEDDING,
    &LATE,
    &MULTI_VECTOR_MASK,
];

const BEGINNING: &str = "# Files of a model

What is done with every file and key of a model's folder that transformers 5.24, sentence-transformers 6.2
and peft 0.21 read. This page is made from the table that the loaders consult.

* *done*: it counts as in the library.
* *without effect*: it changes no vector and no score here.
* *refused*: unless it has one of the values that are named, the folder is refused by this name.

A key that is in none of these lists, such as a later release may write, is passed over, and a note names
it. Files that none of the three libraries reads are passed over.
";

/// The page, in Markdown.
pub fn page() -> String {
    let mut page = format!("{BEGINNING}\n## Files\n\n| file | read by | here |\n|---|---|---|\n");
    for file in FILES {
        let here = match file.is {
            FileUse::Done => "done".to_owned(),
            FileUse::WithoutEffect => "without effect".to_owned(),
            FileUse::OtherWeights(..) => {
                "without effect beside `model.safetensors`, refused without it".to_owned()
            }
            FileUse::Refused(what, _) => format!("refused: {what}"),
        };
        let _ = writeln!(page, "| `{}` | {} | {here} |", file.name, file.reader);
    }
    for keys in KEYS {
        let _ = writeln!(page, "\n## {}\n", keys.file);
        let lists: [(&str, Vec<&str>); 2] =
            [("done", keys.done().collect()), ("without effect", keys.without_effect().collect())];
        for (title, mut names) in lists {
            names.sort_unstable();
            if !names.is_empty() {
                let _ = writeln!(page, "* *{title}*: `{}`", names.join("`, `"));
            }
        }
        for (key, usual, hint) in keys.refused() {
            let _ = writeln!(page, "* *refused* `{key}`, unless `{}`: {hint}", usual.join("`, `"));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_documentation_is_that_of_the_table() {
        let at = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/model-files.md");
        if std::env::var_os("SNAPSHOTS").is_some_and(|mode| mode == "overwrite") {
            std::fs::write(at, page()).unwrap();
        }
        let shown = clariq_core::read_regular(at.as_ref(), 1 << 20).unwrap();
        assert!(shown == page().as_bytes(), "SNAPSHOTS=overwrite writes {at}");
    }
}
