//! Who may do what, as pure functions: what rules come to for somebody, what a token looks like, and whether one that an
//! issuer signed is what it says. No IO and no runtime: whoever asks brings the keys and the documents. The one clock is that of
//! the library that reads signed tokens.

mod heard;
mod jwt;
mod replica;
mod rights;
mod seal;
mod token;

pub use jwt::{BadToken, Claimed, Keys, Trusted, claimed, introspected, is_signed, verify};
pub use replica::{BodyHash, Handle, Passed, ReplicaId, Standing, VOUCHED_BODY, VOUCHER};
pub use rights::{Extent, Grant, Reason, Rights, Rules, Subject};
pub use seal::{SEALED, Seal};
pub use token::{NewToken, TOKEN_PREFIX, digest, is_named_token};
