//! A model that gives all documents one score orders nothing, and is noted.

use crate::common::{bank, ids, index_below};
use clariq_core::{
    Checksum, Doc, Error, Hit, Model, ModelName, Models, Observer, PairScorer, Progress, Request,
};
use clariq_rank::{Batch, Context, SystemFile};
use std::sync::{Arc, LazyLock, Mutex};

/// Gives every pair one score, but for those of `red fox` if it is told so.
#[derive(Clone)]
struct Constant {
    but_for_foxes: bool,
}

impl PairScorer for Constant {
    fn score(&self, pairs: &[(&str, &str)], _: Progress) -> Result<Vec<f32>, Error> {
        let score = |(request, document): &(&str, &str)| {
            if self.but_for_foxes && *request == "red fox" { document.len() as f32 } else { 0.5 }
        };
        Ok(pairs.iter().map(score).collect())
    }

    fn checksum(&self) -> &Checksum {
        static SUM: LazyLock<Checksum> = LazyLock::new(|| Checksum::of(b"constant"));
        &SUM
    }
}

impl Models for Constant {
    fn open(&self, _: &ModelName) -> Result<Model, Error> {
        Ok(Model::CrossEncoder(Arc::new(self.clone())))
    }
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

#[test]
fn one_score_for_all_documents_is_noted() {
    let (bank, folder) = (bank(), tempfile::tempdir().unwrap());
    let text = "name = \"one\"\n[[stages]]\nstage = \"rerank\"\nmodel = \"m\"\ndepth = 3\n";
    let system = SystemFile::parse("one.toml", text, &[]).unwrap();
    for (but_for_foxes, count) in [(false, 2), (true, 1)] {
        let model = Constant { but_for_foxes };
        let mut context = Context::new(&bank, index_below(folder.path()));
        context.models = &model;
        let requests =
            [Request::new("1", "red fox"), Request::new("2", "boat"), Request::new("3", "car")];
        let hits = |numbers: &[u32]| -> Vec<Hit> {
            numbers
                .iter()
                .map(|&number| Hit { doc: Doc(number), score: -f64::from(number) })
                .collect()
        };
        let before = vec![hits(&[1, 2, 3]), hits(&[1, 2]), hits(&[1])];
        let ranked = system.pipeline.run(&Batch::new(&context, &requests), before).unwrap();
        assert_eq!(ranked.iter().map(|ranking| ids(ranking).len()).sum::<usize>(), 6);
        let notes = Notes::default();
        context.tallies.report(&notes);
        let note = format!(
            "note: rerank: `m` gives all documents one score for {count} of 3 requests, which does not order them"
        );
        assert_eq!(*notes.0.lock().unwrap(), [note]);
    }
}
