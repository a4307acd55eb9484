//! The network against `rust_bert`'s, which transcribes the architecture as it was published: padded
//! texts and a mask, query, key and value apart; and padded batches against their texts one by one.

use super::{Network, WantedVectors};
use crate::batch::{PaddingMasks, TokenBatch};
use crate::pooling::PoolingHead;
use crate::products::Products;
use crate::weights::Weights;
use clariq_core::Result;
use clariq_folder::ModelFolder;
use clariq_folder::Tokens;
use rust_bert::Config;
use rust_bert::bert::{BertConfig, BertEmbeddings, BertModel};
use std::collections::BTreeMap;
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
    let mut store = VarStore::new(Device::Cpu);
    let config = BertConfig::from_file(folder.join("config.json"));
    let naive = BertModel::<BertEmbeddings>::new(store.root(), &config);
    // In the order of their names, so that the seed decides what each is.
    let variables = BTreeMap::from_iter(store.variables());
    no_grad(|| {
        for mut tensor in variables.into_values() {
            tensor += tensor.randn_like() * 0.3;
        }
    });
    store.save(folder.join("model.safetensors")).unwrap();
    // The measure is without rounding of its own, so that the tolerance is for our rounding alone,
    // which differs between processors.
    store.double();
    let folder = ModelFolder::open(folder).unwrap();
    let weights = Weights::read(&folder).unwrap();
    let ours = Network::new(&folder, &weights, head(&folder), Device::Cpu, Kind::Float).unwrap();
    (naive, ours.for_inference())
}

fn head(folder: &ModelFolder) -> PoolingHead {
    PoolingHead::read(&folder.sentence().unwrap(), Device::Cpu).unwrap()
}

#[test]
fn the_fast_path_equals_the_naive_one() {
    let _alone = crate::GENERATOR.lock();
    let folder = tempfile::tempdir().unwrap();
    let (naive, ours) = both(folder.path());
    let texts: Vec<Tokens> = LENGTHS.iter().map(|length| random(&ours, *length)).collect();
    let texts: Vec<&Tokens> = texts.iter().collect();
    let [ids, segments] = [|text: &Tokens| text.ids.clone(), |text: &Tokens| text.segments.clone()]
        .map(|of| padded(&texts, of));
    let mask = padded(&texts, |text| vec![1; text.ids.len()]);
    let expected = no_grad(|| {
        naive
            .forward_t(Some(&ids), Some(&mask), Some(&segments), None, None, None, None, false)
            .unwrap()
            .hidden_state
    });
    let batch = |texts: &[&Tokens]| TokenBatch::new(texts, Device::Cpu, false);
    let forward = |batch: &TokenBatch, wanted| no_grad(|| ours.forward(batch, wanted).unwrap());
    let together = forward(&batch(&texts), WantedVectors::All);
    let firsts = forward(&batch(&texts), WantedVectors::First);
    for ((row, length), text) in (0..).zip(LENGTHS).zip(texts) {
        let cut = |tensor: &Tensor| tensor.narrow(0, row, 1).narrow(1, 0, length);
        let alone = batch(&[text]);
        let expected = cut(&expected);
        let first = expected.select(1, 0);
        assert_near(&forward(&alone, WantedVectors::All), &expected, "alone", length);
        assert_near(&forward(&alone, WantedVectors::First), &first, "[CLS]", length);
        assert_near(&cut(&together), &expected, "packed", length);
        assert_near(&firsts.narrow(0, row, 1), &first, "packed [CLS]", length);
    }
}

#[test]
fn rounded_numbers_multiply_as_bf16_does() {
    let _alone = crate::GENERATOR.lock();
    let folder = tempfile::tempdir().unwrap();
    let (_, mut ours) = both(folder.path());
    let text = random(&ours, 24);
    let batch = TokenBatch::new(&[&text], Device::Cpu, false);
    let [exact, rounded, native] =
        [Products::Usual, Products::Bf16 { native: false }, Products::Bf16 { native: true }].map(
            |products| {
                ours.products = products;
                no_grad(|| ours.forward(&batch, WantedVectors::All).unwrap())
            },
        );
    let distance = |other: &Tensor| (&rounded - other).abs().mean(Kind::Float).double_value(&[]);
    let to_exact = distance(&exact);
    let to_native = distance(&native);
    // Where sums that differ in their last bit are rounded to different neighbours, they differ.
    assert!(to_exact > 1e-3 && to_native < to_exact / 4.0, "{to_exact} {to_native}");
}

