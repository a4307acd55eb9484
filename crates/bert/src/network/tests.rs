//! The network against `rust_bert`'s, which transcribes the architecture as it was published: padded
//! texts and a mask, query, key and value apart.

use super::{Input, Network, Wanted};
use crate::weights::Weights;
use clariq_model::ModelFolder;
use rust_bert::Config;
use rust_bert::bert::{BertConfig, BertEmbeddings, BertModel};
use std::path::Path;
use tch::nn::VarStore;
use tch::{Device, Kind, Tensor, no_grad};

/// One token, a few, more, and as many as the model can read.
const LENGTHS: [i64; 6] = [1, 2, 7, 23, 24, 96];

/// A model of `rust_bert` with random weights, and ours over the same file of weights.
fn both(folder: &Path) -> (BertModel<BertEmbeddings>, Network) {
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny");
    for name in ["config.json", "vocab.txt"] {
        std::fs::copy(tiny.join(name), folder.join(name)).unwrap();
    }
    tch::manual_seed(42);
    let store = VarStore::new(Device::Cpu);
    let config = BertConfig::from_file(folder.join("config.json"));
    let naive = BertModel::<BertEmbeddings>::new(store.root(), &config);
    no_grad(|| {
        for mut tensor in store.variables().into_values() {
            tensor += tensor.randn_like() * 0.3;
        }
    });
    store.save(folder.join("model.safetensors")).unwrap();
    let folder = ModelFolder::open(folder).unwrap();
    let weights = Weights::read(&folder).unwrap();
    let ours = Network::new(&folder.shape, &weights, Device::Cpu, Kind::Float).unwrap();
    (naive, ours.for_inference())
}

#[test]
fn unpadded_and_fused_equals_padded_and_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (naive, ours) = both(folder.path());
    let (texts, longest) = (LENGTHS.len() as i64, LENGTHS[LENGTHS.len() - 1]);
    let shape = [texts, longest];
    let ids = Tensor::randint(ours.shape.vocabulary, shape, (Kind::Int64, Device::Cpu));
    let segments = Tensor::randint(2, shape, (Kind::Int64, Device::Cpu));
    let lengths = Tensor::from_slice(&LENGTHS).unsqueeze(1);
    let mask = Tensor::arange(longest, (Kind::Int64, Device::Cpu)).lt_tensor(&lengths);
    let mask = mask.to_kind(Kind::Int64);
    let padded = no_grad(|| {
        naive
            .forward_t(Some(&ids), Some(&mask), Some(&segments), None, None, None, None, false)
            .unwrap()
            .hidden_state
    });
    for (text, length) in (0..).zip(LENGTHS) {
        let cut = |tensor: &Tensor| tensor.narrow(0, text, 1).narrow(1, 0, length);
        let input = Input { ids: &cut(&ids), segments: &cut(&segments), mask: None, train: false };
        let expected = cut(&padded);
        let all = no_grad(|| ours.forward(&input, Wanted::All).unwrap());
        assert!(distance(&all, &expected) < 1e-5, "{length} tokens: {}", distance(&all, &expected));
        let first = no_grad(|| ours.forward(&input, Wanted::First).unwrap());
        let distance = distance(&first, &expected.select(1, 0));
        assert!(distance < 1e-5, "[CLS] of {length} tokens: {distance}");
    }
}

/// The largest difference of two values at one place.
fn distance(found: &Tensor, expected: &Tensor) -> f64 {
    assert_eq!(found.size(), expected.size());
    (found - expected).abs().max().double_value(&[])
}
