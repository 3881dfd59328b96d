//! Our count against an independent implementation of the same encoding.

use proptest::prelude::*;
use regex::Regex;
use toolfold_disclosure::tokens::count;

fn reference(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

#[track_caller]
fn same(text: &str) {
    assert_eq!(count(text), reference(text), "{:?}", text.chars().take(200).collect::<String>());
}

#[test]
fn prose_code_and_json_count_the_same() {
    for text in [
        "",
        " ",
        "\n",
        "Hello, world! It's a test; I'LL be there. We'Ve done it, you're right, 'twas I'd.",
        "fn main() {\n    println!(\"{}\", 1 + 2);\n}\n\n\n\tlet x = y;   \n  ",
        r#"{"name":"create_issue","inputSchema":{"type":"object","properties":{"owner":{"type":"string"}}}}"#,
        "    leading\n\n  \t mixed \r\n\r\n lines //// ///\n http://example.org/a/b?c=d#e",
        "1234567890 3.14159 1,000,000 ٣٤٥ Ⅷ½",
        "Straße ÀÉÎ naïve ǅungla ǈ œuvre façade Ÿ",
        "你好,世界。これはテストです。안녕하세요 สวัสดี नमस्ते مرحبا שלום",
        "e\u{301}A\u{301}B \u{301}X \u{301}\u{302} ʰʲ ªº",
        "👩‍👩‍👧‍👦 🏳️‍🌈 😀😀 — … “quotes” ‘it’s’ it'ſ",
        "camelCaseHTTPServer SCREAMING_SNAKE_CASE kebab-case XMLHttpRequest",
        "\u{a0}nbsp\u{2003}em\u{3000}ideographic\u{85}next",
    ] {
        same(text);
    }
}

#[test]
fn runs_without_a_break_count_the_same_and_end() {
    for unit in ["a", "ab", "A", "é", "界", "=", " ", "\n", "aB", "xyzzy", "\u{301}"] {
        for length in [50, 97, 200, 1000] {
            same(&unit.repeat(length));
        }
    }
    assert!(count(&"abcdefgh".repeat(16_384)) > 0);
}

#[test]
fn our_own_sources_count_the_same() {
    for file in ["src/lib.rs", "src/tokens/pieces.rs", "src/tokens/merge.rs", "Cargo.toml", "tests/it/tokens.rs"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        same(&std::fs::read_to_string(path).unwrap());
    }
}

#[test]
fn characters_of_all_kinds_count_the_same_between_letters() {
    // One in 61: the table behind it is compared whole below.
    for chunk in (' '..=char::MAX).step_by(61).collect::<Vec<_>>().chunks(64) {
        let text: String = chunk.iter().flat_map(|c| [*c, 'a', *c, 'B', ' ', *c, '1']).collect();
        same(&text);
    }
}

/// The table of categories is made here: `TOOLFOLD_WRITE_DATA=1` writes it anew.
#[test]
fn the_table_of_categories_is_that_of_the_regex_crate() {
    let classes = [
        (1u32, r"^[\p{Lu}\p{Lt}]$"),
        (2, r"^\p{Ll}$"),
        (3, r"^[\p{Lm}\p{Lo}]$"),
        (4, r"^\p{M}$"),
        (5, r"^\p{N}$"),
        (6, r"^\s$"),
    ]
    .map(|(number, pattern)| (number, Regex::new(pattern).unwrap()));
    let mut table = Vec::new();
    let mut last = u32::MAX;
    for c in '\0'..=char::MAX {
        let text = c.to_string();
        let class = classes.iter().find(|(_, pattern)| pattern.is_match(&text)).map_or(0, |(number, _)| *number);
        if class != last {
            table.extend(((c as u32) << 3 | class).to_le_bytes());
            last = class;
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/classes.bin");
    if std::env::var_os("TOOLFOLD_WRITE_DATA").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    assert!(std::fs::read(path).unwrap() == table, "data/classes.bin is not what the regex crate says");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_text_counts_the_same(text in "\\PC{0,200}|[a-zA-Z0-9 '\\n\\r\\t/.,;{}\":_-]{0,300}|(\\PC|\\s){0,100}") {
        prop_assert_eq!(count(&text), reference(&text));
    }
}
