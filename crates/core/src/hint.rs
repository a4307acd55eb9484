//! Hints: the next step after a problem.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// A text that says what to do, with the commands in it marked: the program that prints it puts the data
/// folder of its user behind those that read one.
///
/// ```
/// use clariq_core::Hint;
///
/// let hint = Hint::on_data("data check").and(" lists the files");
/// assert_eq!(hint, "`clariq data check` lists the files");
/// assert_eq!(hint.render(&["mine".to_owned()]), "`clariq data check --data mine` lists the files");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
// A box: results that are problems are passed on by value.
pub struct Hint(Option<Box<MarkedText>>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct MarkedText {
    text: String,
    /// The places in the text where data folders belong, in order.
    folders: Vec<(usize, FoldersTaken)>,
}

/// The data folders that a command takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FoldersTaken {
    One,
    Several,
}

impl Hint {
    /// A command that reads no data folder, by the words behind `clariq`.
    pub fn command(words: impl fmt::Display) -> Self {
        format!("`clariq {words}`").into()
    }

    /// A command that reads one data folder.
    pub fn on_data(words: impl fmt::Display) -> Self {
        Self::reading(words, FoldersTaken::One)
    }

    /// A command that reads one data folder or several.
    pub fn on_all_data(words: impl fmt::Display) -> Self {
        Self::reading(words, FoldersTaken::Several)
    }

    fn reading(words: impl fmt::Display, taken: FoldersTaken) -> Self {
        let text = format!("`clariq {words}`");
        Self::new(MarkedText { folders: vec![(text.len() - 1, taken)], text })
    }

    fn new(marked: MarkedText) -> Self {
        Self((!marked.text.is_empty()).then(|| Box::new(marked)))
    }

    /// A name that may be meant.
    pub fn meant(name: impl fmt::Display) -> Self {
        format!("did you mean `{name}`?").into()
    }

    /// This hint, and more behind it.
    #[must_use]
    pub fn and(self, more: impl Into<Self>) -> Self {
        let mut marked = self.0.map_or_else(MarkedText::default, |marked| *marked);
        let more = more.into().0.map_or_else(MarkedText::default, |marked| *marked);
        let before = marked.text.len();
        marked.folders.extend(more.folders.into_iter().map(|(at, taken)| (before + at, taken)));
        marked.text.push_str(&more.text);
        Self::new(marked)
    }

    /// The text with data folders, as a shell reads them, behind the commands that read them. Of several
    /// folders, it is not known which one a command that takes one is about.
    pub fn render(&self, folders: &[String]) -> String {
        let Some(marked) = &self.0 else { return String::new() };
        let mut rendered = String::with_capacity(marked.text.len());
        let mut from = 0;
        for &(at, taken) in &marked.folders {
            rendered.push_str(&marked.text[from..at]);
            from = at;
            match folders {
                [_, _, ..] if taken == FoldersTaken::One => rendered.push_str(" --data DIR"),
                _ => rendered.extend(folders.iter().flat_map(|folder| [" --data ", folder])),
            }
        }
        rendered.push_str(&marked.text[from..]);
        rendered
    }
}

/// The text, with commands as they are without a data folder.
impl Deref for Hint {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.as_ref().map_or("", |marked| &marked.text)
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::new(MarkedText { text, folders: Vec::new() })
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Hint {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<Cow<'_, str>> for Hint {
    fn from(text: Cow<'_, str>) -> Self {
        text.into_owned().into()
    }
}

impl PartialEq<str> for Hint {
    fn eq(&self, text: &str) -> bool {
        **self == *text
    }
}

impl PartialEq<&str> for Hint {
    fn eq(&self, text: &&str) -> bool {
        **self == **text
    }
}

impl PartialEq<String> for Hint {
    fn eq(&self, text: &String) -> bool {
        **self == **text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_folders_stand_behind_the_commands_that_read_them() {
        let hint = Hint::on_all_data("run bm25").and(" writes it, ").and(
            Hint::on_data("data check").and(" lists files, and ").and(Hint::command("systems")),
        );
        let folders = ["a", "\"b c\""].map(str::to_owned);
        for (folders, told) in [
            (
                &folders[..0],
                "`clariq run bm25` writes it, `clariq data check` lists files, and `clariq systems`",
            ),
            (
                &folders[..1],
                "`clariq run bm25 --data a` writes it, `clariq data check --data a` lists files, and `clariq systems`",
            ),
            (
                &folders[..],
                "`clariq run bm25 --data a --data \"b c\"` writes it, `clariq data check --data DIR` lists files, and `clariq systems`",
            ),
        ] {
            assert_eq!(hint.render(folders), told);
        }
        assert_eq!(Hint::meant("bm25"), "did you mean `bm25`?");
    }
}
