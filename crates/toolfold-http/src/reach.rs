//! Which addresses may be connected to, asked about the address itself, when it has been looked up and before it is
//! dialled. A name that is checked first and looked up afterwards may lead somewhere else by then.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use toolfold_wire::BoxFuture;
use tower_service::Service;

pub trait Reach: Send + Sync {
    /// Whether this address, which `host` was found to have, may be connected to.
    fn allows(&self, host: &str, address: IpAddr) -> bool;

    /// What is said of a host that may not be connected to.
    fn why(&self, host: &str) -> String {
        format!("{host} is on a private network, where logins are not looked for unless `private_hosts` names it")
    }
}

#[derive(Clone)]
pub(crate) struct Resolver {
    system: GaiResolver,
    reach: Option<Arc<dyn Reach>>,
}

impl Resolver {
    pub(crate) fn new(reach: Option<Arc<dyn Reach>>) -> Self {
        Resolver { system: GaiResolver::new(), reach }
    }
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.system.poll_ready(context)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (host, reach) = (name.as_str().to_owned(), self.reach.clone());
        let found = self.system.call(name);
        Box::pin(async move {
            let all: Vec<SocketAddr> = found.await?.collect();
            let Some(reach) = reach else { return Ok(all.into_iter()) };
            let left: Vec<SocketAddr> = all.iter().filter(|found| reach.allows(&host, found.ip())).copied().collect();
            // That there is such a name, and where it leads, is nobody's business who may not go there.
            if left.is_empty() && !all.is_empty() { Err(out_of_reach(&*reach, &host)) } else { Ok(left.into_iter()) }
        })
    }
}

pub(crate) fn out_of_reach(reach: &dyn Reach, host: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reach.why(host))
}
