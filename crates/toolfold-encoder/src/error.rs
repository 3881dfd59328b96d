//! Why a file is not an encoder. None of these ends the program: without an encoder, search goes on with what is in the
//! binary.

use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the encoder {path} cannot be used: {problem}", path = path.display())]
pub struct EncoderError {
    pub path: PathBuf,
    pub problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("{why}")]
    Unreadable { why: String },
    #[error("it is not an encoder file")]
    Foreign,
    #[error("its format is {found}, this Toolfold knows {known}")]
    OtherFormat { found: u32, known: u32 },
    #[error("it should have {expected} bytes and has {found}")]
    Length { expected: u64, found: u64 },
    #[error("it says that it has {value} {what}")]
    Absurd { what: &'static str, value: u32 },
    #[error("its vocabulary {why}")]
    Vocabulary { why: String },
    #[error("there is a number in it that is none")]
    NotANumber,
}

impl EncoderError {
    pub fn hint(&self) -> &'static str {
        match self.problem {
            Problem::Unreadable { .. } => {
                "name a file that can be read with `precise = \"…\"` below [search], or leave that out"
            }
            Problem::Foreign => "`precise` below [search] must name a precise.bin, as it is released with Toolfold",
            Problem::OtherFormat { .. } => "take the precise.bin that was released with this version of Toolfold",
            Problem::Length { .. } | Problem::Absurd { .. } | Problem::Vocabulary { .. } | Problem::NotANumber => {
                "the file is damaged or was not copied to its end: get it again"
            }
        }
    }
}
