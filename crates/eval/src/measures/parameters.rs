//! The parameters of a measure, in its brackets and after its `@`: reading and writing them.

use super::error::MeasureError;

/// The parameters of one measure as they were written; each is taken out as it is read.
pub(super) struct Parameters<'a> {
    measure: &'static str,
    example: &'static str,
    given: Vec<(&'a str, &'a str)>,
}

impl<'a> Parameters<'a> {
    /// Parameters of a measure of that name; `example` shows how it is written.
    pub(super) fn new(
        measure: &'static str,
        example: &'static str,
        given: Vec<(&'a str, &'a str)>,
    ) -> Self {
        Self { measure, example, given }
    }

    /// The cut-off, which must be given.
    pub(super) fn required_cutoff(&mut self) -> Result<usize, MeasureError> {
        let Self { measure, example, .. } = *self;
        self.cutoff()?.ok_or(MeasureError::MissingCutoff { measure, example })
    }

    /// The cut-off; none is the whole ranking.
    pub(super) fn cutoff(&mut self) -> Result<Option<usize>, MeasureError> {
        let Some(value) = self.take("cutoff") else { return Ok(None) };
        match whole(value) {
            Some(cutoff) if cutoff > 0 => Ok(Some(cutoff)),
            _ => Err(self.bad("cut-off", "a whole number from 1", value)),
        }
    }

    /// The lowest grade that counts as relevant: 1 if it does not say.
    pub(super) fn rel(&mut self) -> Result<i32, MeasureError> {
        let Some(value) = self.take("rel") else { return Ok(1) };
        match whole(value).and_then(|grade| i32::try_from(grade).ok()) {
            Some(grade) if grade > 0 => Ok(grade),
            _ => Err(self.bad("rel", "a grade from 1", value)),
        }
    }

    /// A number from 0 to below 1.
    pub(super) fn fraction(
        &mut self,
        name: &'static str,
        default: f64,
    ) -> Result<f64, MeasureError> {
        let Some(value) = self.take(name) else { return Ok(default) };
        match value.parse() {
            Ok(number) if (0.0..1.0).contains(&number) => Ok(number + 0.0),
            _ => Err(self.bad(name, "a number from 0 to below 1", value)),
        }
    }

    /// An error if something is left that the measure did not ask for.
    pub(super) fn nothing_left(self) -> Result<(), MeasureError> {
        let Self { measure, example, .. } = self;
        self.given.first().map_or(Ok(()), |(parameter, _)| {
            Err(MeasureError::UnknownParameter {
                measure,
                parameter: (*parameter).to_owned(),
                example,
            })
        })
    }

    fn take(&mut self, name: &str) -> Option<&'a str> {
        let index = self.given.iter().position(|(parameter, _)| *parameter == name)?;
        Some(self.given.remove(index).1)
    }

    fn bad(&self, parameter: &'static str, expected: &'static str, value: &str) -> MeasureError {
        MeasureError::BadParameter {
            measure: self.measure,
            parameter,
            expected,
            value: value.to_owned(),
        }
    }
}

/// Digits only: no sign, no space.
pub(super) fn whole(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The name of a measure with its parameters: `NAME(parameter=value)@cut-off`.
pub(super) fn spelled(name: &str, parameters: &[String], cutoff: Option<usize>) -> String {
    let parameters =
        if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(",")) };
    let cutoff = cutoff.map_or_else(String::new, |cutoff| format!("@{cutoff}"));
    format!("{name}{parameters}{cutoff}")
}

/// `rel=…` where it is not the default.
pub(super) fn spelled_rel(rel: i32) -> Vec<String> {
    if rel == 1 { Vec::new() } else { vec![format!("rel={rel}")] }
}
