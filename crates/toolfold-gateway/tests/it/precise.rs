//! The precise tier in the background, with an encoder that is tiny and knows nothing.

use std::path::{Path, PathBuf};

use toolfold_config::{Config, PreciseTier};
use toolfold_core::Fingerprint;
use toolfold_encoder::Encoder;
use toolfold_index::packed;
use toolfold_store::Store;

use crate::{number, server, start};

/// What is encoded of `home.greet`.
const GREET: &str = "home greet: Do greet.";

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolfold-encoder/tests/data/tiny.bin")
}

fn config(store: Option<PathBuf>) -> Config {
    Config { precise: PreciseTier::File(tiny()), store: store.map(Into::into), ..Config::default() }
}

/// What the store has for this text.
async fn remembered(store: &Path, text: &str) -> Option<Vec<u8>> {
    let store = Store::open(Some(store)).await.unwrap().store;
    let encoder = Encoder::open(&tiny()).unwrap();
    store.load_vectors(&encoder.identity(), vec![Fingerprint::of_text(text)]).await.unwrap().remove(0)
}

#[tokio::test]
async fn every_entry_has_its_vector_also_one_that_comes_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let gateway = start(config(Some(path.clone())));
    let encoder = Encoder::open(&tiny()).unwrap();
    let encoded = |text| Some(packed(&encoder.encode(text)));
    assert!(gateway.is_precise().await);
    assert_eq!(remembered(&path, GREET).await, encoded(GREET));
    gateway.register(server("acme-mcp-server", &["measureAll"])).await.unwrap();
    assert!(gateway.is_precise().await);
    let measure = "acme measure all: Do measureAll.";
    assert_eq!(remembered(&path, measure).await, encoded(measure));
}

#[tokio::test]
async fn what_was_encoded_is_not_encoded_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let gateway = start(config(Some(path.clone())));
    assert!(gateway.is_precise().await);
    gateway.stop().await;
    drop(gateway);

    // Another one in its place would be overwritten by whoever encodes the text once more.
    let store = Store::open(Some(&path)).await.unwrap().store;
    let encoder = Encoder::open(&tiny()).unwrap();
    let mut turned = encoder.encode(GREET);
    turned.whole.iter_mut().for_each(|number| *number = -*number);
    let turned = packed(&turned);
    store.save_vectors(&encoder.identity(), vec![(Fingerprint::of_text(GREET), turned.clone())]).await.unwrap();
    let gateway = start(config(Some(path.clone())));
    assert!(gateway.is_precise().await);
    assert_eq!(remembered(&path, GREET).await, Some(turned));
}

#[tokio::test]
async fn without_an_encoder_nobody_waits() {
    let missing = PathBuf::from("no/such/precise.bin");
    for precise in [PreciseTier::Off, PreciseTier::Auto(vec![missing.clone()]), PreciseTier::File(missing)] {
        let gateway = start(Config { precise, ..Config::default() });
        assert!(!gateway.is_precise().await);
    }
}

#[tokio::test]
async fn it_can_be_switched_off_and_on_again_and_ends_with_the_gateway() {
    let gateway = start(Config::default());
    assert!(!gateway.is_precise().await);
    for on in [true, false, true] {
        let number = number(&gateway).await;
        gateway.reconfigure(if on { config(None) } else { Config::default() });
        // Answered after everything that was sent before.
        gateway.register(server("home", &["greet"])).await.unwrap();
        assert!(crate::number(&gateway).await > number);
        assert_eq!(gateway.is_precise().await, on);
    }
    gateway.stop().await;
    // Nobody waits for a thread that has ended.
    assert!(gateway.is_precise().await);
}
