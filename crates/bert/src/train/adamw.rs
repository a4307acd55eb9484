//! AdamW over the tensors of a network, with a state that can be saved.
//!
//! Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, as
//! `torch.optim.AdamW` computes it. libtorch has one too, but keeps its moments to itself: no
//! checkpoint could hold them.

use crate::network::{Network, decays};
use crate::weights::torch;
use clariq_core::Result;
use std::collections::BTreeMap;
use tch::{Kind, Tensor};

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// The moments of all weights.
pub(crate) struct AdamW {
    /// First and second moment by the weight's name.
    pub(crate) moments: BTreeMap<String, (Tensor, Tensor)>,
    /// Steps taken.
    pub(crate) steps: i32,
    /// The factor of weight decay so far, for weights without a gradient.
    pub(crate) decay: f64,
    weight_decay: f64,
    clip: f64,
}

impl AdamW {
    /// Before the first step.
    pub(crate) fn new(network: &mut Network, weight_decay: f64, clip: f64) -> Self {
        let moments = network.parameters().into_iter().map(|(name, weight)| {
            let zeros = || Tensor::zeros_like(&weight.detach());
            (name, (zeros(), zeros()))
        });
        Self { moments: moments.collect(), steps: 0, decay: 1.0, weight_decay, clip }
    }

    /// Takes a step along the gradients that are there, and clears them. Gives the norm of the
    /// gradient.
    pub(crate) fn step(&mut self, network: &mut Network, rate: f64) -> Result<f64> {
        let _without_tape = tch::no_grad_guard();
        let refused = torch("a step of AdamW");
        self.steps += 1;
        let correction1 = 1.0 - BETA1.powi(self.steps);
        let correction2 = (1.0 - BETA2.powi(self.steps)).sqrt();
        let mut parameters: Vec<_> = network
            .parameters()
            .into_iter()
            .filter(|(_, weight)| weight.grad().defined())
            .collect();
        let norms: Vec<Tensor> =
            parameters.iter().map(|(_, weight)| weight.grad().norm()).collect();
        let norm = f64::try_from(Tensor::stack(&norms, 0).norm().to_kind(Kind::Double))
            .map_err(&refused)?;
        let factor = if self.clip > 0.0 { (self.clip / (norm + 1e-6)).min(1.0) } else { 1.0 };
        for (name, weight) in &mut parameters {
            let mut gradient = weight.grad();
            if factor < 1.0 {
                let _ = gradient.f_mul_scalar_(factor).map_err(&refused)?;
            }
            if decays(name) && self.weight_decay > 0.0 {
                let _ = weight.f_mul_scalar_(1.0 - rate * self.weight_decay).map_err(&refused)?;
            }
            let Some((first, second)) = self.moments.get_mut(name) else { continue };
            let _ = first.f_lerp_(&gradient, 1.0 - BETA1).map_err(&refused)?;
            let _ = second.f_lerp_(&gradient.square(), 1.0 - BETA2).map_err(&refused)?;
            let mut divisor = second.f_sqrt().map_err(&refused)?;
            divisor = divisor
                .f_div_scalar_(correction2)
                .and_then(|mut root| root.f_add_scalar_(EPSILON))
                .map_err(&refused)?;
            divisor = divisor.f_mul_scalar_(-correction1 / rate).map_err(&refused)?;
            let _ = weight.f_addcdiv_(first, &divisor).map_err(&refused)?;
            let _ = gradient.zero_();
        }
        self.decay *= 1.0 - rate * self.weight_decay;
        Ok(norm)
    }
}
