//! The instruction sets that learned models compute with, which decide the last digits.

use std::env;
use std::fmt::{self, Write as _};

/// An instruction set that an engine can be held to: every processor that has it computes alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// SSE 4.1: every processor that is still in use.
    Sse41,
    /// AVX2 with fused multiplication and addition: processors since about 2015.
    Avx2,
    /// AVX-512 with its foundation, byte, doubleword and vector-length instructions.
    Avx512,
}

/// What the libraries read before their first computation. The last two decide nothing where an
/// instruction set is named, and much where none is.
const VARIABLES: [&str; 5] = [
    "ONEDNN_MAX_CPU_ISA",
    "ATEN_CPU_CAPABILITY",
    "MKL_CBWR",
    "DNNL_MAX_CPU_ISA",
    "MKL_ENABLE_INSTRUCTIONS",
];

impl Isa {
    /// All of them, the least first.
    pub const ALL: [Self; 3] = [Self::Sse41, Self::Avx2, Self::Avx512];

    /// The name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sse41 => "sse41",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// The environment variables that hold oneDNN, ATen and MKL to it. They count where they are
    /// set before a process loads these libraries.
    ///
    /// MKL takes other code for other makers of processors, whatever the instruction set; the
    /// branch `COMPATIBLE` of its conditional numerical reproducibility is the one that Intel
    /// promises to compute alike on all of them.
    pub fn variables(self) -> [(&'static str, &'static str); 3] {
        let (one_dnn, aten) = match self {
            Self::Sse41 => ("SSE41", "default"),
            Self::Avx2 => ("AVX2", "avx2"),
            Self::Avx512 => ("AVX512_CORE", "avx512"),
        };
        [(VARIABLES[0], one_dnn), (VARIABLES[1], aten), (VARIABLES[2], "COMPATIBLE")]
    }

    /// Whether the libraries of this process are held to it.
    pub fn is_held(self) -> bool {
        let is_set =
            |(name, value): (&str, &str)| env::var_os(name).is_some_and(|found| found == *value);
        self.variables().into_iter().all(is_set)
    }

    fn held() -> Option<Self> {
        Self::ALL.into_iter().find(|isa| isa.is_held())
    }

    /// The best one that this processor has, if it is an x86 processor.
    pub fn best() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
                Some(Self::Avx512)
            } else if has!("avx2") && has!("fma") {
                Some(Self::Avx2)
            } else {
                has!("sse4.1").then_some(Self::Sse41)
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// Whether this processor multiplies 16-bit floats (bf16), which libraries that are held to an
    /// instruction set do not make use of.
    pub fn multiplies_bf16() -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            std::arch::is_x86_feature_detected!("avx512bf16") && Self::held().is_none()
        }
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// What learned models compute with in this process: the instruction set that the libraries are
    /// held to (`avx2`), or the best of this processor with its maker (`avx512-intel`) and whatever
    /// else is set by hand. Equal names, equal numbers to the last digit.
    pub fn effective() -> String {
        if let Some(held) = Self::held() {
            return held.to_string();
        }
        let mut name = match Self::best() {
            Some(best) => format!("{best}-{}", maker()),
            None => env::consts::ARCH.to_owned(),
        };
        for variable in VARIABLES {
            if let Some(value) = env::var_os(variable) {
                let _ = write!(name, " {variable}={}", value.to_string_lossy());
            }
        }
        name
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Who made an x86 processor, as it says itself: MKL asks for that too.
#[cfg(target_arch = "x86_64")]
fn maker() -> String {
    #[allow(unused_unsafe, reason = "newer compilers know that every such processor has it")]
    #[expect(unsafe_code, reason = "every processor of this architecture has the instruction")]
    // SAFETY: `cpuid` is part of x86-64.
    let found = unsafe { std::arch::x86_64::__cpuid(0) };
    let bytes = [found.ebx, found.edx, found.ecx].map(u32::to_le_bytes).concat();
    match &*bytes {
        b"GenuineIntel" => "intel".to_owned(),
        b"AuthenticAMD" => "amd".to_owned(),
        other => String::from_utf8_lossy(other).trim().to_lowercase(),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn maker() -> String {
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_set_sets_every_library_in_its_own_words() {
        for isa in Isa::ALL {
            let names = isa.variables().map(|(name, _)| name);
            assert_eq!(names, ["ONEDNN_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY", "MKL_CBWR"]);
        }
        let values: Vec<_> = Isa::ALL.map(Isa::variables).concat();
        // All three differ but for MKL's branch, which is one for all.
        assert_eq!(values.iter().collect::<std::collections::HashSet<_>>().len(), 7);
    }

    #[test]
    fn a_processor_is_named_with_its_maker_unless_the_libraries_are_held() {
        if Isa::ALL.into_iter().any(Isa::is_held) {
            return;
        }
        let name = Isa::effective();
        match Isa::best() {
            Some(best) => assert!(name.starts_with(&format!("{best}-")), "{name}"),
            None => assert!(name.starts_with(env::consts::ARCH), "{name}"),
        }
    }
}
