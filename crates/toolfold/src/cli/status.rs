//! `toolfold status`: how the servers are. Those that nothing is known of yet are asked; the others are only looked up.

use clap::Args;
use toolfold_gateway::ServerStatus;

use super::open::with_gateway;
use super::output::{plain, print, print_json, table};
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Status {}

impl Status {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        with_gateway(common, async |gateway, _| {
            let servers = gateway.status().await;
            if common.json {
                print_json(&servers)?;
            } else {
                print(&table(&servers.iter().map(row).collect::<Vec<_>>()))?;
            }
            let failing = servers.iter().filter(|server| server.state == "failing").count();
            match failing {
                0 => Ok(()),
                1 => Err(Fail::server("1 server is failing.")),
                many => Err(Fail::server(format!("{many} servers are failing."))),
            }
        })
    }
}

fn row(server: &ServerStatus) -> Vec<String> {
    let tools = if server.tools == 1 { "1 tool".to_owned() } else { format!("{} tools", server.tools) };
    vec![
        server.name.to_string(),
        server.state.to_owned(),
        tools,
        server.protocol.clone().unwrap_or_default(),
        plain(&server.why.clone().unwrap_or_default()),
    ]
}
