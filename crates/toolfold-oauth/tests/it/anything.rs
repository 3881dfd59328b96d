//! Whatever a server says it wants, it is read to its end; and what it says as it should is understood beside anything else.

use proptest::prelude::*;
use toolfold_oauth::Demand;

/// What challenges are made of, in any order.
fn likely() -> impl Strategy<Value = String> {
    let words = [
        "Bearer",
        "DPoP",
        "Basic",
        "bearer",
        " ",
        ",",
        "=",
        "\"",
        "\\",
        "\\\"",
        "scope",
        "error",
        "realm",
        "a b",
        "\t",
        "é",
        "resource_metadata",
        "https://x/y",
        "insufficient_scope",
        "dG9rZW4=",
        "==",
        ";",
        "\u{0}",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..40).prop_map(|words| words.concat())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

proptest! {
    #[test]
    fn any_headers(headers in prop::collection::vec(prop_oneof![any::<String>(), likely()], 0..4)) {
        let demand = Demand::read(headers.iter().map(String::as_str));
        let scopes: usize = demand.scopes.iter().map(String::len).sum();
        prop_assert!(scopes <= headers.iter().map(String::len).sum(), "{:?}", demand);
        prop_assert!(demand.scopes.iter().all(|scope| !scope.is_empty() && !scope.contains(' ')));
        prop_assert!(!(demand.is_for_more() && demand.is_for_nonce()));
    }

    #[test]
    fn what_is_said_as_it_should_be_is_understood(metadata in "[ -~]{0,30}", error in "[a-z_]{1,20}", before in likely()) {
        let said = format!("Bearer resource_metadata={}, error=\"{error}\"", quoted(&metadata));
        let demand = Demand::read([said.as_str()]);
        prop_assert_eq!(demand.metadata.as_deref(), Some(metadata.as_str()));
        prop_assert_eq!(demand.error.as_deref(), Some(error.as_str()));
        // A header that is nonsense takes nothing away from the next one.
        let both = Demand::read([before.as_str(), said.as_str()]);
        prop_assert!(both.metadata.is_some() && both.error.is_some());
    }
}
