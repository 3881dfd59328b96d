//! Databases in place of files, and replicas that share one.

use insta::assert_snapshot;
use toolfold_config::{ClusterSettings, Loaded, Problems, load};
use toolfold_core::StorePlace;

use crate::options;

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn with(text: &str) -> Result<Loaded, Problems> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("toolfold.toml"), text).unwrap();
    let mut options = toolfold_config::LoadOptions { file: Some("toolfold.toml".into()), ..options(folder.path()) };
    options.data_dir = Some("/state/toolfold".into());
    options.environment.insert("PASSWORD".to_owned(), "sesame".to_owned());
    options.environment.insert("SECRET".to_owned(), SECRET.to_owned());
    load(&options)
}

#[test]
fn a_store_may_be_a_database_whose_password_is_never_shown() {
    let config = with("store = \"postgres://ada:${PASSWORD}@db/tools?sslmode=require\"").unwrap().config;
    let place = config.store.clone().unwrap();
    assert_eq!(place.to_string(), "postgres://ada@db/tools");
    let StorePlace::Database(url) = place else { panic!("{place}") };
    assert_eq!(url.expose(), "postgres://ada:sesame@db/tools?sslmode=require");
    assert!(!format!("{config:?}").contains("sesame"));
    // Events are written on this machine first, and brought to the database.
    assert_eq!(config.audit.path.unwrap().to_str(), Some("/state/toolfold/toolfold.audit.db"));
    assert_eq!(config.audit.database, Some(url));
    let named = with("store = \"postgres://db/tools\"\n[audit]\npath = \"/a.db\"").unwrap().config.audit;
    assert_eq!((named.path.unwrap().to_str(), named.database), (Some("/a.db"), None));
}

#[test]
fn a_cluster_needs_a_database_an_address_and_a_secret() {
    let store = "store = \"postgres://db/tools\"\n";
    let whole = "[cluster]\nadvertise = \"http://10.0.0.5:7421/\"\nsecret = \"${SECRET}\"\nlisten = \"0.0.0.0:7421\"";
    let cluster = with(&format!("{store}{whole}")).unwrap().config.cluster.unwrap();
    let ClusterSettings { advertise, listen, secret } = cluster;
    assert_eq!((advertise.as_str(), secret.expose()), ("http://10.0.0.5:7421", SECRET));
    assert_eq!(listen.unwrap().to_string(), "0.0.0.0:7421");
    assert_snapshot!(with(whole).unwrap_err(), @r#"
    toolfold.toml:1:2: cluster: needs a database that all replicas share, and the store is none
      hint: set `store = "postgres://…"` to the database that all replicas use, or take [cluster] out
    "#);
    assert_snapshot!(with(&format!("{store}[cluster]")).unwrap_err(), @r#"
    toolfold.toml:2:2: cluster: does not say where this replica is reached
      hint: write where other replicas reach this one: advertise = "http://${POD_IP}:7421"
    toolfold.toml:2:2: cluster: has no secret that replicas know each other by
      hint: put the same random text into a variable of every replica, and name it: secret = "${TOOLFOLD_CLUSTER_SECRET}"; `openssl rand -hex 32` makes one
    "#);
    let wrong = "[cluster]\nadvertise = \"10.0.0.5\"\nsecret = \"short\"\nlisten = \"x\"";
    assert_snapshot!(with(&format!("{store}{wrong}")).unwrap_err(), @r#"
    toolfold.toml:3:1: cluster.advertise: "10.0.0.5" is not an address of HTTP without a path
      hint: write where other replicas reach this one: advertise = "http://${POD_IP}:7421"
    toolfold.toml:4:1: cluster.secret: is shorter than 32 characters
      hint: put the same random text into a variable of every replica, and name it: secret = "${TOOLFOLD_CLUSTER_SECRET}"; `openssl rand -hex 32` makes one
    toolfold.toml:5:1: cluster.listen: "x" is not an address to listen on
      hint: write an address and a port: "127.0.0.1:7420"
    "#);
}
