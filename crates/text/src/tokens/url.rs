//! Recognises web and mail addresses, which stay one token.
//!
//! After the expression `URL_PATTERN` of spaCy, which follows Diego Perini's (MIT): a scheme and
//! credentials may precede a host name or a public IPv4 address, a port and a path may follow.

use super::classes::is_lower;

/// Whether all of `word` is an address.
pub(super) fn is_url(word: &str) -> bool {
    // Every address has a full stop in its host, and few words that reach this function have one.
    word.contains('.') && starts_of_hosts(word).any(|start| is_host_and_path(&word[start..]))
}

/// Where a host name may begin: at the start, after a scheme, and after every `@` behind something.
fn starts_of_hosts(word: &str) -> impl Iterator<Item = usize> + '_ {
    let scheme = word.find("://").filter(|&end| is_scheme(&word[..end])).map(|end| end + 3);
    let body = scheme.unwrap_or(0);
    let names = word.match_indices('@').map(|(at, _)| at);
    let credentials = names.filter(move |&at| at > 0 && at != body).map(|at| at + 1);
    [0].into_iter().chain(scheme).chain(credentials)
}

fn is_scheme(text: &str) -> bool {
    text.chars().count() >= 2
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '+' | '-' | '.'))
}

fn is_host_and_path(text: &str) -> bool {
    let end = text.find([':', '/', '?', '#']).unwrap_or(text.len());
    let (host, rest) = text.split_at(end);
    (is_public_address(host) || is_host_name(host)) && is_port_and_path(rest)
}

fn is_port_and_path(rest: &str) -> bool {
    let Some(port) = rest.strip_prefix(':') else { return is_path(rest) };
    let digits = port.bytes().take_while(u8::is_ascii_digit).count();
    (2..=5).contains(&digits) && is_path(&port[digits..])
}

fn is_path(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['/', '?', '#'])
}

/// Labels between full stops, of which the last is in lower case.
fn is_host_name(host: &str) -> bool {
    let Some((labels, top)) = host.rsplit_once('.') else { return false };
    (2..=63).contains(&top.chars().count())
        && top.chars().all(is_lower)
        && labels.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || ('\u{a1}'..='\u{ffff}').contains(&c);
    (1..=64).contains(&label.chars().count())
        && label.chars().all(|c| is_name(c) || matches!(c, '_' | '-'))
        && label.starts_with(is_name)
        && label.ends_with(is_name)
}

/// Four numbers that are the address of a host outside private networks.
fn is_public_address(host: &str) -> bool {
    let octets: Option<Vec<u8>> = host.split('.').map(octet).collect();
    match octets.as_deref() {
        Some(&[first, second, _, last]) => {
            (1..=223).contains(&first)
                && (1..=254).contains(&last)
                && !matches!(
                    (first, second),
                    (10 | 127, _) | (169, 254) | (192, 168) | (172, 16..=31)
                )
        }
        _ => false,
    }
}

fn octet(text: &str) -> Option<u8> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}
