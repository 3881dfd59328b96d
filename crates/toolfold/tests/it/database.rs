//! What a person does where the store is a database: move what there is, read the audit, and start a cluster.

use std::process::Output;

use serde_json::{Value, json};
use toolfold_test::{FakeServer, Postgres};

use crate::fakes::world;
use crate::world::World;

/// What a command says with this store.
fn run(world: &World, store: &str, arguments: &[&str]) -> Output {
    let mut command = world.toolfold(arguments);
    // Logins in a database need a key of their own.
    command.env("TOOLFOLD_KEY", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").env("TOOLFOLD_STORE", store);
    command.output().unwrap()
}

fn printed(world: &World, store: &str, arguments: &[&str]) -> String {
    let output = run(world, store, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_store_is_copied_into_a_database_and_back() {
    let postgres = Postgres::start();
    let database = postgres.url("copied");
    let fake = FakeServer::script(json!({"tools": ["look"]}));
    let world = world("", &[("fake", &fake)]);
    let (file, back) = (world.path("store.db").display().to_string(), world.path("back.db").display().to_string());
    printed(&world, &file, &["call", "fake.look"]);
    printed(&world, &file, &["token", "add", "alice"]);
    let tokens = printed(&world, &file, &["token", "list", "--json"]);

    printed(&world, &file, &["store", "copy", &file, &database]);
    assert_eq!(printed(&world, &database, &["token", "list", "--json"]), tokens);
    let shown = printed(&world, &database, &["show", "fake.look"]);
    assert!(shown.contains("look"), "{shown}");
    // Twice is once too often, unless it is meant; and nothing of it is done then.
    printed(&world, &database, &["token", "add", "bob"]);
    let refused = run(&world, &file, &["store", "copy", &file, &database]);
    assert_eq!(refused.status.code(), Some(1), "{}", String::from_utf8_lossy(&refused.stderr));
    assert!(printed(&world, &database, &["token", "list"]).contains("bob"));

    printed(&world, &file, &["store", "copy", &database, &back]);
    let moved = printed(&world, &back, &["token", "list"]);
    assert!(moved.contains("alice") && moved.contains("bob"), "{moved}");
    printed(&world, &file, &["store", "copy", &file, &database, "--replace"]);
    assert_eq!(printed(&world, &database, &["token", "list", "--json"]), tokens, "bob is gone with what was replaced");

    let same = run(&world, &file, &["store", "copy", &file, &file]);
    assert_eq!(same.status.code(), Some(2));
    let nowhere = run(&world, &file, &["store", "copy", &file, "postgres://toolfold:hunter2@127.0.0.1:1/none"]);
    let told = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert!(nowhere.status.code() == Some(3) && !told.contains("hunter2"), "{told}");
}

#[test]
fn the_audit_of_all_is_read_in_the_database() {
    let postgres = Postgres::start();
    let database = postgres.url("audited");
    let fake = FakeServer::script(json!({"tools": ["look"]}));
    let worlds = [world("", &[("fake", &fake)]), world("", &[("fake", &fake)])];
    for world in &worlds {
        printed(world, &database, &["call", "fake.look"]);
    }
    let json_of = |arguments: &[&str]| -> Value {
        serde_json::from_str(&printed(&worlds[0], &database, &[arguments, &["--json"]].concat())).unwrap()
    };
    // What each wrote is brought there when it ends, and one sees what the other did.
    let traced = json_of(&["audit", "trace", "fake.look"]);
    let chains: std::collections::BTreeSet<String> =
        traced.as_array().unwrap().iter().map(|event| event["chain"].to_string()).collect();
    assert_eq!((traced.as_array().unwrap().len(), chains.len()), (4, 2), "{traced}");
    let heads = json_of(&["audit", "head"]);
    assert_eq!(heads.as_array().unwrap().len(), 2, "{heads}");
    let (chain, number) = (traced[0]["chain"].as_str().unwrap(), traced[0]["event"]["number"].to_string());
    let shown = json_of(&["audit", "show", &format!("{chain}/{number}")]);
    assert_eq!(shown["event"]["tool"], "fake.look", "{shown}");
    let exported = printed(&worlds[1], &database, &["audit", "export"]);
    assert!(exported.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["chain"].is_string()));
    assert!(run(&worlds[0], &database, &["audit", "verify"]).status.success());
    // Brought into another database from a backup, where the numbers of transactions begin anew: it is from before what happens there.
    let shown = printed(&worlds[0], &database, &["audit", "tail"]);
    let later = "UPDATE toolfold.audit SET committed = (committed::text::bigint + 4000000000)::text::xid8";
    postgres.sql("audited", later).unwrap();
    assert_eq!(printed(&worlds[0], &database, &["audit", "tail"]), shown);
    printed(&worlds[1], &database, &["call", "fake.look"]);
    let longer = printed(&worlds[0], &database, &["audit", "tail"]);
    assert!(longer.starts_with(&shown) && longer.len() > shown.len(), "{longer}");
    // Somebody with the database's password writes history anew: it shows.
    let forged = "UPDATE toolfold.audit SET body = convert_to(replace(convert_from(body, 'UTF8'), 'fake.look', 'fake.hook'), 'UTF8')";
    postgres.sql("audited", forged).unwrap();
    assert!(!run(&worlds[0], &database, &["audit", "verify"]).status.success());
}

#[test]
fn a_cluster_does_not_start_without_its_database() {
    let cluster =
        "[cluster]\nadvertise = \"http://127.0.0.1:7421\"\nsecret = \"0123456789012345678901234567890123456789\"\n";
    let world = World::with_config(cluster);
    let away = run(&world, "postgres://toolfold:hunter2@127.0.0.1:1/none", &["serve", "--listen", "127.0.0.1:0"]);
    let told = String::from_utf8_lossy(&away.stderr).into_owned();
    assert!(!away.status.success() && told.contains("127.0.0.1:1") && !told.contains("hunter2"), "{told}");
    // Nor with one that nobody shares.
    let file = world.path("store.db").display().to_string();
    let alone = run(&world, &file, &["serve", "--listen", "127.0.0.1:0"]);
    let told = String::from_utf8_lossy(&alone.stderr).into_owned();
    assert!(!alone.status.success() && told.contains("database"), "{told}");
}
