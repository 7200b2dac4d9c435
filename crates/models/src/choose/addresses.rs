//! Addresses as people paste them: with or without a scheme, a path, a slash at the end.

use url::Url;

use crate::defaults::OLLAMA_PORT;
use crate::dialect::Dialect;
use crate::endpoint::is_here;

/// What can't be an address of a provider, for people.
pub(super) fn parse(text: &str) -> Result<Url, String> {
    let text = text.trim();
    let has_scheme = text.contains("://");
    let url = if has_scheme { Url::parse(text) } else { Url::parse(&format!("https://{text}")) };
    let url = url.ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let mut url = url.ok_or("the address isn't one; write it as https://host/path")?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the address has a user name or a password in it; use a key".to_owned());
    }
    if !has_scheme && is_here(&url) {
        // It can't fail: both are schemes with a host.
        let _ = url.set_scheme("http");
    }
    Ok(url)
}

/// Where requests of a dialect are posted, below a base such as `https://host/v1`. What people paste may already
/// have the end of it.
pub(super) fn below(mut base: Url, dialect: Dialect) -> Url {
    let path = base.path().trim_end_matches('/');
    let ends = ["/chat/completions", "/responses", "/messages"];
    let path = ends.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
    let path = match dialect {
        Dialect::Messages => format!("{}/v1/messages", path.strip_suffix("/v1").unwrap_or(path)),
        Dialect::Responses => format!("{}/responses", or_v1(path)),
        Dialect::Chat => format!("{}/chat/completions", or_v1(path)),
    };
    base.set_path(&path);
    base.set_query(None);
    base.set_fragment(None);
    base
}

/// A bare host means the usual version.
fn or_v1(path: &str) -> &str {
    if path.is_empty() { "/v1" } else { path }
}

/// `OLLAMA_HOST`, as Ollama reads it: its server listens there, so every address of a machine is this machine's
/// own.
pub(super) fn ollama(text: &str) -> Result<Url, String> {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let rest = if rest.starts_with(':') { format!("127.0.0.1{rest}") } else { rest.to_owned() };
    let mut url = parse(&format!("{scheme}://{rest}"))?;
    if url.port().is_none() && !text.contains("://") {
        // It can't fail for an address with a host.
        let _ = url.set_port(Some(OLLAMA_PORT));
    }
    let own = match url.host_str() {
        Some("0.0.0.0") => Some("127.0.0.1"),
        Some("[::]") => Some("[::1]"),
        Some(_) | None => None,
    };
    if own.is_some() {
        let _ = url.set_host(own);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_completed_however_they_are_pasted() {
        let check = |text: &str, dialect: Dialect, expected: &str| {
            assert_eq!(below(parse(text).expect(text), dialect).as_str(), expected, "{text}");
        };
        let chat = "https://x.example/v1/chat/completions";
        for pasted in [
            "x.example",
            "https://x.example",
            "https://x.example/",
            "https://x.example/v1/",
            "https://x.example/v1/chat/completions",
            " https://x.example/v1/responses?a=b#c ",
        ] {
            check(pasted, Dialect::Chat, chat);
        }
        check("localhost:1234", Dialect::Chat, "http://localhost:1234/v1/chat/completions");
        check("http://127.0.0.1:1234/api", Dialect::Chat, "http://127.0.0.1:1234/api/chat/completions");
        check("https://api.openai.com/v1", Dialect::Responses, "https://api.openai.com/v1/responses");
        for pasted in ["https://a.example", "https://a.example/v1/", "https://a.example/v1/messages"] {
            check(pasted, Dialect::Messages, "https://a.example/v1/messages");
        }
        check("https://a.example/proxy", Dialect::Messages, "https://a.example/proxy/v1/messages");
    }

    #[test]
    fn what_is_no_address_is_said_to_be_none() {
        for wrong in ["", "ftp://x", "file:///etc/passwd", "https://", "a b"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse("https://me:pass@x.example").is_err_and(|why| !why.contains("pass@")));
    }

    #[test]
    fn ollamas_host_is_read_as_ollama_does() {
        for (text, expected) in [
            ("127.0.0.1", "http://127.0.0.1:11434/"),
            ("0.0.0.0:8080", "http://127.0.0.1:8080/"),
            ("0.0.0.0", "http://127.0.0.1:11434/"),
            ("[::]:8080", "http://[::1]:8080/"),
            (":8080", "http://127.0.0.1:8080/"),
            ("http://box:1234", "http://box:1234/"),
            ("https://box.example", "https://box.example/"),
        ] {
            assert_eq!(ollama(text).expect(text).as_str(), expected, "{text}");
        }
    }
}
