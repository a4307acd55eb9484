//! Matrix products: the choice of library for a processor and a purpose.

use crate::weights::torch;
use clariq_core::{Precision, Result, multiplies_bf16};
use std::ops::Deref;
use tch::{Device, Kind, TchError, Tensor};

/// A tensor whose clones share its storage.
#[derive(Debug)]
pub(crate) struct SharedTensor(pub(crate) Tensor);

impl Clone for SharedTensor {
    fn clone(&self) -> Self {
        Self(self.0.shallow_clone())
    }
}

impl Deref for SharedTensor {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        &self.0
    }
}

/// A matrix with its bias, or the scale and shift of a normalisation; either may be without the second.
#[derive(Debug, Clone)]
pub(crate) struct Linear {
    pub(crate) weight: SharedTensor,
    pub(crate) bias: Option<SharedTensor>,
}

impl Linear {
    pub(crate) fn new(weight: Tensor, bias: Option<Tensor>) -> Self {
        Self { weight: SharedTensor(weight), bias: bias.map(SharedTensor) }
    }

    /// Layer normalisation, with the weight as scale and the bias as shift.
    pub(crate) fn norm(&self, states: &Tensor, epsilon: f64) -> Result<Tensor> {
        let Self { weight, bias } = self;
        let normed =
            states.f_layer_norm(weight.size(), Some(&**weight), bias.as_deref(), epsilon, false);
        normed.map_err(torch("layer normalisation"))
    }

    /// Division by the root mean square (Zhang and Sennrich, NeurIPS 2019), computed with 32 bits. The
    /// scale is the weight plus `offset`.
    pub(crate) fn rms_norm(&self, states: &Tensor, epsilon: f64, offset: f64) -> Result<Tensor> {
        let exact = states.to_kind(Kind::Float);
        let square = exact.f_square().map_err(torch("normalisation"))?;
        let mean = square.mean_dim(Some(&[-1_i64][..]), true, Kind::Float);
        let scale = self.weight.to_kind(Kind::Float) + offset;
        Ok((exact * (mean + epsilon).rsqrt() * scale).to_kind(states.kind()))
    }
}

/// The library that multiplies matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Products {
    /// The default of libtorch. On x86 this is MKL, which leaves half of the vector units of an AMD
    /// processor idle.
    Usual,
    /// oneDNN, which generates code for the processor: twice as fast on Zen 5, and never slower.
    OneDnn,
    /// Operands are rounded to bf16, and the product is a 32-bit float again: mixed precision, as in
    /// Micikevicius et al., "Mixed Precision Training", ICLR 2018. bf16 has the range of a 32-bit
    /// float, so that the loss needs no scale.
    ///
    /// On processors without bf16 instructions, libtorch's products of bf16 are twenty times slower
    /// than of 32-bit floats. There the rounded numbers are multiplied as 32-bit floats and the
    /// product is rounded, which only changes the order of additions.
    Bf16 { native: bool },
}

/// True if this libtorch multiplies 32-bit floats by oneDNN.
fn has_one_dnn() -> bool {
    let probe = Tensor::ones([2, 2], (Kind::Float, Device::Cpu));
    one_dnn(&probe, &probe, Some(&probe.get(0))).is_ok()
}

impl Products {
    /// The fastest on this machine: oneDNN, if libtorch has it for this kind of numbers.
    pub(crate) fn for_inference(device: Device, kind: Kind) -> Self {
        // In bf16, libtorch takes oneDNN by itself.
        if device == Device::Cpu && kind == Kind::Float && has_one_dnn() {
            Self::OneDnn
        } else {
            Self::Usual
        }
    }

    /// The products of a recipe's precision. With 32-bit floats these are libtorch's own: oneDNN's
    /// differ in the last bits, and a training must not depend on whether oneDNN is available.
    pub(crate) fn for_training(device: Device, precision: Precision) -> Self {
        match precision {
            Precision::F32 => Self::Usual,
            Precision::Bf16 => Self::Bf16 { native: device != Device::Cpu || multiplies_bf16() },
        }
    }

    /// The product of rows with a matrix, plus the bias.
    pub(crate) fn linear(self, Linear { weight, bias }: &Linear, input: &Tensor) -> Result<Tensor> {
        let product = match self {
            Self::Usual => input.f_linear(weight, bias.as_deref()),
            Self::OneDnn => one_dnn(input, weight, bias.as_deref()),
            Self::Bf16 { native } => match bias {
                Some(bias) => in_bf16([input, weight, bias], native, |[input, weight, bias]| {
                    input.f_linear(weight, Some(bias))
                }),
                None => in_bf16([input, weight], native, |[input, weight]| {
                    input.f_linear(weight, None::<Tensor>)
                }),
            },
        };
        product.map_err(torch("a matrix product"))
    }

    /// The products of two stacks of matrices.
    pub(crate) fn matmul(self, left: &Tensor, right: &Tensor) -> Result<Tensor> {
        let product = match self {
            Self::Usual | Self::OneDnn => left.f_matmul(right),
            Self::Bf16 { native } => {
                in_bf16([left, right], native, |[left, right]| left.f_matmul(right))
            }
        };
        product.map_err(torch("attention"))
    }
}

fn one_dnn(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor, TchError> {
    input.f_to_mkldnn(None)?.f_mkldnn_linear(weight, bias)?.f_to_dense(None, false)
}

/// The product of operands rounded to bf16, itself rounded to bf16, as 32-bit floats.
fn in_bf16<const N: usize>(
    operands: [&Tensor; N],
    native: bool,
    product: impl FnOnce([&Tensor; N]) -> Result<Tensor, TchError>,
) -> Result<Tensor, TchError> {
    let kind = if native { Kind::BFloat16 } else { Kind::Float };
    let rounded = operands.map(|tensor| tensor.to_kind(Kind::BFloat16).to_kind(kind));
    product(rounded.each_ref())?.f_to_kind(Kind::BFloat16)?.f_to_kind(Kind::Float)
}
