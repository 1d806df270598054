//! Secrets, which come from files of their own and are never printed.

use std::{fmt, io, path::Path};

/// A password. Its text shows only where it is asked for by name.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// This text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Reads a file that holds nothing but the secret; one line end after it is not part of it.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is empty or is not one line of text.
    pub fn read(path: &Path) -> Result<Self, SecretError> {
        let fail = |reason: String| SecretError { path: path.display().to_string(), reason };
        let text = std::fs::read(path).map_err(|error| fail(reason(&error)))?;
        let text = String::from_utf8(text).map_err(|_| fail("it is not text".to_owned()))?;
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            return Err(fail("it is empty".to_owned()));
        }
        if line.len() > MAX_BYTES || line.chars().any(char::is_control) {
            return Err(fail(format!("expected one line of at most {MAX_BYTES} bytes")));
        }
        Ok(Self(line.to_owned()))
    }

    /// The text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Why a secret could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretError {
    path: String,
    reason: String,
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the password file {}: {}", self.path, self.reason)
    }
}

impl std::error::Error for SecretError {}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "there is no such file; write the password into it, and nothing else".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "this user may not read it; change its owner or its mode".to_owned()
        }
        _ => error.to_string(),
    }
}

const MAX_BYTES: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &[u8]) -> Result<Secret, SecretError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        std::fs::write(&path, content).unwrap();
        Secret::read(&path)
    }

    #[test]
    fn one_line_is_a_secret_and_is_not_printed() {
        for content in ["s3 cret", "s3 cret\n", "s3 cret\r\n"] {
            let secret = read(content.as_bytes()).unwrap();
            assert_eq!(secret.reveal(), "s3 cret");
            assert_eq!(format!("{secret:?}"), "***");
        }
    }

    #[test]
    fn anything_else_is_refused_with_a_reason() {
        for content in [&b""[..], b"\n", b"a\nb\n", b"\xff\xfe"] {
            let error = read(content).unwrap_err().to_string();
            assert!(error.contains("password"), "{error}");
        }
        let error = Secret::read(Path::new("/nowhere/password")).unwrap_err().to_string();
        assert!(error.contains("no such file"), "{error}");
    }
}
