//! What is blanked in whatever is written down: what the configuration gives to servers, and what is asked of clients.

use toolfold_audit::Hides;
use toolfold_config::Config;
use toolfold_upstream::{Blanks, speaks_of_secret};

pub(crate) struct Secrets(Blanks);

impl Secrets {
    pub(crate) fn of(config: &Config) -> Self {
        let mut own: Vec<_> = config.http.token.iter().chain(config.telemetry.headers.values()).cloned().collect();
        own.extend(config.cluster.iter().map(|cluster| cluster.secret.clone()));
        own.extend(config.store.iter().filter_map(|store| store.database()?.password()));
        Secrets(Blanks::of_all(config.servers.values(), &own))
    }
}

impl Hides for Secrets {
    fn hide(&self, text: &str) -> String {
        self.0.blank(text)
    }

    fn is_secret_name(&self, name: &str) -> bool {
        speaks_of_secret(name)
    }
}
