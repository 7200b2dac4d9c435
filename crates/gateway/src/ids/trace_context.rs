//! Where in a trace something happens, by the W3C's trace context: what callers, servers and we are told
//! apart and put together by, in whichever system looks at them.

use std::fmt::Write as _;

/// What is read of `tracestate`.
const STATE_BYTES_MAX: usize = 512;
const STATE_MEMBERS_MAX: usize = 32;

/// `00-` and 32, 16 and 2 hexadecimal digits with dashes between them.
const TRACEPARENT_BYTES: usize = 55;

/// Sampled, and random: all that are defined.
const FLAGS_KNOWN: u8 = 0b11;

/// One span of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceContext {
    trace: [u8; 16],
    span: [u8; 8],
    flags: u8,
    /// What other systems want to be carried along.
    state: Option<String>,
}

impl TraceContext {
    /// As a caller wrote it; `None` if that is not one. A state that cannot be right is left out.
    pub fn read(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let text = traceparent.trim();
        let fixed = text.get(..TRACEPARENT_BYTES)?;
        let version = bytes::<1>(fixed.get(..2)?)?[0];
        let is_whole = match (version, text.as_bytes().get(TRACEPARENT_BYTES)) {
            (0xff, _) => false,
            (_, None) => true,
            (0, Some(_)) => false,
            (_, Some(next)) => *next == b'-',
        };
        let dashes = [2, 35, 52].iter().all(|at| fixed.as_bytes()[*at] == b'-');
        let (trace, span) = (bytes::<16>(fixed.get(3..35)?)?, bytes::<8>(fixed.get(36..52)?)?);
        let flags = bytes::<1>(fixed.get(53..)?)?[0] & FLAGS_KNOWN;
        let is_sound = is_whole && dashes && trace != [0; 16] && span != [0; 8];
        let state = tracestate.map(str::trim).filter(|state| is_state(state)).map(str::to_owned);
        is_sound.then_some(Self { trace, span, flags, state })
    }

    /// The first span of a trace of our own; `None` without random numbers.
    pub fn root() -> Option<Self> {
        let mut trace = [0; 16];
        getrandom::fill(&mut trace).ok()?;
        let root = Self { trace, span: [0; 8], flags: FLAGS_KNOWN, state: None };
        root.child()
    }

    /// A new span of the same trace; `None` without random numbers.
    pub fn child(&self) -> Option<Self> {
        let mut span = [0; 8];
        getrandom::fill(&mut span).ok()?;
        // All zeros is no span.
        span[0] |= 1;
        Some(Self { span, ..self.clone() })
    }

    /// As it is sent.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-{:02x}", self.trace_id(), self.span_id(), self.flags)
    }

    /// As it is sent beside the other, if there is one.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Whether whoever began it wants to see it.
    pub fn is_sampled(&self) -> bool {
        self.flags & 1 == 1
    }

    /// In hexadecimal digits.
    pub fn trace_id(&self) -> String {
        hex(&self.trace)
    }

    /// In hexadecimal digits.
    pub fn span_id(&self) -> String {
        hex(&self.span)
    }
}

fn is_state(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= STATE_BYTES_MAX
        && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.split(',').count() <= STATE_MEMBERS_MAX
        && text.split(',').all(|member| member.trim().is_empty() || member.contains('='))
}

/// Lower case only, as the standard wants it.
fn bytes<const COUNT: usize>(digits: &str) -> Option<[u8; COUNT]> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if digits.len() != COUNT * 2 || !digits.bytes().all(is_digit) {
        return None;
    }
    let mut read = [0; COUNT];
    for (at, place) in read.iter_mut().enumerate() {
        *place = u8::from_str_radix(digits.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(read)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_trace_context_is_read_and_goes_on_in_a_new_span_of_the_same_trace() {
        let read = TraceContext::read(GOOD, Some("vendor=1,other=2")).expect("a context");
        assert_eq!((read.traceparent().as_str(), read.tracestate()), (GOOD, Some("vendor=1,other=2")));
        let child = read.child().expect("a span");
        assert_eq!((child.trace_id(), child.tracestate()), (read.trace_id(), read.tracestate()));
        assert_ne!(child.span_id(), read.span_id());
        assert_eq!(TraceContext::read(&child.traceparent(), child.tracestate()), Some(child));
        let later = TraceContext::read(&format!("cc{}-what-ever", &GOOD[2..]), None).expect("a context");
        assert_eq!(later.traceparent(), GOOD);
    }

    #[test]
    fn what_is_no_trace_context_is_not_one() {
        let zero_trace = format!("00-{}-b7ad6b7169203331-01", "0".repeat(32));
        let zero_span = format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", "0".repeat(16));
        let wrong = [
            "",
            "00",
            &GOOD[..54],
            &format!("{GOOD}-x"),
            &format!("cc{}x", &GOOD[2..]),
            &format!("ff{}", &GOOD[2..]),
            &GOOD.to_uppercase(),
            &GOOD.replace('-', "_"),
            &zero_trace,
            &zero_span,
            &format!("{}é", &GOOD[..54]),
        ];
        for text in wrong {
            assert_eq!(TraceContext::read(text, None), None, "{text}");
        }
        for state in ["", "novalue", "a=\u{1}", "a=ü", &"a=1,".repeat(200)] {
            let read = TraceContext::read(GOOD, Some(state)).expect("a context");
            assert_eq!(read.tracestate(), None, "{state}");
        }
    }
}
