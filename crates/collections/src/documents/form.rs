//! The names of the keys and columns of documents: the usual ones, or those that a person has given.

use crate::DataDir;
use crate::text_or_number::texts;
use clariq_core::{Error, Problem, problem};
use clariq_files::columns::{Role, TextColumns};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source, quoted};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The file in a data folder that names the keys or columns of its documents.
pub(crate) const NAMES_FILE: &str = "collection.toml";

/// How to name the keys or columns of documents whose usual names do not tell them.
pub(crate) const NAMES_HINT: &str = "`collection.toml` in the data folder says which columns or keys are the id and \
                                     the text: [documents] id = \"sku\", text = [\"title\", \"body\"]; files of \
                                     anything else lie elsewhere (reference, Formats)";

/// How the documents of a collection are read.
#[derive(Debug, Default)]
pub struct DocumentForm {
    named: Option<NamedKeys>,
    /// The folder whose texts are documents, named by their paths below it.
    pub(crate) texts_in: Option<PathBuf>,
    /// The keys or columns of the first documents with any.
    seen: OnceLock<(String, Vec<String>)>,
}

/// The keys or columns that a person has named.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamedKeys {
    /// The column of the id.
    pub(super) id: String,
    /// The columns whose texts, with blanks between them, are the text.
    #[serde(deserialize_with = "texts")]
    pub(super) text: Vec<String>,
}

/// `collection.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamesFile {
    documents: NamedKeys,
}

impl DocumentForm {
    /// The form of the documents in a data folder, which may have a file that names their keys.
    pub(crate) fn of(data: &DataDir) -> Result<Self, Error> {
        let Some(file) = data.file(NAMES_FILE) else { return Ok(Self::default()) };
        let input = file.read_at_most(MOST_OF_A_CONFIGURATION)?;
        let text = String::from_utf8_lossy(&input.bytes);
        let read: Result<NamesFile, toml::de::Error> = toml::from_str(&text);
        let named = read.map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let before = text.get(..start).unwrap_or_default();
            let line = 1 + before.matches('\n').count() as u64;
            let expected = "a table [documents] with the keys `id` and `text`";
            Problem::of_serde((&*input.name, line), error.message(), expected).hint(NAMES_HINT)
        })?;
        if named.documents.text.is_empty() {
            let problem = problem!(&*input.name, "a key with a text in `text`", "none", NAMES_HINT);
            return Err(problem.into());
        }
        Ok(Self { named: Some(named.documents), ..Self::default() })
    }

    pub(super) fn named(&self) -> Option<&NamedKeys> {
        self.named.as_ref()
    }

    /// Remembers the keys or columns of the first document that has any.
    pub(super) fn note(&self, id: &str, texts: &[&str]) {
        self.seen.get_or_init(|| (id.to_owned(), texts.iter().map(|&it| it.to_owned()).collect()));
    }

    fn note_columns<S: AsRef<str>>(&self, columns: &TextColumns, header: &[S]) {
        let (id, texts) = columns.names(header);
        self.note(&id, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// The keys or columns that the id and the text are read from, once documents were read.
    pub(crate) fn described(&self) -> Option<String> {
        let (id, texts) = self.seen.get()?;
        let texts: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
        Some(format!("id from `{id}`, text from {}", texts.join(", ")))
    }

    /// The columns of a table by its header; `None` if the fields are no header.
    pub(crate) fn columns<S: AsRef<str>>(
        &self,
        at: (&str, u64),
        fields: &[S],
    ) -> Result<Option<TextColumns>, Box<Problem>> {
        let columns = match &self.named {
            None => match TextColumns::named(fields, Role::DocumentId).transpose() {
                Ok(columns) => columns,
                Err([one, other]) => {
                    let found = format!("`{one}` and `{other}`");
                    let expected = "one column with an id, and one with a text";
                    return Err(Box::new(problem!(at, expected, found, NAMES_HINT)));
                }
            },
            Some(named) => {
                let given = TextColumns::given(fields, &named.id, &named.text);
                Some(given.map_err(|missing| {
                    let names: Vec<&str> = fields.iter().map(AsRef::as_ref).collect();
                    let expected = format!("a column `{missing}`, which `{NAMES_FILE}` names");
                    Box::new(problem!(at, expected, (quoted(&names.join("`, `")))))
                })?)
            }
        };
        if let Some(columns) = &columns {
            self.note_columns(columns, fields);
        }
        Ok(columns)
    }

    /// Everything that determines documents, beside the content of their files.
    pub(super) fn key(&self, files: &[Source]) -> String {
        let mut key = self.named.as_ref().map_or_else(String::new, |named| format!("{named:?}"));
        if self.texts_in.is_some() {
            key.extend(files.iter().flat_map(|file| [file.name(), "\n".to_owned()]));
        }
        key
    }

    /// The id of a document that is a file: its path below the folder of texts. What no id may contain is
    /// written as in an address.
    pub(super) fn id_of_file(&self, path: &Path) -> Option<String> {
        let below = path.strip_prefix(self.texts_in.as_ref()?).ok()?;
        let mut id = String::new();
        for c in below.to_str()?.chars() {
            if c == '%' || c.is_whitespace() || c.is_control() {
                let mut bytes = [0; 4];
                id.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
            } else {
                id.push(c);
            }
        }
        Some(id)
    }
}
