//! The clients on this machine, and whether they use Toolfold. That one does not is no failure: it may not be meant to.

use toolfold_clients::{Environment, KnownClient, Verified, clients, gone, points_here, verify, withheld};

use super::super::own_file::shown_path;
use super::rung::{Ladder, Rung};

/// `variables`: what the configuration names, and a client has to hand on. `ask`: their own status commands are run, which takes
/// seconds each.
pub(crate) async fn look(environment: &Environment, variables: &[String], ask: bool) -> Ladder {
    let mut ladder = Ladder::new("Clients");
    let present: Vec<&'static KnownClient> = clients().filter(|client| client.is_present(environment)).collect();
    for client in &present {
        let file = client.own_file(environment).map(|path| shown_path(&path, environment)).unwrap_or_default();
        let (lost, kept) = (gone(environment, client), withheld(environment, client, variables));
        ladder.push(match points_here(environment, client) {
            true if lost.is_some() => {
                let what = lost.map(|path| shown_path(&path, environment)).unwrap_or_default();
                Rung::bad("leads nowhere", format!("the entry of {} names {what}, which is not there", client.name))
                    .advised(format!("write it anew: toolfold install {}", client.id))
            }
            true if !kept.is_empty() => {
                Rung::note("no variables", format!("{} does not hand on {}", client.name, kept.join(", ")))
                    .advised(format!("name them in its entry: toolfold install {}", client.id))
            }
            true if ask => asked(environment, client).await,
            true => Rung::good("uses Toolfold", format!("{}  {file}", client.name)),
            false if client.is_written => {
                Rung::note("not yet", client.name).advised(format!("toolfold install {}", client.id))
            }
            false => Rung::good("only read", format!("{}  {file}", client.name)),
        });
    }
    if present.is_empty() {
        ladder.push(Rung::good("none", "no client that Toolfold knows is on this machine"));
    }
    ladder
}

async fn asked(environment: &Environment, client: &'static KnownClient) -> Rung {
    let surroundings = environment.clone();
    let verdict = tokio::task::spawn_blocking(move || verify(&surroundings, client)).await;
    match verdict {
        Ok(Verified::Connected) => Rung::good("connected", client.name),
        Ok(Verified::Listed) => {
            Rung::good("listed", format!("{}: whether it connects shows when it is started", client.name))
        }
        Ok(Verified::Unknown(why)) => {
            Rung::good("uses Toolfold", format!("{}, and cannot be asked: {why}", client.name))
        }
        Ok(Verified::Failed(said)) => Rung::bad("fails", format!("{} does not reach Toolfold", client.name))
            .saying(Some(said))
            .advised(format!("write its entry anew: toolfold install {}", client.id)),
        Err(error) => Rung::bad("fails", format!("{}: {error}", client.name)),
    }
}
