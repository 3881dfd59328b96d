//! Variables and flags: what beats what, and how their mistakes are shown.

use insta::assert_snapshot;
use toolfold_config::{LoadOptions, Loaded, PreciseTier, Problems, load};
use toolfold_core::Surface;

use crate::options;

fn with(text: &str, variables: &[(&str, &str)], more: impl FnOnce(&mut LoadOptions)) -> Result<Loaded, Problems> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("toolfold.toml"), text).unwrap();
    let mut options = LoadOptions { file: Some("toolfold.toml".into()), ..options(folder.path()) };
    options.environment.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    more(&mut options);
    load(&options)
}

#[test]
fn a_flag_beats_a_variable_beats_the_file() {
    let surface = |variables: &[(&str, &str)], flag| {
        with("surface = \"direct\"", variables, |options| options.surface = flag).unwrap().config.surface
    };
    assert_eq!(surface(&[], None), Surface::Direct);
    assert_eq!(surface(&[("TOOLFOLD_SURFACE", "compact")], None), Surface::Compact);
    assert_eq!(surface(&[("TOOLFOLD_SURFACE", "")], None), Surface::Direct);
    assert_eq!(surface(&[("TOOLFOLD_SURFACE", "compact"), ("TOOLFOLD_DISCLOSURE", "off")], None), Surface::Direct);
    assert_eq!(surface(&[("TOOLFOLD_DISCLOSURE", "off")], Some(Surface::Compact)), Surface::Compact);

    let listen = |variables: &[(&str, &str)], flag: Option<&str>| {
        let flag = flag.map(|text| text.parse().unwrap());
        let loaded = with("[http]\nlisten = \"127.0.0.1:1\"", variables, |options| options.listen = flag);
        loaded.unwrap().config.http.listen.to_string()
    };
    assert_eq!(listen(&[], None), "127.0.0.1:1");
    assert_eq!(listen(&[("TOOLFOLD_LISTEN", "localhost:2")], None), "127.0.0.1:2");
    assert_eq!(listen(&[("TOOLFOLD_LISTEN", "127.0.0.1:2")], Some("127.0.0.1:3")), "127.0.0.1:3");
}

#[test]
fn the_store() {
    let store = |text: &str, variables: &[(&str, &str)]| {
        let loaded = with(text, variables, |options| options.data_dir = Some("/state/toolfold".into()));
        loaded.unwrap().config.store.map(|place| place.to_string())
    };
    assert_eq!(store("", &[]).as_deref(), Some("/state/toolfold/toolfold.db"));
    assert_eq!(store("store = \"memory\"", &[]), None);
    assert_eq!(store("store = \"~/t.db\"", &[]).as_deref(), Some("/home/ada/t.db"));
    assert_eq!(store("store = \"memory\"", &[("TOOLFOLD_STORE", "/x/t.db")]).as_deref(), Some("/x/t.db"));
    assert_eq!(store("", &[("TOOLFOLD_STORE", "memory")]), None);
    assert_eq!(with("", &[], |_| ()).unwrap().config.store, None);
}

#[test]
fn the_encoder() {
    let precise = |text: &str| {
        let loaded = with(text, &[("MODELS", "/models")], |options| {
            options.program_dir = Some("/opt/toolfold".into());
            options.data_dir = Some("/state/toolfold".into());
        });
        loaded.unwrap().config.precise
    };
    let anywhere = ["/opt/toolfold/precise.bin", "/state/toolfold/precise.bin"].map(Into::into).to_vec();
    assert_eq!(precise(""), PreciseTier::Auto(anywhere.clone()));
    assert_eq!(precise("[search]\nprecise = \"auto\""), PreciseTier::Auto(anywhere));
    assert_eq!(precise("[search]\nprecise = \"off\""), PreciseTier::Off);
    assert_eq!(precise("[search]\nprecise = \"${MODELS}/e.bin\""), PreciseTier::File("/models/e.bin".into()));
    assert_snapshot!(with("[search]\nprecise = \"\"", &[], |_| ()).unwrap_err(), @r#"
    toolfold.toml:2:1: search.precise: is empty
      hint: write a path, "auto" or "off"
    "#);
}

#[test]
fn mistakes() {
    let wrong = [("TOOLFOLD_SURFACE", "dirct"), ("TOOLFOLD_DISCLOSURE", "no"), ("TOOLFOLD_LISTEN", "everywhere")];
    assert_snapshot!(with("", &wrong, |_| ()).unwrap_err(), @r#"
    TOOLFOLD_SURFACE: there is no surface "dirct"
      hint: did you mean `direct`?
    TOOLFOLD_DISCLOSURE: "no" is neither `on` nor `off`
    TOOLFOLD_LISTEN: "everywhere" is not an address to listen on
      hint: write an address and a port: "127.0.0.1:7420"
    "#);
    assert_snapshot!(with("", &[("TOOLFOLD_LISTEN", "0.0.0.0:1")], |_| ()).unwrap_err(), @r#"
    TOOLFOLD_LISTEN: 0.0.0.0:1 can be reached from other machines, and nobody has to show who they are
      hint: set `token` under `[http]`, name `[[issuers]]`, or write `local = false` and give out tokens with `toolfold token add`, or listen on 127.0.0.1
    "#);
    let flag = |options: &mut LoadOptions| options.listen = Some("0.0.0.0:1".parse().unwrap());
    assert_snapshot!(with("[http]\nlisten = \"127.0.0.1:2\"", &[], flag).unwrap_err(), @r#"
    --listen: 0.0.0.0:1 can be reached from other machines, and nobody has to show who they are
      hint: set `token` under `[http]`, name `[[issuers]]`, or write `local = false` and give out tokens with `toolfold token add`, or listen on 127.0.0.1
    "#);
    // The address of the file would be refused, but is not the one that is used.
    let home = |options: &mut LoadOptions| options.listen = Some("127.0.0.1:1".parse().unwrap());
    assert!(with("[http]\nlisten = \"0.0.0.0:2\"", &[], home).is_ok());
}
