//! The names of columns and keys, by their roles: one table for judgements, requests and documents, with a
//! header or as JSON.
//!
//! A role has names of several ranks, the plainest first: of `id`, `docno` and `document`, the id of a
//! document is the first that is there. Two names of one rank are refused, because it is not clear which is
//! meant. All further columns are ignored. Names are compared by their letters and digits, in lower case:
//! `query-id`, `query_id` and `Query ID` are one name.

/// The role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The id of a document, in a file of documents.
    DocumentId,
    /// The id of a request, in a file of requests.
    RequestId,
    /// An id in a table with a header, if no column has a name that is of ids alone.
    BareId,
    /// The topic of a judgement.
    Topic,
    /// The document of a judgement.
    Document,
    /// The grade of a judgement.
    Grade,
    /// The score of a document in a run.
    Score,
    /// The text of a document or a request.
    Text,
    /// The title of a document, which is put before its text.
    Title,
}

/// The signs between the columns of a table whose header names them. Its fields may have quotes as those of CSV
/// have.
pub const DELIMITERS: [u8; 3] = [b'\t', b',', b';'];

const IDS: &[&str] = &["id"];
const OF_DOCUMENTS: &[&str] =
    &["docid", "docno", "did", "pid", "corpusid", "documentid", "passageid"];
const OF_TOPICS: &[&str] = &["qid", "queryid", "questionid", "requestid", "topicid", "turnid"];
/// Names of what has an id, which may stand for the id or for the text.
const DOCUMENTS: &[&str] = &["doc", "document", "passage"];
const TOPICS: &[&str] = &["query", "topic", "turn", "number", "topicnumber"];
const GRADES: &[&str] = &["score", "relevance", "rel", "label", "grade"];
const TEXTS: &[&str] = &["text", "contents", "passagetext"];
const OTHER_TEXTS: &[&str] = &["content", "body", "querytext", "documenttext"];
const SAID: &[&str] = &[
    "query",
    "question",
    "request",
    "initialrequest",
    "utterance",
    "rewrite",
    "passage",
    "document",
];

impl Role {
    /// Its names, those of the first rank first.
    const fn ranks(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::DocumentId => &[IDS, OF_DOCUMENTS, OF_TOPICS],
            Self::RequestId => &[IDS, OF_TOPICS, OF_DOCUMENTS],
            Self::BareId => &[TOPICS, DOCUMENTS],
            Self::Topic => &[OF_TOPICS, TOPICS],
            Self::Document => &[OF_DOCUMENTS, DOCUMENTS],
            Self::Grade => &[GRADES],
            Self::Score => &[&["score"]],
            Self::Text => &[TEXTS, OTHER_TEXTS, SAID],
            Self::Title => &[&["title"]],
        }
    }

    /// The place of the column with this role; `None` if no column has it.
    ///
    /// # Errors
    ///
    /// The places of two columns whose names have one rank.
    pub fn place_in<S: AsRef<str>>(self, columns: &[S]) -> Result<Option<usize>, [usize; 2]> {
        let names: Vec<String> = columns.iter().map(|name| plain_name(name.as_ref())).collect();
        for rank in self.ranks() {
            let mut places = (0..names.len()).filter(|&place| rank.contains(&&*names[place]));
            match (places.next(), places.next()) {
                (Some(first), Some(second)) => return Err([first, second]),
                (Some(only), None) => return Ok(Some(only)),
                (None, _) => {}
            }
        }
        Ok(None)
    }
}

/// The letters and digits of the name of a column, in lower case.
fn plain_name(field: &str) -> String {
    field.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// True for a line of names of columns: an id and, in another column, a text or a grade.
pub(crate) fn is_header(fields: &[&str]) -> bool {
    let ids = [Role::DocumentId, Role::BareId];
    let values = [Role::Title, Role::Text, Role::Grade];
    let places = |roles: &[Role]| -> Vec<usize> {
        let of = |role: &Role| match role.place_in(fields) {
            Ok(place) => place,
            Err([first, _]) => Some(first),
        };
        roles.iter().filter_map(of).collect()
    };
    let values = places(&values);
    places(&ids).iter().any(|id| values.iter().any(|value| value != id))
}

/// The columns of a table of ids and texts that its header names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextColumns {
    id: usize,
    /// The title, if there is one beside the text, and the text.
    texts: Vec<usize>,
    width: usize,
}

