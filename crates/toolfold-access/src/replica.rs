//! What the replicas of one cluster give out and believe of each other: ids that name their owner, and who a request is
//! from that one of them sends on to another.
//!
//! What a reader would get wrong: an id is no right. It says who has what it stands for, and for whom; whoever brings it
//! has shown who they are before it is looked at, and in the hands of another it names nobody.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use ring::hmac;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolfold_core::{Credential, Identity, Principal, Proof};

use crate::heard::Heard;
use crate::seal::Seal;

/// Random bytes of an id, bytes that name a replica, and bytes that show that one of the cluster made it.
const RANDOM: usize = 16;
const NAME: usize = 8;
const TAG: usize = 16;

/// The header of a request that is sent on with who it is from, and the one with the SHA-256 of its body.
pub const VOUCHER: &str = "toolfold-voucher";
pub const VOUCHED_BODY: &str = "toolfold-body";

/// How long a request may be on its way from one replica to the next, in seconds.
const ON_THE_WAY: u64 = 30;
/// A word that says it is good for longer than this is not one of ours, or was given by a clock that nobody has set.
pub(crate) const LONGEST: u64 = 2 * ON_THE_WAY;

/// A replica, from its start to its end: one that is started again is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReplicaId([u8; NAME]);

impl ReplicaId {
    pub fn new(random: [u8; NAME]) -> Self {
        ReplicaId(random)
    }

    pub fn parse(text: &str) -> Option<Self> {
        let whole = text.len() == 2 * NAME && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        whole.then(|| u64::from_str_radix(text, 16).ok()).flatten().map(|number| ReplicaId(number.to_be_bytes()))
    }
}

impl std::fmt::Display for ReplicaId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

/// What an id stands for. One that was made for one thing is none for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handle {
    Session,
    /// A call that waits for an answer of its client.
    Parked,
}

/// A replica's own name, and what it shares with the others.
pub struct Standing {
    pub id: ReplicaId,
    ids: hmac::Key,
    vouchers: Seal,
    states: [u8; 32],
    /// By how many seconds the clock that all replicas go by is ahead of this machine's.
    ahead: AtomicI64,
    /// How many words this replica has given.
    given: AtomicU64,
    heard: Mutex<Heard>,
}

/// A request that is sent on, as far as what is said of it must not be of use for another one.
#[derive(Debug, Clone, Copy)]
pub struct Passed<'a> {
    /// Where it goes. What was meant for one replica is nothing to another.
    pub to: ReplicaId,
    pub method: &'a str,
    pub path: &'a str,
    /// What its body has to be.
    pub body: &'a BodyHash,
}

/// The SHA-256 of the body of a request that is sent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyHash([u8; 32]);

impl BodyHash {
    pub fn of(body: &[u8]) -> Self {
        BodyHash(Sha256::digest(body).into())
    }

    pub fn parse(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text).ok()?;
        bytes.try_into().ok().map(BodyHash)
    }
}

impl std::fmt::Display for BodyHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&BASE64.encode(self.0))
    }
}

impl Standing {
    pub fn new(id: ReplicaId, secret: &str) -> Standing {
        let root = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let derived = |purpose: &str| {
            let mut key = [0; 32];
            key.copy_from_slice(hmac::sign(&root, purpose.as_bytes()).as_ref());
            key
        };
        Standing {
            id,
            ids: hmac::Key::new(hmac::HMAC_SHA256, &derived("toolfold ids")),
            vouchers: Seal::new(derived("toolfold vouchers")),
            states: derived("toolfold states"),
            ahead: AtomicI64::new(0),
            given: AtomicU64::new(0),
            heard: Mutex::default(),
        }
    }

    /// Learns what time it is for all replicas, and what it is here: by how much theirs is ahead. Both in seconds since 1970.
    pub fn set_clock(&self, shared: u64, here: u64) -> i64 {
        let ahead = shared.cast_signed().saturating_sub(here.cast_signed());
        self.ahead.store(ahead, Ordering::Relaxed);
        ahead
    }

    /// What time it is for all replicas when it is `here` on this machine: their clocks need not agree.
    pub fn shared_time(&self, here: u64) -> u64 {
        here.saturating_add_signed(self.ahead.load(Ordering::Relaxed))
    }

    /// The key that what servers give to clients is sealed with, the same for all replicas.
    pub fn state_key(&self) -> [u8; 32] {
        self.states
    }

    /// An id of something that this replica has, for one principal.
    pub fn name(&self, handle: Handle, principal: &Principal, random: [u8; RANDOM]) -> String {
        let mut bytes = [random.as_slice(), &self.id.0].concat();
        let tag = hmac::sign(&self.ids, &signed(handle, principal, &bytes));
        bytes.extend_from_slice(&tag.as_ref()[..TAG]);
        BASE64.encode(bytes)
    }

