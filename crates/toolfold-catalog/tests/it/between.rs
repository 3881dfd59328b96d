//! Spellings between which a server's name ends here or there.

use toolfold_catalog::{Catalog, Unresolved};

use crate::read;

/// Names of servers and of tools may have underscores of their own: nobody gets the calls of another.
#[test]
fn a_spelling_that_two_servers_could_mean_is_ambiguous() {
    let shorter = || read("a", true, &["b__c", "_x"]);
    let longer = || read("a__b", true, &["c"]);
    let id = |catalog: &Catalog, spelling: &str| match catalog.resolve(spelling) {
        Ok(position) => catalog.entry(position).id.to_string(),
        Err(Unresolved::Ambiguous { candidates }) => candidates.join(" "),
        Err(Unresolved::Unknown) => "unknown".to_owned(),
    };
    let (one, other) = (Catalog::merge(1, [shorter()]), Catalog::merge(1, [longer()]));
    let both = Catalog::merge(1, [shorter(), longer()]);
    let found = [&one, &other, &both].map(|catalog| id(catalog, "a__b__c"));
    assert_eq!(found, ["a.b__c", "a__b.c", "a.b__c a__b.c"]);
    for spelling in ["a/b__c", "a.b__c", "a:b__c"] {
        assert_eq!(id(&both, spelling), "a.b__c", "{spelling}");
    }
    assert_eq!(id(&both, "a__b/c"), "a__b.c");
    assert_eq!(id(&both, "a___x"), "a._x");
}
