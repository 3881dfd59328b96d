//! `toolfold token`: tokens that are given out under a name, and taken back.
//!
//! What a reader would get wrong: a token is printed once and kept nowhere. The store has a hash of it, and whoever serves
//! looks there with every request, so that what is revoked here is refused there from then on.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use serde_json::json;
use toolfold_access::NewToken;
use toolfold_audit::{Moment, shown_time};
use toolfold_core::{RESERVED, shown_line};
use toolfold_store::{Store, StoreError, StoredToken};

use super::open::runtime;
use super::output::{print, print_json, table, tell};
use super::{Common, Fail};

#[derive(Args)]
#[command(
    after_help = "A token is for one person or program, who sends it as `Authorization: Bearer …`. What they may see and call is \
said by the rules of the configuration, by name and by group; without rules, everything. It is printed once and kept as a hash. \
Taking one back takes effect at once, in every Toolfold that shares the store. Exit codes: 0 done, 1 no such token, 2 usage or \
configuration, 3 the store cannot be used."
)]
pub(crate) struct TokenCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Make a token and print it, once
    Add {
        /// Whose it is: letters, digits, and any of . _ @ -
        name: String,
        /// When it ends by itself: after 12h, 30d or 52w [default: never]
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        expires: Option<Duration>,
        /// Groups that its owner is in, for rules
        #[arg(long, value_name = "GROUP", value_delimiter = ',')]
        groups: Vec<String>,
    },
    /// List the tokens there are, without what they are
    List,
    /// Take a token back
    Revoke {
        /// Whose it is
        name: String,
    },
}

/// Characters of a name, and of a group.
const LONGEST_NAME: usize = 64;
const LONGEST_TIME: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

impl TokenCommand {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let config = common.load(&common.options())?.config;
        let Some(place) = config.store else {
            return Err(Fail::usage("there is no store to keep a token in")
                .hint("set `store` in the configuration to a path, or HOME, so that there is a place for it"));
        };
        runtime()?.block_on(async {
            let store = Store::at(Some(&place)).await.map_err(|error| unusable(&error))?.store;
            let outcome = self.what.done(&store, common).await;
            store.close().await;
            outcome
        })
    }
}

impl What {
    async fn done(self, store: &Store, common: &Common) -> Result<(), Fail> {
        match self {
            What::Add { name, expires, groups } => add(store, common, name, expires, groups).await,
            What::List => list(store, common).await,
            What::Revoke { name } => {
                if !store.revoke_token(&name).await.map_err(|error| unusable(&error))? {
                    return Err(Fail::nothing(format!("There is no token for {}.", shown_line(&name)))
                        .hint("`toolfold token list` tells which there are"));
                }
                match common.json {
                    true => print_json(&json!({"revoked": name})),
                    false => print(&format!("The token of {name} is not accepted any more.")),
                }
            }
        }
    }
}

async fn add(
    store: &Store,
    common: &Common,
    name: String,
    expires: Option<Duration>,
    groups: Vec<String>,
) -> Result<(), Fail> {
    for given in std::iter::once(&name).chain(&groups) {
        check(given)?;
    }
    if RESERVED.contains(&name.to_lowercase().as_str()) {
        return Err(Fail::usage(format!("{name} is the name of whoever runs Toolfold")).hint("choose another name"));
    }
    let mut random = [0u8; 32];
    getrandom::fill(&mut random).map_err(|error| Fail::machine(format!("the system has no randomness: {error}")))?;
    let token = NewToken::of(random);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let expires_at = expires.map(|after| (now + after).as_millis() as i64);
    let stored = StoredToken {
        name: name.clone(),
        groups: groups.clone(),
        beginning: token.beginning,
        created_at: now.as_millis() as i64,
        expires_at,
    };
    if !store.add_token(token.hash, stored).await.map_err(|error| unusable(&error))? {
        return Err(Fail::usage(format!("there is a token for {name} already"))
            .hint(format!("take it back first: toolfold token revoke {name}")));
    }
    if common.json {
        let token = token.secret.expose();
        return print_json(&json!({"name": name, "token": token, "groups": groups, "expires": expires_at.map(time)}));
    }
    if !common.quiet {
        let end = expires_at.map_or(String::new(), |at| format!(", until {}", time(at)));
        tell(&format!("A token for {name}{end}. It is shown this once: copy it now."));
    }
    print(token.secret.expose())
}

async fn list(store: &Store, common: &Common) -> Result<(), Fail> {
    let tokens = store.tokens().await.map_err(|error| unusable(&error))?;
    if common.json {
        let all = tokens.iter().map(|token| {
            json!({
                "name": token.name,
                "groups": token.groups,
                "beginning": token.beginning,
                "created": time(token.created_at),
                "expires": token.expires_at.map(time),
                "expired": is_expired(token),
            })
        });
        return print_json(&all.collect::<Vec<_>>());
    }
    if tokens.is_empty() {
        return Err(Fail::nothing("No token was given out.").hint("toolfold token add NAME"));
    }
    let rows: Vec<Vec<String>> = tokens
        .iter()
        .map(|token| {
            let end = match token.expires_at {
                None => "does not expire".to_owned(),
                Some(at) if is_expired(token) => format!("expired {}", time(at)),
                Some(at) => format!("until {}", time(at)),
            };
            vec![shown_line(&token.name).into_owned(), format!("{}…", token.beginning), end, token.groups.join(", ")]
        })
        .collect();
    print(&table(&rows))
}

fn check(name: &str) -> Result<(), Fail> {
    let known = |c: char| c.is_ascii_alphanumeric() || "._@-".contains(c);
    if (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(known) {
        return Ok(());
    }
    Err(Fail::usage(format!("{:?} cannot be a name", shown_line(name)))
        .hint("use 1 to 64 letters, digits, and any of . _ @ -"))
}

pub(crate) fn is_expired(token: &StoredToken) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
    token.expires_at.is_some_and(|at| at <= now)
}

/// As the audit shows times.
fn time(milliseconds: i64) -> String {
    shown_time(Moment(milliseconds.saturating_mul(1000)))
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || "write a number and a unit: 12h, 30d or 52w".to_owned();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?);
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        "w" => 7 * 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let time = number.checked_mul(seconds).map(Duration::from_secs).filter(|time| *time <= LONGEST_TIME);
    time.filter(|time| !time.is_zero()).ok_or_else(wrong)
}

fn unusable(error: &StoreError) -> Fail {
    Fail::machine(shown_line(&error.to_string())).hint(error.hint())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_a_number_and_a_unit() {
        assert_eq!(parse_time("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(parse_time("90s"), Ok(Duration::from_secs(90)));
        for wrong in ["", "d", "30", "30y", "-1d", "0h", "1.5h", "99999999999999999999w", "9999999999w"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }
}
