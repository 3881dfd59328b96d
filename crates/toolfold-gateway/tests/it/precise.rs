//! The precise tier in the background, with an encoder that is tiny and knows nothing.

use std::path::{Path, PathBuf};

use toolfold_config::{Config, Precise};
use toolfold_core::Fingerprint;
use toolfold_encoder::Encoder;
use toolfold_gateway::Gateway;
use toolfold_store::Store;

use crate::{server, start};

/// What is encoded of `home.greet`.
const GREET: &str = "home greet: Do greet.";

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolfold-encoder/tests/data/tiny.bin")
}

fn config(store: Option<PathBuf>) -> Config {
    Config { precise: Precise::File(tiny()), store, ..Config::default() }
}

/// Whether a vector is this one, but for what a byte a dimension loses.
fn is_near(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.01)
}

async fn vector(gateway: &Gateway, id: &str) -> Vec<f32> {
    let precise = gateway.precise().await.unwrap();
    let snapshot = gateway.latest();
    precise.entry(snapshot.catalog.resolve(id).unwrap())
}

#[tokio::test]
async fn every_entry_has_its_vector_also_one_that_comes_later() {
    let gateway = start(config(None));
    let encoder = Encoder::open(&tiny()).unwrap();
    assert!(is_near(&vector(&gateway, "home.greet").await, &encoder.encode(GREET)));
    assert!(gateway.latest().index.is_precise());
    gateway.register(server("acme-mcp-server", &["measureAll"])).await.unwrap();
    let expected = encoder.encode("acme measure all: Do measureAll.");
    assert!(is_near(&vector(&gateway, "acme-mcp-server.measureAll").await, &expected));
    assert!(is_near(&vector(&gateway, "home.greet").await, &encoder.encode(GREET)));
    assert_eq!(gateway.precise().await.unwrap().query("greet"), encoder.encode("greet"));
}

#[tokio::test]
async fn what_was_encoded_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let gateway = start(config(Some(path.clone())));
    let first = vector(&gateway, "home.greet").await;
    gateway.stop().await;
    drop(gateway);

    let store = Store::open(Some(&path)).unwrap().store;
    let encoder = Encoder::open(&tiny()).unwrap();
    let key = [Fingerprint::of_text(GREET)];
    let remembered = store.load_vectors(&encoder.identity(), &key).unwrap().remove(0).unwrap();
    // Another one in its place shows where the next start has it from.
    let turned: Vec<u8> =
        remembered.iter().enumerate().map(|(at, byte)| if at < 4 { *byte } else { 0u8.wrapping_sub(*byte) }).collect();
    store.save_vectors(&encoder.identity(), &[(key[0], turned)]).unwrap();
    let gateway = start(config(Some(path)));
    let turned: Vec<f32> = first.iter().map(|number| -number).collect();
    assert_eq!(vector(&gateway, "home.greet").await, turned);
}

#[tokio::test]
async fn without_an_encoder_nobody_waits() {
    let missing = PathBuf::from("no/such/precise.bin");
    for precise in [Precise::Off, Precise::Auto(vec![missing.clone()]), Precise::File(missing)] {
        let gateway = start(Config { precise, ..Config::default() });
        assert!(gateway.precise().await.is_none());
    }
}

#[tokio::test]
async fn it_can_be_switched_off_and_on_again_and_ends_with_the_gateway() {
    let gateway = start(Config::default());
    assert!(gateway.precise().await.is_none());
    for on in [true, false, true] {
        let number = gateway.snapshot().await.catalog.number();
        gateway.reconfigure(if on { config(None) } else { Config::default() });
        // Answered after everything that was sent before.
        gateway.register(server("home", &["greet"])).await.unwrap();
        assert!(gateway.latest().catalog.number() > number);
        assert_eq!(gateway.precise().await.is_some(), on);
    }
    gateway.stop().await;
    assert!(gateway.precise().await.is_none());
}
