//! Every kind of model on the sample collection, and on what is no proper training or request.

use clariq_collections::clariq::{Collection, DataDir, Labelled, Split, Topic};
use clariq_core::{
    ClassifiedTexts, Embeddings, Encoder, Models, NoModels, PairScorer, Progress, TextClassifier,
};
use clariq_core::{Location, Need};
use clariq_files::{Source, Target};
use clariq_need::{Classifier, Error, Spec, Training};
use clariq_rank::NeedConfig;
use std::sync::{Arc, Mutex};

const WITHOUT_VECTORS: [&str; 6] =
    ["majority", "prior", "lexical", "logistic", "ordinal", "ensemble"];

/// Vectors of letter counts: texts that share letters are near each other.
struct Letters(&'static str);

impl Encoder for Letters {
    fn encode(&self, texts: &[&str], _: Progress) -> Result<Embeddings, clariq_core::Error> {
        let vector = |text: &&str| {
            let mut counts = [0.1_f32; 26];
            text.bytes()
                .filter(u8::is_ascii_lowercase)
                .for_each(|letter| counts[usize::from(letter - b'a')] += 1.0);
            let norm = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
            counts.map(|count| count / norm)
        };
        Ok(Embeddings { dim: 26, values: texts.iter().flat_map(vector).collect() })
    }

    fn checksum(&self) -> &str {
        self.0
    }
}

struct LetterModels(&'static str);

impl Models for LetterModels {
    fn encoder(&self, _: &str) -> Result<Arc<dyn Encoder>, clariq_core::Error> {
        Ok(Arc::new(Letters(self.0)))
    }

    fn pair_scorer(&self, name: &str) -> Result<Arc<dyn PairScorer>, clariq_core::Error> {
        NoModels.pair_scorer(name)
    }
}

/// Texts and their classes.
type Lesson = Vec<(String, usize)>;

/// Knows by heart what it was taught, and takes everything else for the first class.
struct Parrot {
    taught: Lesson,
    checksum: &'static str,
}

impl TextClassifier for Parrot {
    fn classify(&self, texts: &[&str], _: Progress) -> Result<Vec<Vec<f64>>, clariq_core::Error> {
        let class = |text: &&str| {
            self.taught.iter().find(|(known, _)| known == text).map_or(0, |(_, class)| *class)
        };
        Ok(texts
            .iter()
            .map(|text| (0..4).map(|place| f64::from(u8::from(place == class(text)))).collect())
            .collect())
    }

    fn name(&self) -> &'static str {
        "parrot-1"
    }

    fn checksum(&self) -> &str {
        self.checksum
    }
}

/// Teaches parrots, and remembers what every one was taught and whether it is kept.
#[derive(Default)]
struct Parrots {
    taught: Mutex<Vec<(Lesson, bool)>>,
    checksum: &'static str,
}

impl Models for Parrots {
    fn encoder(&self, name: &str) -> Result<Arc<dyn Encoder>, clariq_core::Error> {
        NoModels.encoder(name)
    }

    fn pair_scorer(&self, name: &str) -> Result<Arc<dyn PairScorer>, clariq_core::Error> {
        NoModels.pair_scorer(name)
    }

    fn train_classifier(
        &self,
        _: &str,
        data: &ClassifiedTexts,
        _: u64,
        keep: bool,
    ) -> Result<Arc<dyn TextClassifier>, clariq_core::Error> {
        assert_eq!(data.names, ["1", "2", "3", "4"]);
        let taught: Lesson = data
            .texts
            .iter()
            .map(|&text| text.to_owned())
            .zip(data.classes.iter().copied())
            .collect();
        self.taught.lock().unwrap().push((taught.clone(), keep));
        Ok(Arc::new(Parrot { taught, checksum: self.checksum }))
    }

    fn classifier(
        &self,
        _: &str,
        name: &str,
    ) -> Result<Arc<dyn TextClassifier>, clariq_core::Error> {
        assert_eq!(name, "parrot-1");
        let (taught, _) = self.taught.lock().unwrap().last().unwrap().clone();
        Ok(Arc::new(Parrot { taught, checksum: self.checksum }))
    }
}

fn sample() -> Collection {
    Collection::open(DataDir::Sample).unwrap()
}

fn spec(model: &str) -> Spec {
    let config = NeedConfig { model: model.to_owned(), ..NeedConfig::default() };
    Spec::new(&config, &Location::file("test")).unwrap()
}

fn trained(model: &str, models: &dyn Models, train: &Labelled) -> Result<Classifier, Error> {
    Training::new(spec(model), &sample().bank, models, train)?.fit(42)
}

fn topic(request: &str, need: Option<u8>) -> Topic {
    Topic {
        id: "t".into(),
        request: request.to_owned(),
        description: String::new(),
        need: need.and_then(Need::new),
    }
}

fn train_of(topics: &[(&str, Option<u8>)]) -> Labelled {
    let topics = topics.iter().map(|(request, need)| topic(request, *need)).collect();
    Labelled { name: "train.tsv".to_owned(), topics, ..Labelled::default() }
}

fn written(classifier: &Classifier) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    classifier.write(&Target::new(&path)).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn the_sample_trains_and_predicts_and_the_same_seed_gives_the_same_bytes() {
    let (collection, models) = (sample(), LetterModels("a"));
    let train = collection.labelled(Split::Train).unwrap();
    let dev = collection.split(Split::Dev).unwrap().topics;
    for model in WITHOUT_VECTORS.iter().chain(&["full"]) {
        let classifier = trained(model, &models, &train).unwrap();
        let bytes = written(&classifier);
        assert_eq!(bytes, written(&trained(model, &models, &train).unwrap()), "{model}");
        let read =
            Classifier::read(&source("model.json", &bytes), &collection.bank, &models).unwrap();
        let predictions = classifier.predict(&dev).unwrap();
        assert_eq!(predictions, read.predict(&dev).unwrap(), "{model}");
        assert_eq!(predictions.len(), dev.len());
        assert!(
            predictions.iter().all(|of| (of.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9),
            "{model}"
        );
    }
}

fn source(name: &str, bytes: &[u8]) -> Source {
    let folder = std::env::temp_dir().join(format!(
        "clariq-need-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    Source::Path(path)
}

#[test]
fn odd_requests_get_a_label() {
    let train = sample().labelled(Split::Train).unwrap();
    let long = "tent ".repeat(10_000);
    let topics = [
        "",
        " \t?!",
        &long,
        "Wo ist der nächste Bahnhof?",
        "天気はどうですか",
        "\u{130}\u{212a} tell me",
        "🏕",
    ]
    .map(|text| topic(text, None));
    for model in WITHOUT_VECTORS.iter().chain(&["full"]) {
        let classifier = trained(model, &LetterModels("a"), &train).unwrap();
        let predictions = classifier.predict(&topics).unwrap();
        assert_eq!(predictions.len(), topics.len());
        assert!(predictions.iter().flat_map(|of| of.probabilities).all(f64::is_finite), "{model}");
        assert!(classifier.explain("").is_ok());
    }
}

#[test]
fn topics_without_a_label_are_not_trained_on() {
    let with = train_of(&[
        ("a tent", Some(1)),
        ("boats", None),
        ("cheese in Oslo", Some(3)),
        ("map", Some(3)),
    ]);
    let without = train_of(&[("a tent", Some(1)), ("cheese in Oslo", Some(3)), ("map", Some(3))]);
    for model in WITHOUT_VECTORS {
        let [with, without] =
            [&with, &without].map(|train| written(&trained(model, &NoModels, train).unwrap()));
        assert_eq!(with, without, "{model}");
    }
    let none = train_of(&[("a tent", None)]);
    let error = trained("majority", &NoModels, &none).err().unwrap().to_string();
    assert!(error.starts_with("train.tsv: ") && error.contains("found none"), "{error}");
}

#[test]
fn one_label_is_enough_for_the_baselines_only() {
    let one = train_of(&[("a tent", Some(2)), ("boats", Some(2))]);
    for model in ["lexical", "ordinal"] {
        let error = trained(model, &NoModels, &one).err().unwrap().to_string();
        assert!(error.contains("at least two different labels"), "{error}");
    }
    for model in ["majority", "prior"] {
        let of = trained(model, &NoModels, &one).unwrap().predict(&[topic("map", None)]).unwrap();
        assert_eq!(of[0].need.get(), 2);
    }
}

#[test]
fn a_label_that_was_never_seen_is_never_given() {
    let train = train_of(&[
        ("a tent", Some(1)),
        ("two boats", Some(3)),
        ("cheese in Oslo", Some(3)),
        ("map", Some(1)),
    ]);
    for model in ["lexical", "ordinal", "prior"] {
        for prediction in trained(model, &NoModels, &train).unwrap().predict(&train.topics).unwrap()
        {
            assert!([1, 3].contains(&prediction.need.get()), "{model}");
            assert!(prediction.probabilities[3] < 1e-12, "{model}");
        }
    }
}

#[test]
fn models_that_do_not_fit_are_refused() {
    let (collection, models) = (sample(), LetterModels("a"));
    let train = collection.labelled(Split::Train).unwrap();
    let text = String::from_utf8(written(&trained("full", &models, &train).unwrap())).unwrap();
    let refused = |text: &str, models: &dyn Models, says: &str| {
        let source = source("bad.json", text.as_bytes());
        let error = Classifier::read(&source, &collection.bank, models).err().unwrap().to_string();
        assert!(error.contains("bad.json") && error.contains(says), "{error}");
    };
    refused(&text, &LetterModels("b"), "made with the encoder b, found a");
    refused("{}", &models, "need_model");
    refused("", &models, "need train");
    refused(&text.replace("\"need_model\": 1", "\"need_model\": 2"), &models, "format 2");
    refused(&text.replacen("\"letters\"", "\"lettres\"", 1), &models, "features of this program");
    refused(
        &text.replace(collection.bank.checksum().as_str(), &"0".repeat(64)),
        &models,
        "question bank",
    );
}

#[test]
fn without_an_encoder_the_hint_names_the_model_that_needs_none() {
    let train = sample().labelled(Split::Train).unwrap();
    let error = trained("full", &NoModels, &train).err().unwrap();
    let report = clariq_core::Report::from(&error);
    assert!(report.hint.contains("model = \"lexical\""), "{}", report.hint);
}

#[test]
fn cross_validation_repeats_with_its_seed() {
    let train = sample().labelled(Split::Train).unwrap();
    let training = Training::new(spec("lexical"), &sample().bank, &NoModels, &train).unwrap();
    let pass = |seed| training.cross_validate(5, 2, seed).unwrap();
    assert_eq!(pass(1), pass(1));
    assert_ne!(pass(1)[0].folds, pass(9)[0].folds);
    assert!(pass(1).iter().all(|repeat| repeat.predictions.len() == train.topics.len()));
}

#[test]
fn a_fold_is_never_taught_what_it_is_asked() {
    let (collection, models) = (sample(), Parrots::default());
    let train = collection.labelled(Split::Train).unwrap();
    let training = Training::new(spec("bert"), &collection.bank, &models, &train).unwrap();
    let passes = training.cross_validate(4, 2, 42).unwrap();
    let taught = models.taught.lock().unwrap();
    assert_eq!(taught.len(), 8);
    for (place, (rows, kept)) in taught.iter().enumerate() {
        assert!(!kept, "folds are looked at once");
        let (pass, fold) = (&passes[place / 4], place % 4);
        for (topic, of) in train.topics.iter().zip(&pass.folds) {
            assert_eq!(
                rows.iter().any(|(text, _)| *text == topic.request),
                *of != fold,
                "{}",
                topic.request
            );
        }
    }
    assert!(
        passes.iter().flat_map(|pass| &pass.predictions).all(|of| of.need.get() == 1),
        "no label was known"
    );
}

#[test]
fn a_saved_classifier_names_its_weights_and_takes_no_others() {
    let (collection, models) = (sample(), Parrots { checksum: "a", ..Parrots::default() });
    let train = collection.labelled(Split::Train).unwrap();
    let classifier = trained("bert", &models, &train).unwrap();
    assert!(models.taught.lock().unwrap()[0].1, "its weights are kept");
    let bytes = written(&classifier);
    let read = Classifier::read(&source("bert.json", &bytes), &collection.bank, &models).unwrap();
    assert_eq!(read.predict(&train.topics).unwrap(), classifier.predict(&train.topics).unwrap());
    assert!(
        classifier
            .predict(&train.topics)
            .unwrap()
            .iter()
            .zip(&train.topics)
            .all(|(of, is)| Some(of.need) == is.need)
    );
    let other =
        Parrots { taught: Mutex::new(models.taught.lock().unwrap().clone()), checksum: "b" };
    let error =
        Classifier::read(&source("bert.json", &bytes), &collection.bank, &other).err().unwrap();
    let report = clariq_core::Report::from(&error);
    assert!(
        error
            .to_string()
            .contains("parrot-1 with the checksum a, found weights with the checksum b"),
        "{error}"
    );
    assert!(report.hint.contains("need train"), "{}", report.hint);
    let error =
        Classifier::read(&source("bert.json", &bytes), &collection.bank, &NoModels).err().unwrap();
    assert!(clariq_core::Report::from(&error).hint.contains("scripts/clariq"), "{error}");
}
