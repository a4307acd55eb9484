#![no_main]

// The fuzzer would end the process at a panic that is caught.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |bytes: &[u8]| clariq_fuzz::tokenizers(bytes)
);