impl TextColumns {
    /// The columns that the fields of a header name; `None` if they are no header. `id` is the role of the
    /// ids. Where two columns may be meant, their names are returned in place of the columns.
    pub fn named<S: AsRef<str>>(fields: &[S], id: Role) -> Option<Result<Self, [String; 2]>> {
        let two = |places: [usize; 2]| Some(Err(places.map(|at| fields[at].as_ref().to_owned())));
        let text = Role::Text.place_in(fields);
        let title = Role::Title.place_in(fields);
        let has_text = !matches!((&text, &title), (Ok(None), Ok(None)));
        let place = match id.place_in(fields) {
            Ok(None) => Role::BareId.place_in(fields),
            found => found,
        };
        match (place, text, title) {
            (Err(places), ..) if has_text => two(places),
            (Ok(None) | Err(_), ..) => None,
            (Ok(Some(_)), Err(places), _) | (Ok(Some(_)), _, Err(places)) => two(places),
            (Ok(Some(at)), Ok(text), Ok(title)) => {
                let text = text.filter(|text| *text != at);
                // The text may be in any further column of a table of documents.
                let is_further = |place: usize| {
                    place != at
                        && Some(place) != title
                        && !plain_name(fields[place].as_ref()).is_empty()
                };
                if id == Role::DocumentId && text.is_none() && (0..fields.len()).any(is_further) {
                    return None;
                }
                // The text of a request is what was said; topics without one have a title.
                let title = title.filter(|_| id != Role::RequestId || text.is_none());
                let texts: Vec<usize> = title.into_iter().chain(text).collect();
                (!texts.is_empty()).then_some(Ok(Self { id: at, texts, width: fields.len() }))
            }
        }
    }

    /// The columns of these names, as a person has named them.
    ///
    /// # Errors
    ///
    /// The name that is not among the fields.
    pub fn given<S: AsRef<str>>(fields: &[S], id: &str, texts: &[String]) -> Result<Self, String> {
        let place = |name: &str| {
            let found = fields.iter().position(|field| field.as_ref().trim() == name);
            found.ok_or_else(|| name.to_owned())
        };
        let texts = texts.iter().map(|name| place(name)).collect::<Result<_, _>>()?;
        Ok(Self { id: place(id)?, texts, width: fields.len() })
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The names of the columns of the id and of the texts, as the header has them.
    pub fn names<S: AsRef<str>>(&self, fields: &[S]) -> (String, Vec<String>) {
        let name = |place: usize| fields.get(place).map_or("", AsRef::as_ref).trim().to_owned();
        (name(self.id), self.texts.iter().map(|&place| name(place)).collect())
    }

    /// The id and the text of a row, a title before it; `None` if the row has more fields than the
    /// header, or none for one of these.
    pub fn pick<'a>(&self, fields: &[&'a str]) -> Option<(&'a str, String)> {
        if fields.len() > self.width {
            return None;
        }
        let texts = self.texts.iter().map(|&place| fields.get(place).copied());
        let texts: Vec<&str> = texts.collect::<Option<_>>()?;
        Some((fields.get(self.id)?, texts.join(" ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_recognised_by_their_names() {
        for header in [
            "qid query",
            "_id text",
            "docid contents",
            "#ID Title Text",
            "query-id corpus-id score",
            "text id",
        ] {
            assert!(is_header(&header.split(' ').collect::<Vec<_>>()), "{header}");
        }
        for row in ["id", "1 text", "q1 query", "", "id 17"] {
            assert!(!is_header(&row.split(' ').collect::<Vec<_>>()), "{row}");
        }
    }

    #[test]
    fn a_role_is_the_column_with_the_plainest_name_and_two_of_one_rank_are_told() {
        for (header, role, place) in [
            ("query_id query corpus_id score", Role::Topic, Ok(Some(0))),
            ("query_id query corpus_id score", Role::Document, Ok(Some(2))),
            ("query docno label", Role::Topic, Ok(Some(0))),
            ("qid query_id docno", Role::Topic, Err([0, 1])),
            ("score rel", Role::Grade, Err([0, 1])),
            ("docno id", Role::DocumentId, Ok(Some(1))),
            ("id _id", Role::RequestId, Err([0, 1])),
            ("docid qid", Role::RequestId, Ok(Some(1))),
            ("a b", Role::Text, Ok(None)),
        ] {
            let columns: Vec<&str> = header.split(' ').collect();
            assert_eq!(role.place_in(&columns), place, "{header}: {role:?}");
        }
    }

    #[test]
    fn columns_of_ids_and_texts_are_found_by_name() {
        let row = ["0", "q1", "Tea", "green tea"];
        for (header, picked) in [
            ("\tqid\tscore\tquery", Some(("q1", "green tea"))),
            ("row\tdocid\ttitle\ttext", Some(("q1", "Tea green tea"))),
            ("text\t_id\turl\tlang", Some(("q1", "0"))),
            ("id\ttitle\t\t", Some(("0", "q1"))),
            ("id\ttitle\tdescription\tyear", None),
            ("id\ttext\tlang", None),
            ("1\tquery\t\t", None),
            ("id\t17\t\t", None),
        ] {
            let header: Vec<&str> = header.split('\t').collect();
            let columns = TextColumns::named(&header, Role::DocumentId).map(Result::unwrap);
            let found = columns.and_then(|columns| columns.pick(&row));
            let picked = picked.map(|(id, text)| (id, text.to_owned()));
            assert_eq!(found, picked, "{header:?}");
        }
        for (header, told) in [
            (["id", "text", "contents"], ["text", "contents"]),
            (["docno", "docid", "text"], ["docno", "docid"]),
            (["qid", "query", "rewrite"], ["query", "rewrite"]),
        ] {
            let two = TextColumns::named(&header, Role::DocumentId).unwrap().unwrap_err();
            assert_eq!(two, told);
        }
    }
}
