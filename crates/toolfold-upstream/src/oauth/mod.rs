//! Logins at servers: what [`toolfold_oauth`] says is to be asked is asked here, what it makes of the answers is kept, and
//! requests are signed with it.
//!
//! What a reader would get wrong: no login is ever begun here because something failed. A server that wants a person is in
//! the state `needs login` until a person wants it too, and says so with a command or by answering a client's question.

mod account;
mod callback;
mod failed;
mod fetch;
mod need;
mod plan;
mod reach;
mod renew;
mod signer;
mod vault;
mod visit;

pub(crate) use account::Account;
pub use failed::{NoLogin, NoVisitor};
pub use need::Need;
pub(crate) use signer::Signer;
pub use vault::{KeptLogin, Leased, LoginOwner, MemoryVault, NotKept, Record, Vault};
pub use visit::{Unvisited, Visit};
