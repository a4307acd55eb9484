//! The target of a command: its collection and split, resolved once from its arguments and from the
//! files that it was given. The precedence is the table of the documentation (reference, Formats).

use crate::settings::{Settings, is_known};
use clariq_collections::{Collection, DataDir, Kind, Split};
use clariq_core::{Hint, Result};
use clariq_experiment::TextStores;
use clariq_experiment::record::RecordedFile;
use clariq_systems::{SystemConfig, built_in};
use clariq_tracks::TRACKS;

/// Opens the collection in the data folder, and prints its name if the user named no folder.
pub(crate) fn open_collection(settings: &Settings) -> Result<Box<dyn Collection>> {
    note_default_data(settings);
    let collection = settings.data.open(&TextStores::default())?;
    warn_of_unread(settings, &*collection);
    Ok(collection)
}

/// Opens a collection of this kind, in the data folder or where it usually is.
fn open_kind(settings: &Settings, kind: &Kind) -> Result<Box<dyn Collection>> {
    (kind.open)(&data_of(settings, kind), Some(&TextStores::default()))
}

/// The location of a collection of this kind. A default is mentioned on standard error.
pub(crate) fn data_of(settings: &Settings, kind: &Kind) -> DataDir {
    let (data, note) = settings.data.of_kind(kind);
    if let Some(note) = note {
        settings.note(&note);
    }
    data
}

pub(crate) fn note_default_data(settings: &Settings) {
    if let Some(note) = settings.data.note() {
        settings.note(&note);
    }
}

fn warn_of_unread(settings: &Settings, collection: &dyn Collection) {
    let unread = collection.unread_files();
    let Some(first) = unread.first() else { return };
    let are = if unread.len() == 1 {
        "1 file of the data folder is".to_owned()
    } else {
        format!("{} files of the data folder are", unread.len())
    };
    let such = format!("warning: {are} not read, such as {}: ", first.display());
    settings.advise(&Hint::from(such).and(Hint::on_data("data check")).and(" lists them"));
}

/// A split of a collection that files are scored on.
pub(crate) struct Target {
    pub(crate) collection: Box<dyn Collection>,
    pub(crate) split: Split,
}

/// The signs of the kind of the collection, the strongest first.
#[derive(Clone, Copy, Default)]
struct Clues<'a> {
    /// The data folder that was named.
    folder: Option<&'a DataDir>,
    /// The collection that all systems are built in for.
    home: Option<&'static str>,
    /// The split that was named.
    split: Option<&'a str>,
    /// The split in the record of a file.
    recorded: Option<&'a str>,
    /// The collection whose submissions end like the file.
    ending: Option<&'static Kind>,
}

