//! Which trace something belongs to: `traceparent` of W3C's Trace Context, which MCP carries in `_meta`.

use toolfold_core::{from_hex, to_hex};
use toolfold_wire::Object;

const META: &str = "_meta";
const TRACEPARENT: &str = "traceparent";
/// Longer ones are of a version that nobody knows.
const LONGEST: usize = 128;

/// A place in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    pub trace: [u8; 16],
    pub span: [u8; 8],
    pub parent: Option<[u8; 8]>,
    pub sampled: bool,
}

impl Context {
    /// Below what the request says it belongs to; a trace of its own where it says nothing that can be read.
    pub fn of(params: &Object) -> Context {
        match said(params).and_then(|text| Context::parse(&text)) {
            Some(theirs) => theirs.child(),
            None => Context { trace: random(), span: random(), parent: None, sampled: true },
        }
    }

    pub fn child(&self) -> Context {
        Context { span: random(), parent: Some(self.span), ..*self }
    }

    /// Writes itself into the parameters of a request; the rest of `_meta` stays as it is.
    pub fn write(&self, params: &mut Object) {
        let mut about = params.object(META).unwrap_or_default();
        about.set(TRACEPARENT, &self.to_string());
        params.set(META, &about);
    }

    /// What a `traceparent` says; `None` where it cannot be read.
    pub fn parse(text: &str) -> Option<Context> {
        let mut parts = text.split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        // Lower case, as the specification has it.
        let trace: [u8; 16] = from_hex(trace)?;
        let span: [u8; 8] = from_hex(span)?;
        let [version]: [u8; 1] = from_hex(version)?;
        let [flags]: [u8; 1] = from_hex(flags)?;
        let usable = version != 0xff && trace != [0; 16] && span != [0; 8] && (version > 0 || parts.next().is_none());
        usable.then_some(Context { trace, span, parent: None, sampled: flags & 1 == 1 })
    }
}

impl std::fmt::Display for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "00-{}-{}-{:02x}", to_hex(&self.trace), to_hex(&self.span), u8::from(self.sampled))
    }
}

/// What a request says, looked for before anything is parsed: most say nothing.
fn said(params: &Object) -> Option<String> {
    let about = params.get(META).filter(|about| about.get().contains(TRACEPARENT))?;
    Object::parse(about)?.string(TRACEPARENT).filter(|text| text.len() <= LONGEST)
}

/// Never all zeros, which means none.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Without randomness all spans look alike, which is no reason to fail.
    if getrandom::fill(&mut bytes).is_err() || bytes == [0; N] {
        bytes = [1; N];
    }
    bytes
}

#[cfg(test)]
mod tests {
    use toolfold_wire::raw_of;

    use super::*;

    fn params(text: &str) -> Object {
        Object::parse(&raw_of(text).unwrap()).unwrap()
    }

    #[test]
    fn a_trace_is_continued_and_the_rest_of_meta_is_left_alone() {
        let theirs = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let mut asked =
            params(&format!(r#"{{"name":"x","_meta":{{"a":1e400,"traceparent":"{theirs}","tracestate":"v=1"}}}}"#));
        let ours = Context::of(&asked);
        assert_eq!(ours.parent, Context::parse(theirs).map(|theirs| theirs.span));
        let sent = ours.child();
        sent.write(&mut asked);
        assert_eq!(
            asked.to_raw().get(),
            format!(r#"{{"name":"x","_meta":{{"a":1e400,"traceparent":"{sent}","tracestate":"v=1"}}}}"#)
        );
        assert!(
            sent.to_string().starts_with("00-0af7651916cd43dd8448eb211c80319c-") && sent.to_string().ends_with("-01")
        );
    }

    #[test]
    fn what_cannot_be_read_begins_a_trace_of_its_own() {
        for odd in [
            "",
            "00",
            "00-0-0-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        ] {
            let context = Context::of(&params(&format!(r#"{{"_meta":{{"traceparent":"{odd}"}}}}"#)));
            assert_eq!(context.parent, None, "{odd}");
        }
    }
}