/// A text of random tokens.
fn random(ours: &Network, length: i64) -> Tokens {
    let below = |most: i64| {
        let numbers = Tensor::randint(most, [length], (Kind::Int64, Device::Cpu));
        Vec::<i64>::try_from(numbers).unwrap()
    };
    Tokens { ids: below(ours.shape.vocabulary), segments: below(2), ..Tokens::default() }
}

/// Numbers of all texts in one table, 0 behind each text.
fn padded(texts: &[&Tokens], of: impl Fn(&Tokens) -> Vec<i64>) -> Tensor {
    let longest = *LENGTHS.iter().max().unwrap();
    let rows: Vec<i64> = texts
        .iter()
        .flat_map(|text| {
            let mut row = of(text);
            row.resize(longest as usize, 0);
            row
        })
        .collect();
    Tensor::from_slice(&rows).view([texts.len() as i64, longest])
}

/// Asserts that numbers differ by at most 1/10,000 of the largest one.
fn assert_near(found: &Tensor, expected: &Tensor, what: &str, length: i64) {
    assert_eq!(found.size(), expected.size(), "{what}");
    let distance = (found.to_kind(Kind::Double) - expected).abs().max().double_value(&[]);
    let largest = expected.abs().max().double_value(&[]);
    assert!(distance < 1e-4 * largest, "{what}, {length} tokens: {distance} of {largest}");
}

fn network() -> Network {
    let folder = ModelFolder::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny"));
    let folder = folder.unwrap();
    let weights = Weights::read(&folder).unwrap();
    let mut network =
        Network::new(&folder, &weights, head(&folder), Device::Cpu, Kind::Float).unwrap();
    network.new_head(2);
    for (name, weight) in network.parameters() {
        let mut leaf = weight.detach().contiguous();
        // Tests that run beside this one draw from the same random numbers as a new head does.
        if name.contains("classifier") || name.contains("pooler") {
            let count = leaf.numel() as i64;
            let numbers = Tensor::arange(count, (Kind::Float, Device::Cpu)).sin() * 0.02;
            leaf = numbers.view_(leaf.size());
        }
        *weight = leaf.set_requires_grad(true);
    }
    network
}

fn texts() -> Vec<Tokens> {
    let text = |ids: &[i64]| Tokens {
        ids: ids.to_vec(),
        segments: (0..ids.len()).map(|at| i64::from(at > 2)).collect(),
        ..Tokens::default()
    };
    let prompted = Tokens { uncounted: 2, ..text(&[2, 8, 8, 6, 3]) };
    vec![text(&[2, 5, 9, 4, 3]), text(&[2, 3]), text(&[2, 8, 8, 6, 7, 11, 3]), prompted]
}

/// The vectors of a batch, and the gradients of their sum of squares.
fn answer(
    texts: &[&Tokens],
    of: fn(&Network, &TokenBatch) -> Result<Tensor>,
) -> (Tensor, Vec<Tensor>) {
    let mut network = network();
    let result = of(&network, &TokenBatch::new(texts, Device::Cpu, false)).unwrap();
    result.square().sum(Kind::Float).backward();
    let gradients = network.parameters().into_iter().map(|(_, weight)| weight.grad());
    (result.detach(), gradients.filter(Tensor::defined).collect())
}

/// Equal but for rounding, which differs between processors.
fn assert_close(found: &Tensor, expected: &Tensor) {
    let difference = (found - expected).abs().max().double_value(&[]);
    let size = expected.abs().max().double_value(&[]);
    assert!(difference <= 1e-5 * (1.0 + size), "{difference} of {size}");
}

#[test]
fn a_padded_batch_equals_its_texts_one_by_one() {
    let _alone = crate::GENERATOR.lock();
    let texts = texts();
    for of in [Network::pooled, Network::logits] {
        let (together, gradients) = answer(&texts.iter().collect::<Vec<_>>(), of);
        let mut sums: Vec<Tensor> = gradients.iter().map(Tensor::zeros_like).collect();
        for (row, text) in (0..).zip(&texts) {
            let (alone, gradients) = answer(&[text], of);
            assert_close(&together.get(row), &alone.get(0));
            for (sum, gradient) in sums.iter_mut().zip(&gradients) {
                *sum += gradient;
            }
        }
        for (gradient, sum) in gradients.iter().zip(&sums) {
            assert_close(gradient, sum);
        }
    }
}

#[test]
fn texts_of_one_length_have_no_padding() {
    let _alone = crate::GENERATOR.lock();
    let texts = texts();
    assert!(PaddingMasks::new(&[&texts[0], &texts[0]], Device::Cpu).is_none());
    assert!(PaddingMasks::new(&[&texts[0], &texts[1]], Device::Cpu).is_some());
}
