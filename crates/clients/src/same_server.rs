//! Whether two entries mean the same server: started by the same words, or at the same address, as the
//! same user. How long its calls may take is no part of that.

use std::collections::BTreeMap;

use gristmill_gateway::domain::{Part, Reference, SecretText, ServerSettings, Transport};

/// Whether they are the same, although one may have a reference where the other has the value.
/// `value` gives what a variable holds, if it is known. For entries of one name: a variable that is
/// not known may be anything.
pub fn is_same(one: &ServerSettings, other: &ServerSettings, value: impl Fn(&str) -> Option<String>) -> bool {
    let text = |one: &SecretText, other: &SecretText| is_same_text(one, other, &value);
    let texts = |one: &BTreeMap<String, SecretText>, other: &BTreeMap<String, SecretText>| {
        one.len() == other.len()
            && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| text(one, other)))
    };
    match (&one.transport, &other.transport) {
        (
            Transport::Stdio { command, args, env, cwd },
            Transport::Stdio { command: command2, args: args2, env: env2, cwd: cwd2 },
        ) => {
            let is_same_args =
                args.len() == args2.len() && args.iter().zip(args2).all(|(one, other)| text(one, other));
            command == command2 && cwd == cwd2 && is_same_args && texts(env, env2)
        }
        (
            Transport::Http { url, headers, oauth },
            Transport::Http { url: url2, headers: headers2, oauth: oauth2 },
        ) => oauth == oauth2 && text(url, url2) && texts(headers, headers2),
        (Transport::Stdio { .. } | Transport::Http { .. } | Transport::Hosts(_), _) => false,
    }
}

fn is_same_text(one: &SecretText, other: &SecretText, value: &impl Fn(&str) -> Option<String>) -> bool {
    if one == other {
        return true;
    }
    match (resolved(one, value), resolved(other, value)) {
        (Some(one), Some(other)) => one == other,
        (Some(known), None) => fits(other, &known),
        (None, Some(known)) => fits(one, &known),
        // Two variables of which nothing is known are two variables.
        (None, None) => false,
    }
}

/// The text with every reference replaced; none if one of them is not known.
fn resolved(text: &SecretText, value: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let part = |part: &Part| match part {
        Part::Plain(text) => Some(text.clone()),
        Part::Reference(Reference::Environment { name, default }) => value(name).or_else(|| default.clone()),
        Part::Reference(Reference::File(_) | Reference::Keyring(_) | Reference::Command(_)) => None,
    };
    text.parts().iter().map(part).collect()
}

/// Whether a text with references in it may become this one: it begins and ends like it.
fn fits(text: &SecretText, known: &str) -> bool {
    let plain = |part: Option<&Part>| match part {
        Some(Part::Plain(text)) => text.clone(),
        Some(Part::Reference(_)) | None => String::new(),
    };
    let (start, end) = (plain(text.parts().first()), plain(text.parts().last()));
    known.strip_prefix(&start).is_some_and(|rest| rest.ends_with(&end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_may_stand_where_the_other_has_the_value() {
        let check = |one: &str, other: &str, expected: bool| {
            let server = |text: &str| {
                let mut server = ServerSettings::program("a", "npx", &["server"]);
                if let Transport::Stdio { env, .. } = &mut server.transport {
                    env.insert("KEY".to_owned(), SecretText::parse(text).expect("a text"));
                }
                server
            };
            let value = |name: &str| match name {
                "KNOWN" | "SAME" => Some("abc".to_owned()),
                "OTHER" => Some("xyz".to_owned()),
                _ => None,
            };
            assert_eq!(is_same(&server(one), &server(other), value), expected, "{one} {other}");
            assert_eq!(is_same(&server(other), &server(one), value), expected, "{other} {one}");
        };
        check("abc", "abc", true);
        check("abc", "xyz", false);
        check("${KNOWN}", "abc", true);
        check("${KNOWN}", "${SAME}", true);
        check("${KNOWN}", "${OTHER}", false);
        check("Bearer ${UNSET}", "Bearer ${KNOWN}", true);
        check("Bearer ${UNSET}", "Basic abc", false);
        check("${UNSET}", "${UNSET}", true);
        check("${UNSET}", "${UNSET_2}", false);
        check("${UNSET:-abc}", "abc", true);
    }

    #[test]
    fn other_words_are_another_server_and_other_limits_are_not() {
        let one = ServerSettings::program("a", "npx", &["server"]);
        let mut other = one.clone();
        other.limits.call_ms += 1;
        assert!(is_same(&one, &other, |_| None));
        for (command, args) in [("npx", &["server", "more"][..]), ("npx", &["server2"]), ("uvx", &["server"])]
        {
            assert!(!is_same(&one, &ServerSettings::program("a", command, args), |_| None), "{command}");
        }
    }
}
