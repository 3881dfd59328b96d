//! The store on a real disk, with other processes in the way.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that panics has said what it had to say")]

mod children;
mod cluster;
mod copy;
mod damage;
mod failures;
mod habits;
mod logins;
mod manifests;
mod pins;
mod postgres;
mod tokens;
mod toolsets;
mod usage;
mod vectors;

use std::path::Path;

use tempfile::TempDir;
use toolfold_core::{DatabaseUrl, Fingerprint, ServerName, StorePlace};
use toolfold_store::{Store, StoreError};

/// Somewhere that a store can be opened again and again.
pub(crate) struct Home {
    pub(crate) place: StorePlace,
    _folder: Option<TempDir>,
}

impl Home {
    fn file() -> Home {
        let folder = tempfile::tempdir().unwrap();
        let place = StorePlace::File(folder.path().join("deep/er/toolfold.db"));
        Home { place, _folder: Some(folder) }
    }

    fn database(url: &str) -> Home {
        Home { place: StorePlace::Database(DatabaseUrl::parse(url).unwrap()), _folder: None }
    }

    pub(crate) async fn open(&self) -> Store {
        let opened = Store::at(Some(&self.place)).await.unwrap();
        assert_eq!(opened.notice, None);
        opened.store
    }

    /// Whether there is a file of the record.
    pub(crate) fn has_record(&self) -> bool {
        self.place.file().is_some_and(|path| Store::record_path(path).exists())
    }
}

/// What both engines pass: each with a file of its own, and all of them with a real PostgreSQL, a database each.
macro_rules! both {
    ($($module:ident :: $test:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                crate::$module::$test(crate::Home::file()).await;
            })*
        }

        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn postgresql_passes_what_sqlite_passes() {
            let server = toolfold_test::Postgres::start();
            $(
                println!("{}::{}", stringify!($module), stringify!($test));
                // A name of a database is cut off after 63 characters.
                let name: String = concat!("t_", stringify!($test)).chars().take(60).collect();
                $module::$test(Home::database(&server.url(&name))).await;
            )*
        }
    };
}

both!(
    failures::remembered_until_it_starts,
    failures::however_long_it_is_and_however_many_there_are,
    habits::an_occasion_counts_once_and_catalogs_are_apart,
    habits::texts_are_taken_out_for_who_must_not_keep_them,
    habits::what_is_forgotten_is_gone,
    habits::there_is_a_bound_and_habits_outlive_accidents,
    logins::a_login_is_whose_it_is_and_outlives_the_process,
    logins::one_of_several_processes_renews_a_login,
    manifests::saved_replaced_and_forgotten,
    manifests::one_name_in_two_projects,
    manifests::old_configurations_of_a_name_are_dropped,
    manifests::shared_between_threads,
    manifests::what_was_asked_before_it_closed_is_done,
    manifests::more_than_can_wait_is_refused,
    manifests::a_panic_does_not_end_it,
    manifests::fifty_servers_and_six_megabytes,
    pins::what_is_pinned_stays_until_somebody_decides,
    pins::sources_are_numbered_as_they_came,
    pins::what_was_decided_of_a_name_is_told_to_whoever_has_it_next,
    pins::a_source_goes_on_under_another_key,
    pins::declared_risk_is_kept_until_somebody_decides,
    pins::a_text_is_kept_as_it_was_last_accepted,
    tokens::what_one_process_revokes_another_does_not_know_any_more,
    tokens::what_has_expired_is_listed_and_not_found,
    toolsets::kept_by_their_handle_across_a_restart,
    usage::the_most_called_come_first,
    vectors::each_text_has_its_own_from_each_encoder,
);

async fn open(path: &Path) -> Store {
    let opened = Store::open(Some(path)).await.unwrap();
    assert_eq!(opened.notice, None);
    opened.store
}

fn server(name: &str) -> ServerName {
    ServerName::new(name).unwrap()
}

fn key(text: &str) -> Fingerprint {
    Fingerprint::of_text(text)
}

/// Remembers a list.
async fn save(store: &Store, name: &str, config: &str, json: &str) -> Result<(), StoreError> {
    let json = json.to_owned();
    store.save_manifest(&server(name), &key(config), move || json).await
}

/// Name and text of everything that is remembered, in order.
async fn remembered(store: &Store) -> Vec<(String, String)> {
    let mut all: Vec<_> =
        store.load_manifests().await.unwrap().into_iter().map(|m| (m.server.to_string(), m.json)).collect();
    all.sort();
    all
}
