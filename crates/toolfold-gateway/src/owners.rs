//! Whose a prompt or an address is that somebody asks for, and what they are told where it is nobody's, several servers' or held.
//!
//! What a reader would get wrong: an owner is no permission. What exists for whoever asks is looked at here, because a server's
//! resource need not be listed; whether they may have it is for the gate.

use toolfold_access::Extent;
use toolfold_core::{Absence, Absent, Code, Refusal, ServerName};
use toolfold_wire::RpcError;

use crate::dispatch::only;
use crate::gate::{Failed, Gate, Wanted};
use crate::offers::{LONGEST_ADDRESS, Owned, Whose};
use crate::request::Request;
use crate::rpc::{contested, is_away, may_be_missing, no_prompt, no_resource, rpc};
use crate::snapshot::Snapshot;
use crate::trust::Held;

pub(crate) struct Owners<'a> {
    pub(crate) gate: &'a Gate,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) request: &'a Request,
}

impl<'a> Owners<'a> {
    pub(crate) fn of_prompt(&self, name: &str) -> Result<&'a Owned, RpcError> {
        let snapshot = self.snapshot;
        snapshot.offers.prompts.owner(name).ok_or_else(|| match snapshot.quarantine.prompt(name) {
            Some(held) => self.withheld(held),
            None => no_prompt(snapshot, name),
        })
    }

    /// The server that a resource is asked of, and what it calls it. An address that nobody lists is asked of the server
    /// whose result held the link, or of the one whose template makes it, or of the only one that has resources at all, where no
    /// other is about to come; otherwise of nobody.
    pub(crate) fn of_resource(&self, uri: &str) -> Result<Owned, RpcError> {
        let owner = self.existing(uri, self.of_anything(uri)?)?;
        // What is not listed can be asked for all the same; what is held cannot.
        match self.snapshot.quarantine.resource(&owner.server, &owner.original) {
            Some(held) => Err(self.withheld(held)),
            None => Ok(owner),
        }
    }

    /// Whose an address is that is no template, where it is only named and not asked for.
    pub(crate) fn of_address(&self, uri: &str) -> Result<Owned, RpcError> {
        if uri.len() > LONGEST_ADDRESS {
            return Err(self.nobody(uri));
        }
        let (owner, held) = match self.snapshot.offers.resource(uri) {
            Whose::Several(servers) => return Err(contested(uri, &servers)),
            Whose::Away(server) => return Err(is_away(&self.request.client, uri, &server)),
            // With its server's name before it, it may be anything that the server has.
            Whose::One(owner) => {
                let owner = self.existing(uri, owner)?;
                let held = self.snapshot.quarantine.resource(&owner.server, &owner.original);
                (Some(owner), held)
            }
            Whose::Nobody => (None, self.snapshot.held_address(uri)),
        };
        match held {
            Some(held) => Err(self.withheld(held)),
            None => owner.ok_or_else(|| self.nobody(uri)),
        }
    }

    /// Its server may exist for whoever asks, and it may not.
    fn existing(&self, uri: &str, owner: Owned) -> Result<Owned, RpcError> {
        if self.snapshot.decision_on_resource(&owner.server, &owner.original).level > Extent::Nothing {
            return Ok(owner);
        }
        let refusal = Failed::Refused(Refusal::new(Code::NotAuthorized, "it does not exist for whoever asks"));
        let what = Wanted::Resource(&owner.original);
        self.gate.recording.denied_passage(self.request, self.snapshot, &owner.server, what, &refusal);
        Err(self.nobody(uri))
    }

    fn of_anything(&self, uri: &str) -> Result<Owned, RpcError> {
        if uri.len() > LONGEST_ADDRESS {
            return Err(self.nobody(uri));
        }
        let (snapshot, client) = (self.snapshot, &self.request.client);
        let one = |server: ServerName| Ok(Owned { server, original: uri.to_owned() });
        match snapshot.offers.named(uri) {
            Whose::One(owner) => return Ok(owner),
            Whose::Several(servers) => return Err(contested(uri, &servers)),
            Whose::Away(server) => return Err(is_away(client, uri, &server)),
            Whose::Nobody => {}
        }
        // Whoever gave it out is asked, whatever templates others have.
        let mut linked = self.gate.linked(&client.principal(), uri);
        linked.retain(|server| snapshot.is_seen(server));
        match linked.as_slice() {
            [] => {}
            [server] => return one(server.clone()),
            several => return Err(contested(uri, several)),
        }
        match snapshot.offers.made_by_template(uri) {
            Whose::One(owner) => return Ok(owner),
            Whose::Several(servers) => return Err(contested(uri, &servers)),
            Whose::Away(_) | Whose::Nobody => {}
        }
        if let Some(held) = snapshot.held_address(uri) {
            return Err(self.withheld(held));
        }
        // One that nothing was ever heard of has told nobody an address; one that is coming may be about to.
        let is_coming = |absent: &Absent| absent.state == Absence::Starting;
        match only(snapshot.offers.servers()) {
            Some(alone) if !snapshot.absent.iter().any(is_coming) => one(alone),
            Some(alone) => Err(may_be_missing(client, uri, &alone)),
            None => Err(self.nobody(uri)),
        }
    }

    fn nobody(&self, uri: &str) -> RpcError {
        no_resource(&self.request.client, uri)
    }

    /// What somebody is told who asked for something that is held.
    fn withheld(&self, held: &Held) -> RpcError {
        self.gate.recording.refused_held(self.request, self.snapshot, held);
        self.gate.instruments.meter.refused(Code::Quarantined.as_str());
        rpc(Failed::Refused(held.refusal()))
    }
}