    /// Whose an id was when it was made, where it was made by one of the cluster, for this and for this principal.
    pub fn owner(&self, handle: Handle, principal: &Principal, id: &str) -> Option<ReplicaId> {
        if id.len() > 2 * (RANDOM + NAME + TAG) {
            return None;
        }
        let bytes = BASE64.decode(id).ok().filter(|bytes| bytes.len() == RANDOM + NAME + TAG)?;
        let (named, tag) = bytes.split_at(RANDOM + NAME);
        let whole = hmac::sign(&self.ids, &signed(handle, principal, named));
        let difference = whole.as_ref()[..TAG].iter().zip(tag).fold(0, |found, (a, b)| found | (a ^ b));
        let name: [u8; NAME] = named[RANDOM..].try_into().ok()?;
        (difference == 0).then_some(ReplicaId(name))
    }

    /// The headers that a request is sent on with. `now` as in [`Standing::vouch`].
    pub fn headers(
        &self,
        request: Passed<'_>,
        principal: &Principal,
        peer: &str,
        now: u64,
    ) -> [(&'static str, String); 2] {
        [(VOUCHER, self.vouch(request, principal, peer, now)), (VOUCHED_BODY, request.body.to_string())]
    }

    /// Says who a request is from that is sent on. `now` is in seconds since 1970, by this machine's clock.
    pub fn vouch(&self, request: Passed<'_>, principal: &Principal, peer: &str, now: u64) -> String {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        let said = Said { from: self.id.to_string(), number, ..Said::of(principal, peer) };
        let said = serde_json::to_string(&said).unwrap_or_default();
        self.vouchers.close(&request.text(), self.shared_time(now) + ON_THE_WAY, &said)
    }

    /// Who a request is from, by the word of the replica that has sent it on. A word counts once: who has overheard one has nothing.
    pub fn vouched(&self, request: Passed<'_>, voucher: &str, now: u64) -> Option<(Principal, String)> {
        let now = self.shared_time(now);
        let (until, said) = self.vouchers.opened(&request.text(), voucher)?;
        if !(1..=LONGEST).contains(&until.checked_sub(now)?) {
            return None;
        }
        let said = serde_json::from_str::<Said>(&said).ok()?;
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        // A replica of before words were numbered says nothing of who it is.
        if ReplicaId::parse(&said.from).is_some_and(|from| !heard.hear((from, said.number), now)) {
            return None;
        }
        drop(heard);
        said.principal()
    }
}

impl Passed<'_> {
    fn text(&self) -> String {
        format!("{}\n{}\n{}\n{}", self.to, self.method, self.body, self.path)
    }
}

fn signed(handle: Handle, principal: &Principal, named: &[u8]) -> Vec<u8> {
    let kind: &[u8] = match handle {
        Handle::Session => b"session",
        Handle::Parked => b"parked",
    };
    [kind, b"\n", named, principal.key().as_bytes()].concat()
}

/// A principal on the wire between two replicas.
#[derive(Serialize, Deserialize)]
struct Said {
    name: String,
    proof: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    issuer: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scopes: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    claims: BTreeMap<String, Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ends_at: Option<u64>,
    /// The address it came from.
    peer: String,
    /// Which replica says it, and how many times it has said something before.
    #[serde(default)]
    from: String,
    #[serde(default)]
    number: u64,
}

impl Said {
    fn of(principal: &Principal, peer: &str) -> Said {
        let Identity { name, proof, groups, scopes, claims } = principal.identity().clone();
        let (proof, issuer) = match proof {
            Proof::Local => ("local", String::new()),
            Proof::Token => ("token", String::new()),
            Proof::Named => ("named", String::new()),
            Proof::Signed(issuer) => ("signed", issuer),
            Proof::Introspected(issuer) => ("introspected", issuer),
        };
        let Credential { given_at, ends_at } = principal.credential();
        let (proof, peer, from) = (proof.to_owned(), peer.to_owned(), String::new());
        Said { name, proof, issuer, groups, scopes, claims, given_at, ends_at, peer, from, number: 0 }
    }

