//! The rules of the house, as `src/lib.rs` tells them: who may import whom, and how long a file
//! may be.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A layer's folder or file, and what may not be named in it.
const FORBIDDEN: &[(&str, &[&str])] = &[
    (
        "protocol/src",
        &[
            "std::fs",
            "std::io",
            "std::net",
            "std::thread",
            "std::time",
            "shakmaty",
            "serde",
            "tokio",
        ],
    ),
    (
        "src/game",
        &[
            "dgt_protocol",
            "crate::hall",
            "crate::view",
            "crate::config",
            "crate::daemon",
            "crate::sim",
            "crate::replay",
            "serde",
            "tokio",
            "rumqttc",
            "std::fs",
            "std::io",
            "std::net",
            "std::thread",
            "std::time",
        ],
    ),
    (
        "src/hall",
        &[
            "crate::view",
            "crate::config",
            "crate::daemon",
            "crate::sim",
            "crate::replay",
            "serde",
            "tokio",
            "rumqttc",
            "std::fs",
            "std::io",
            "std::net",
            "std::thread",
            "std::time",
        ],
    ),
    ("src/view", &["dgt_protocol", "crate::daemon", "crate::sim", "tokio", "rumqttc"]),
    ("src/config", &["crate::daemon", "crate::view", "crate::sim", "tokio", "rumqttc"]),
    ("src/replay", &["crate::daemon", "crate::sim", "tokio", "rumqttc"]),
    (
        "src/sim",
        &["crate::game", "crate::hall", "crate::view", "crate::daemon", "crate::config", "serde"],
    ),
    ("src/daemon", &["crate::sim", "crate::cli", "crate::accuracy"]),
];

/// A file of more production lines than this has grown two subjects.
const MAX_LINES: usize = 700;

#[test]
fn nobody_imports_what_his_layer_must_not_know() {
    let mut broken = Vec::new();
    for (layer, words) in FORBIDDEN {
        let files = sources(&root().join(layer));
        assert!(!files.is_empty(), "no source below {layer}");
        for path in files {
            for (number, line) in production(&path).iter().enumerate() {
                let code = line.split("//").next().unwrap_or_default();
                let named = words.iter().find(|word| names(code, word));
                if let Some(word) = named {
                    broken.push(format!("{}:{}: {word}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(broken.is_empty(), "forbidden imports:\n{}", broken.join("\n"));
}

#[test]
fn only_one_file_of_the_hall_knows_the_wire() {
    let below = sources(&root().join("src/hall"));
    let knows = |path: &PathBuf| {
        production(path).iter().any(|line| line.starts_with("use dgt_protocol::{"))
    };
    let knowing: Vec<_> = below.into_iter().filter(knows).collect();
    assert_eq!(knowing, [root().join("src/hall/adapt.rs")]);
}

#[test]
fn no_file_has_grown_two_subjects() {
    let mut long = Vec::new();
    for folder in ["src", "protocol/src", "tests", "benches"] {
        for path in sources(&root().join(folder)) {
            let lines = production(&path).len();
            if lines > MAX_LINES {
                long.push(format!("{}: {lines} lines", path.display()));
            }
        }
    }
    assert!(long.is_empty(), "split these:\n{}", long.join("\n"));
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Whether `code` names `word` as a path or a part of one.
fn names(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

/// The lines of a file up to its inline tests.
fn production(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(str::to_owned);
    lines.take_while(|line| line != "#[cfg(test)]").collect()
}

/// All Rust files of a layer: its folder and the file of the same name beside it, or one file. Test
/// modules in files of their own are left out.
fn sources(layer: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let beside = layer.with_extension("rs");
    if beside.is_file() {
        found.push(beside);
    }
    let mut folders = vec![layer.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && name != "tests.rs"
                && name != "testing.rs"
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
