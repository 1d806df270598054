//! The inputs kept for the fuzzer: what it starts from, and what once made it fail.

use std::{
    fs,
    path::{Path, PathBuf},
};

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the module is also a library, of a package of its own")]
mod fuzz;

#[test]
fn kept_inputs_pass() {
    for (target, run) in fuzz::TARGETS {
        let seeds = inputs(&root().join("corpus").join(target));
        assert!(!seeds.is_empty(), "no seeds for {target}");
        for path in seeds.into_iter().chain(inputs(&root().join("regressions").join(target))) {
            // Shown if the target fails.
            println!("{}", path.display());
            run(&fs::read(&path).unwrap());
        }
    }
}

#[test]
fn seeds_are_what_is_written_today() {
    for seed in fuzz::seeds::all() {
        let path = root().join("corpus").join(seed.target).join(seed.name);
        let kept = fs::read(&path).unwrap_or_default();
        let stale = "write it again: cargo run --example seeds in tests/fuzz";
        assert!(kept == seed.bytes, "{}: {stale}", path.display());
    }
}

/// The files of a folder; none if there is no folder.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz")
}