    fn principal(self) -> Option<(Principal, String)> {
        let Said { name, proof, issuer, groups, scopes, claims, given_at, ends_at, peer, .. } = self;
        let proof = match proof.as_str() {
            "local" => Proof::Local,
            "token" => Proof::Token,
            "named" => Proof::Named,
            "signed" => Proof::Signed(issuer),
            "introspected" => Proof::Introspected(issuer),
            _ => return None,
        };
        let principal = Principal::new(Identity { name, proof, groups, scopes, claims });
        Some((principal.showing(Credential { given_at, ends_at }), peer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(id: u8, secret: &str) -> Standing {
        Standing::new(ReplicaId::new([id; NAME]), secret)
    }

    #[test]
    fn an_id_names_its_owner_to_whom_it_was_given_and_to_nobody_else() {
        let (one, other) = (standing(1, "shared"), standing(2, "shared"));
        let (alice, bob) = (Principal::named("alice", Vec::new()), Principal::named("bob", Vec::new()));
        let id = one.name(Handle::Session, &alice, [7; RANDOM]);
        assert_eq!(other.owner(Handle::Session, &alice, &id), Some(one.id));
        assert_eq!(other.owner(Handle::Session, &bob, &id), None);
        assert_eq!(other.owner(Handle::Parked, &alice, &id), None);
        assert_eq!(standing(2, "another").owner(Handle::Session, &alice, &id), None);
        assert_eq!(other.owner(Handle::Session, &alice, &"A".repeat(10_000)), None);
        for place in 0..id.len() {
            let mut changed = id.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(other.owner(Handle::Session, &alice, &changed), None, "{place}");
        }
    }

    #[test]
    fn a_voucher_is_for_one_request_one_replica_and_a_while() {
        let (one, other) = (standing(1, "shared"), standing(2, "shared"));
        let identity = Identity {
            name: "alice".into(),
            proof: Proof::Signed("https://id.example".into()),
            groups: vec!["ops".into()],
            scopes: vec!["tools".into()],
            claims: BTreeMap::from([("team".to_owned(), vec!["a".to_owned()])]),
        };
        let alice = Principal::new(identity).showing(Credential { given_at: Some(7), ends_at: Some(2000) });
        let (body, another) = (BodyHash::of(&[1, 2]), BodyHash::of(&[1, 3]));
        assert_eq!(BodyHash::parse(&body.to_string()), Some(body));
        let request = Passed { to: other.id, method: "POST", path: "/mcp", body: &body };
        let voucher = one.vouch(request, &alice, "10.0.0.1", 1000);
        let (known, peer) = other.vouched(request, &voucher, 1001).unwrap();
        assert!(known.says_the_same(&alice) && known.credential() == alice.credential() && peer == "10.0.0.1");
        assert!(other.vouched(request, &voucher, 1001).is_none(), "it has been used");
        let (voucher, again) = (one.vouch(request, &alice, "::1", 1000), one.vouch(request, &alice, "::1", 1000));
        assert!(other.vouched(request, &voucher, 1000 + ON_THE_WAY).is_none(), "over");
        assert!(other.vouched(request, &again, 999 - ON_THE_WAY).is_none(), "from a time that is to come");
        assert!(other.vouched(request, &again, 1002).is_some(), "two of the same are two");
        let voucher = one.vouch(request, &alice, "10.0.0.1", 1000);
        for another in [
            Passed { to: one.id, ..request },
            Passed { method: "GET", ..request },
            Passed { path: "/mcp/direct", ..request },
            Passed { body: &another, ..request },
        ] {
            assert!(other.vouched(another, &voucher, 1001).is_none(), "{another:?}");
        }
        assert!(standing(2, "another").vouched(request, &voucher, 1001).is_none());
    }

    #[test]
    fn clocks_need_not_agree() {
        let (one, other) = (standing(1, "shared"), standing(2, "shared"));
        let alice = Principal::named("alice", Vec::new());
        let body = BodyHash::of(b"{}");
        let request = Passed { to: other.id, method: "POST", path: "/mcp", body: &body };
        // The first is an hour behind, the other two hours ahead.
        let (here, there) = (100_000 - 3_600, 100_000 + 7_200);
        let voucher = one.vouch(request, &alice, "::1", here);
        assert!(other.vouched(request, &voucher, there).is_none());
        assert_eq!((one.set_clock(100_000, here), other.set_clock(100_000, there)), (3_600, -7_200));
        let voucher = one.vouch(request, &alice, "::1", here);
        assert!(other.vouched(request, &voucher, there + ON_THE_WAY).is_none(), "over");
        assert!(other.vouched(request, &voucher, there + 1).is_some());
    }

    #[test]
    fn a_replica_is_called_as_it_is_written() {
        let id = ReplicaId::new([0, 1, 2, 3, 252, 253, 254, 255]);
        assert_eq!(ReplicaId::parse(&id.to_string()), Some(id));
        for odd in ["", "0", "+001020304050607", "0001020304050607 ", "g001020304050607"] {
            assert_eq!(ReplicaId::parse(odd), None, "{odd}");
        }
    }
}
