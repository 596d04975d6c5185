//! The key of an encrypted array, from a file or the environment. No option takes the key itself,
//! because command lines are visible to other users.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use tdb_array::{ArrayOptions, CreateOptions, GroupOptions};
use tdb_filters::EncryptionKey;
use tdb_generic_tile::GenericTileDecoder;
use tdb_types::{Limits, hex};
use tdb_verify::Verify;

use crate::failure::{Exit, FILE_VARIABLE, Failure, KEY_VARIABLE, Result};

/// The given key, if any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Key(Option<EncryptionKey>);

impl Key {
    /// Reads the key from the file of `--key-file`, else from the environment.
    ///
    /// # Errors
    /// Fails if the file cannot be read, if the key is invalid, or if both environment variables
    /// are set.
    pub(crate) fn given(file: Option<&OsStr>) -> Result<Self> {
        if let Some(file) = file {
            return Self::from_file(Path::new(file), "--key-file");
        }
        match (variable(KEY_VARIABLE), variable(FILE_VARIABLE)) {
            (Some(_), Some(_)) => {
                Err(Failure::usage(format!("{KEY_VARIABLE} and {FILE_VARIABLE} are both set")).with_hint("unset one"))
            }
            (Some(digits), None) => match digits.to_str().and_then(|digits| from_hex(digits.as_bytes())) {
                Some(key) => Ok(Self(Some(key))),
                None => {
                    let message = format!("the environment variable {KEY_VARIABLE} does not contain a key");
                    Err(Failure::new(Exit::Key, message)
                        .with_hint("set it to 64 hexadecimal digits, for the 32 bytes of the key"))
                }
            },
            (None, Some(file)) => Self::from_file(Path::new(&file), FILE_VARIABLE),
            (None, None) => Ok(Self(None)),
        }
    }

    /// Reads the key from a file that an option or a variable names.
    ///
    /// # Errors
    /// Fails if the file cannot be read or contains no key.
    pub(crate) fn from_file(path: &Path, named_by: &str) -> Result<Self> {
        let read = || {
            let mut bytes = Vec::with_capacity(128);
            // 64 digits, `\r\n`, and one excess byte.
            File::open(path)?.take(67).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error| {
            let failure = Failure::io(format!("the key file {}", path.display()), &error);
            failure.with_hint(format!("pass the path of a file with the key to `{named_by}`"))
        })?;
        let found = EncryptionKey::try_from(bytes.as_slice()).ok().or_else(|| from_hex(bytes.trim_ascii_end()));
        match found {
            Some(key) => Ok(Self(Some(key))),
            None => {
                let failure = Failure::new(Exit::Key, format!("{}: does not contain a key", path.display()));
                Err(failure.with_hint(match bytes.len() {
                    33 | 34 if bytes.ends_with(b"\n") => "remove the end of the line after the 32 bytes of the key",
                    _ => "write 32 bytes, or 64 hexadecimal digits for them",
                }))
            }
        }
    }

    pub(crate) fn none() -> Self {
        Self(None)
    }

    pub(crate) fn is_given(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn bytes(&self) -> Option<&EncryptionKey> {
        self.0.as_ref()
    }

    /// Returns options for opening an array with this key.
    pub(crate) fn options(&self) -> ArrayOptions {
        ArrayOptions::new().key(self.0.clone())
    }

    /// Returns options for verifying arrays and groups with this key.
    pub(crate) fn verify(&self) -> Verify {
        Verify::new().key(self.0.clone())
    }

    /// Returns options for creating arrays and groups with this key.
    pub(crate) fn create_options(&self) -> CreateOptions {
        CreateOptions::new().key(self.0.clone())
    }

    /// Returns options for opening a group with this key.
    pub(crate) fn group_options(&self) -> GroupOptions {
        GroupOptions::new().key(self.0.clone())
    }

    /// Returns a decoder for generic tiles that are encrypted with this key.
    pub(crate) fn decoder(&self) -> GenericTileDecoder {
        GenericTileDecoder::new(Limits::default()).with_key(self.0.clone())
    }
}

/// Returns a non-empty environment variable.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn from_hex(digits: &[u8]) -> Option<EncryptionKey> {
    let digits: &[u8; 2 * EncryptionKey::LEN] = digits.try_into().ok()?;
    let mut key = [0; EncryptionKey::LEN];
    for (byte, pair) in key.iter_mut().zip(digits.as_chunks::<2>().0) {
        *byte = hex::byte(pair)?;
    }
    Some(EncryptionKey::new(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let key = |contents: &[u8]| {
            std::fs::write(&path, contents).unwrap();
            Key::from_file(&path, "--key-file").map(|key| key.0.unwrap())
        };
        let raw = *b"0123456789abcdef0123456789ABCDEF";
        let hex = b"3031323334353637383961626364656630313233343536373839414243444546";
        assert_eq!(*key(&raw).unwrap().as_bytes(), raw);
        assert_eq!(*key(hex).unwrap().as_bytes(), raw);
        assert_eq!(*key(&[&hex[..], b"\r\n"].concat()).unwrap().as_bytes(), raw);
        for (wrong, hint) in [
            (b"".to_vec(), "write 32 bytes"),
            (raw[..31].to_vec(), "write 32 bytes"),
            ([&raw[..], b"\n"].concat(), "end of the line"),
            ([&hex[..], b"0"].concat(), "write 32 bytes"),
            (hex.map(|digit| if digit == b'3' { b'g' } else { digit }).to_vec(), "write 32 bytes"),
            (vec![b'0'; 100], "write 32 bytes"),
        ] {
            let failure = key(&wrong).unwrap_err();
            assert!(failure.message().ends_with("does not contain a key"), "{}", failure.message());
            assert!(failure.hint().unwrap().contains(hint));
        }
        assert_eq!(format!("{:?}", Key(Some(key(&raw).unwrap()))), "Key(Some(EncryptionKey(…)))");
    }
}
