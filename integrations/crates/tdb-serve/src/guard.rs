//! Checks of the `Host` and `Origin` headers.

use std::net::IpAddr;

/// Returns `true` if a host of a URL (`localhost:8080`, `[::1]`) names the loopback interface.
///
/// A page of another site can let its name resolve to 127.0.0.1 (DNS rebinding). Its requests then
/// have the name of the site in the header `Host`. The port may differ, because of forwarded ports.
pub(crate) fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, port)) if is_port(port) => {
                return address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
            }
            _ => return false,
        },
        None => match host.split_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            Some(_) => return false,
            None => host,
        },
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns `true` for nothing, or a colon and a number.
fn is_port(text: &str) -> bool {
    let port = text.strip_prefix(':');
    text.is_empty() || port.is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the value of `Access-Control-Allow-Origin` for a request. Returns `None` if pages of the
/// origin must not read the response. Pages of the local machine may read all responses.
pub(crate) fn allowed_origin(origin: &str, allowed: &[String]) -> Option<String> {
    if allowed.iter().any(|allowed| allowed == "*") {
        return Some("*".to_owned());
    }
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let is_listed = || allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin));
    (host.is_some_and(is_loopback) || is_listed()).then(|| origin.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_loopback() {
        for host in ["localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:80", "127.1.2.3", "[::1]", "[::1]:8080"] {
            assert!(is_loopback(host), "{host}");
        }
        let others = [
            "",
            "example.org",
            "localhost.example.org",
            "localhost.",
            "127.0.0.1.nip.io",
            "localhost:",
            "localhost:a",
            "localhost:80:80",
            "[::1",
            "[::1]x",
            "[::1]:",
            "::1",
            "[127.0.0.1.nip.io]",
            "10.0.0.1",
            "0.0.0.0",
            "user@localhost",
            "localhost@example.org",
            "127.0.0.1:80@example.org",
            "[::ffff:10.0.0.1]",
            "2130706433",
        ];
        for host in others {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn origins_elsewhere_need_permission() {
        let listed = ["https://viewer.example.org".to_owned()];
        let all = ["*".to_owned()];
        for (origin, allowed, value) in [
            ("http://localhost:5173", &[][..], Some("http://localhost:5173")),
            ("https://127.0.0.1", &[], Some("https://127.0.0.1")),
            ("https://example.org", &[], None),
            ("http://localhost.example.org", &[], None),
            ("null", &[], None),
            ("file://localhost", &[], None),
            ("https://viewer.example.org", &listed, Some("https://viewer.example.org")),
            ("https://viewer.example.org.evil.net", &listed, None),
            ("https://example.org", &all, Some("*")),
        ] {
            assert_eq!(allowed_origin(origin, allowed).as_deref(), value, "{origin}");
        }
    }
}
