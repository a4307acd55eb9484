//! The verdict as `JUnit` XML, which the servers of continuous integration show as tests.

use super::{GateVerdict, probability};
use clariq_core::{Result, problem};
use clariq_files::Target;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::path::Path;

impl GateVerdict<'_> {
    /// Writes a test case for each row; a row that fails the gate is a failure.
    pub(in super::super) fn write_junit(&self, file: &Path) -> Result<()> {
        let mut suite = TestSuite::new("clariq compare");
        for row in &self.rows {
            let floor = self.missed_floor(row);
            let fails = floor.is_some() || self.fallen().any(|fallen| fallen == row);
            let mut status = if fails {
                TestCaseStatus::non_success(NonSuccessKind::Failure)
            } else {
                TestCaseStatus::success()
            };
            if fails {
                let floor =
                    floor.map_or_else(String::new, |floor| format!(", the bound is {floor}"));
                status.set_message(format!(
                    "{:.4} to {:.4}, p Holm {}{floor}",
                    row.baseline,
                    row.mean,
                    probability(row.corrected)
                ));
            }
            let mut case = TestCase::new(self.measure(row), status);
            case.set_classname(&*self.compared.runs[row.run].name);
            suite.add_test_case(case);
        }
        let mut report = Report::new(self.sentence());
        report.add_test_suite(suite);
        let text = report
            .to_string()
            .map_err(|error| problem!("--junit", "names that XML can have", (error.to_string())))?;
        Target::new(file).write(|out| out.write_all(text.as_bytes()))
    }
}
