//! Dumps and changes of the 64 fields.

use super::{
    DUMP, exact,
    malformed::{Defect, Malformed},
};
use crate::field::{Field, PieceCode};

/// What stands on all 64 fields at one moment (0x86, payload bytes 3 to 66).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump([PieceCode; 64]);

impl Dump {
    /// A dump of these codes, field 0 first.
    pub const fn new(codes: [PieceCode; 64]) -> Self {
        Self(codes)
    }

    /// What stands on a field.
    pub const fn code(&self, field: Field) -> PieceCode {
        self.0[field.index() as usize]
    }

    /// All codes, field 0 first.
    pub const fn codes(&self) -> &[PieceCode; 64] {
        &self.0
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let bytes: &[u8; 64] = exact(DUMP, payload)?;
        let mut codes = [PieceCode::Empty; 64];
        for (code, &byte) in codes.iter_mut().zip(bytes) {
            *code = decode_code(DUMP, byte)?;
        }
        Ok(Self(codes))
    }

    pub(crate) fn encode(&self) -> [u8; 64] {
        self.0.map(PieceCode::to_byte)
    }
}

/// Reads a field number and a piece code.
pub(crate) fn decode_change(id: u8, field: u8, code: u8) -> Result<(Field, PieceCode), Malformed> {
    let field = Field::new(field).ok_or(Malformed { id, defect: Defect::Field(field) })?;
    Ok((field, decode_code(id, code)?))
}

fn decode_code(id: u8, byte: u8) -> Result<PieceCode, Malformed> {
    PieceCode::from_byte(byte).ok_or(Malformed { id, defect: Defect::PieceCode(byte) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    #[test]
    fn a_dump_reads_and_writes_the_same_bytes() {
        let mut bytes = [0; 64];
        for (byte, code) in bytes.iter_mut().zip(PieceCode::ALL) {
            *byte = code.to_byte();
        }
        let dump = Dump::decode(&bytes).unwrap();
        assert_eq!(dump.code(Field::new(5).unwrap()), PieceCode::WhiteKing);
        assert_eq!(dump.encode(), bytes);
    }

    #[test]
    fn unknown_codes_and_fields_are_malformed() {
        let mut bytes = [0; 64];
        bytes[63] = 0x10;
        let malformed = Malformed { id: 0x86, defect: Defect::PieceCode(0x10) };
        assert_eq!(Dump::decode(&bytes), Err(malformed));
        let malformed = Malformed { id: 0x8E, defect: Defect::Field(64) };
        assert_eq!(Message::decode(0x8E, &[64, 1]), Err(malformed));
    }
}
