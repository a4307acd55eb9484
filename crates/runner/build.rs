//! Lets the learned program find libtorch by a link beside it, which `clariq setup` writes for a
//! program that comes in a wheel and cannot know where the user's cache is.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let beside = match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos") => "@loader_path",
        Ok("linux") => "$ORIGIN",
        _ => return,
    };
    let folder = format!("{beside}/../share/clariq/libtorch/lib");
    println!("cargo::rustc-link-arg-bin=clariq-learned=-Wl,-rpath,{folder}");
}
