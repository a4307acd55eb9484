//! Notes about the folder of a model when it is opened.

use clariq_core::{ModelKind, Pooling, ReadingOverrides, Result};
use clariq_folder::{FolderPrompts, unknown_keys, usual_pooling};
use std::path::Path;

/// The text after the name of a model in notes: how it is read where the folder does not say it
/// or says more than is read.
pub(super) fn of_folder(
    folder: &Path,
    kind: ModelKind,
    reading: &ReadingOverrides,
) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let has_pooling = reading.pooling.is_some() || folder.join("modules.json").is_file();
    if kind == ModelKind::Encoder && !has_pooling && !clariq_folder::is_static(folder) {
        let vector = match usual_pooling(folder)? {
            Pooling::LastToken => "that of its last token",
            _ => "the mean of its tokens' vectors",
        };
        notes.push(format!(
            "has no modules.json: a text's vector is {vector}, as in sentence-transformers"
        ));
    }
    let unknown = unknown_keys(folder)?;
    if !unknown.is_empty() {
        let unknown = unknown.join("`, `");
        notes.push(format!("has settings that clariq does not know, and passes over: `{unknown}`"));
    }
    if matches!(kind, ModelKind::Encoder | ModelKind::Sparse) {
        notes.extend(prompts(&FolderPrompts::read(folder)?, reading));
    }
    Ok(notes)
}

/// The prompts in force, where the folder or the system has some.
fn prompts(own: &FolderPrompts, reading: &ReadingOverrides) -> Option<String> {
    let query = reading.query_prompt.as_ref().unwrap_or(&own.query);
    let document = reading.document_prompt.as_ref().unwrap_or(&own.document);
    let unused = own.unused.join("`, `");
    if query.is_empty() && document.is_empty() && unused.is_empty() {
        return None;
    }
    let of = |prompt: &str, texts: &str| match prompt {
        "" => format!("no prompt before {texts}"),
        prompt => format!("`{prompt}` before {texts}"),
    };
    let mut note = format!("puts {} and {}", of(query, "requests"), of(document, "documents"));
    if !unused.is_empty() {
        let others = "`query_prompt` and `document_prompt` set others";
        let neither = "is for neither, as in sentence-transformers 6";
        note = format!("{note}; its prompt `{unused}` {neither}: {others}");
    }
    Some(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_told_with_those_of_the_system() {
        let of = |text: &str| text.to_owned();
        let own = FolderPrompts { query: of("q: "), document: of(""), unused: vec![of("passage")] };
        let reading =
            ReadingOverrides { document_prompt: Some(of("d: ")), ..ReadingOverrides::default() };
        let told = [ReadingOverrides::default(), reading].map(|reading| prompts(&own, &reading));
        assert_eq!(
            told.map(|note| note.unwrap().split(';').next().unwrap().to_owned()),
            [
                "puts `q: ` before requests and no prompt before documents",
                "puts `q: ` before requests and `d: ` before documents"
            ]
        );
        assert_eq!(prompts(&FolderPrompts::default(), &ReadingOverrides::default()), None);
    }
}
