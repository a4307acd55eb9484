//! Properties of this processor on which the last digits of learned models depend.

/// The best instruction set of this processor that libtorch has code for, such as `avx2`; on other
/// processors than x86, the architecture.
pub fn instruction_set() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
            return "avx512";
        }
        if has!("avx2") && has!("fma") {
            return "avx2";
        }
    }
    std::env::consts::ARCH
}

/// True if this processor multiplies 16-bit floats (bf16).
pub fn multiplies_bf16() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has_them = std::arch::is_x86_feature_detected!("avx512bf16");
    #[cfg(not(target_arch = "x86_64"))]
    let has_them = false;
    has_them
}
