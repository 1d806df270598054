//! Who has a device open, as far as `/proc` tells this user.

use std::{fmt, fs, path::Path};

/// A program that has a device open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The number of the process.
    pub process: u32,
    /// The program's name, as the system abbreviates it.
    pub program: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, process {}", self.program, self.process)
    }
}

/// The first program found that has the device open. Programs of other users are seen by root only.
pub fn holder(device: &Path) -> Option<Holder> {
    let device = fs::canonicalize(device).ok()?;
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let process = entry.file_name().to_str()?.parse().ok()?;
        let open = fs::read_dir(entry.path().join("fd")).ok()?;
        let holds = |link: fs::DirEntry| fs::read_link(link.path()).is_ok_and(|to| to == device);
        open.flatten().any(holds).then(|| {
            let program = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            Holder { process, program: program.trim().to_owned() }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_file_names_its_holder() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let holder = holder(file.path()).unwrap();
        assert_eq!(holder.process, std::process::id());
        assert!(!holder.program.is_empty());
    }

    #[test]
    fn what_nobody_has_open_has_no_holder() {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        assert_eq!(holder(&path), None);
    }
}