impl Clues<'_> {
    /// The kind of the collection, one of `able`; `None` if nothing tells it.
    ///
    /// # Errors
    ///
    /// A data folder that was named and has no collection, or two.
    fn kind(&self, able: &[&'static Kind]) -> Result<Option<&'static Kind>> {
        let having = |name: &str| -> Vec<&'static Kind> {
            able.iter().copied().filter(|kind| kind.has_split(name)).collect()
        };
        let split = self.split.or(self.recorded);
        let Some(folder) = self.folder else {
            let home = able.iter().copied().find(|kind| Some(kind.name) == self.home);
            // Documents of one's own are in no usual folder, so that their splits lead nowhere.
            let is_released = |kind: &&'static Kind| kind.released.is_some();
            let of_split = || split.and_then(|name| having(name).into_iter().find(is_released));
            return Ok(home.or_else(of_split).or(self.ending));
        };
        match TRACKS.kind_of(folder) {
            // Two collections may be in one folder.
            Ok(named) => {
                let of_split = split.map(having).unwrap_or_default();
                let of_split = of_split.into_iter().find(|kind| (kind.is_in)(folder));
                Ok(Some(of_split.unwrap_or(named)))
            }
            // A collection whose splits alone have that name says which of its files is missing.
            Err(error) if error.to_problem().kind.is_missing() => {
                match split.map(having).as_deref() {
                    Some([only]) => Ok(Some(only)),
                    _ => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }
}

impl Target {
    /// The target of a file: of the split that was named, or else of its record.
    pub(crate) fn of(
        settings: &Settings,
        split: Option<&str>,
        file: &RecordedFile,
    ) -> Result<Self> {
        let recorded = file.split();
        if let Some(named) = split {
            warn_of_split(settings, named, recorded);
        }
        let folder = settings.data.named();
        let recorded = recorded.filter(|name| folder.is_some() || is_known(name));
        let ending = TRACKS.kind_of_file(file.path());
        let clues = Clues { folder, split, recorded, ending, ..Clues::default() };
        let kind = clues.kind(TRACKS.kinds())?;
        let kind = kind.map_or_else(|| TRACKS.kind_of(&settings.data.first), Ok)?;
        let collection = open_kind(settings, kind)?;
        let recorded = recorded.filter(|name| collection.find_split(name).is_ok());
        let split = collection.find_scored_split(split.or(recorded))?;
        Ok(Self { collection, split })
    }
}

/// Warns of a run that was made for another split than the one that was named.
pub(crate) fn warn_of_split(settings: &Settings, named: &str, recorded: Option<&str>) {
    if let Some(recorded) = recorded.filter(|recorded| *recorded != named) {
        settings.note(&format!(
            "warning: --split {named}: the run was made for {recorded}, says its record"
        ));
    }
}

/// The kind of collection with a split of that name: in the named folder, if there is one.
pub(crate) fn kind_with_split(settings: &Settings, name: &str) -> Result<Option<&'static Kind>> {
    let clues = Clues { folder: settings.data.named(), split: Some(name), ..Clues::default() };
    clues.kind(TRACKS.kinds())
}

/// The collection for systems: if no folder was named, the one that they are for, or one whose tasks they
/// rank for, if possible with the split that was named.
pub(crate) fn collection_for(
    settings: &Settings,
    systems: &[SystemConfig],
    split: Option<&str>,
) -> Result<Box<dyn Collection>> {
    if settings.data.were_named() {
        return open_collection(settings);
    }
    let mut able: Vec<&Kind> = TRACKS.kinds().to_vec();
    able.retain(|kind| systems.iter().all(|config| config.ranks_for(kind.tasks)));
    let mut homes = systems.iter().map(|config| built_in::collection_of(&config.file));
    let home = homes.next().flatten().filter(|home| homes.all(|other| other == Some(*home)));
    let clues = Clues { home, split, ..Clues::default() };
    match clues.kind(&able)?.or(able.first().copied()) {
        Some(kind) => open_kind(settings, kind),
        None => open_collection(settings),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The folder, the home of the systems, `--split`, the split of the record and the name of the file,
    /// with the collection.
    type Row = ([Option<&'static str>; 5], &'static str);

    const ROWS: [Row; 12] = [
        ([None, None, None, None, None], "-"),
        ([None, None, None, None, Some("a.json")], "iKAT"),
        ([None, None, None, Some("dev"), Some("a.json")], "ClariQ"),
        ([None, None, None, Some("2024"), None], "iKAT"),
        ([None, None, None, Some("of mine"), Some("a.json")], "iKAT"),
        ([None, None, Some("mtrag"), Some("dev"), Some("a.json")], "MTRAG"),
        ([None, Some("MTRAG"), Some("dev"), None, None], "MTRAG"),
        ([None, Some("iKAT"), None, None, None], "iKAT"),
        ([Some("sample-own"), None, None, Some("2024"), Some("a.json")], "own"),
        ([Some("sample-ikat"), None, Some("mtrag"), Some("dev"), None], "iKAT"),
        ([Some("sample-mtrag"), None, Some("mtrag-un"), None, Some("a.json")], "MTRAG"),
        ([Some("sample"), None, Some("2024"), None, None], "ClariQ"),
    ];

    #[test]
    fn a_named_folder_precedes_the_home_of_systems_the_split_its_record_and_the_ending() {
        let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
        for ([folder, home, split, recorded, file], expected) in ROWS {
            let folder = folder.map(|name| DataDir::Folder(data.join(name)));
            let ending = file.and_then(|name| TRACKS.kind_of_file(name.as_ref()));
            let clues = Clues { folder: folder.as_ref(), home, split, recorded, ending };
            let kind = clues.kind(TRACKS.kinds()).unwrap();
            let row = (folder, home, split, recorded, file);
            assert_eq!(kind.map_or("-", |kind| kind.name), expected, "{row:?}");
        }
    }
}
