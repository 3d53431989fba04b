//! What every answer carries, and which requests are not even looked at.
//!
//! Before there are tokens, a service on loopback that can overwrite drives must not obey a web page
//! that the user happens to have open: a request that changes something must come from our own pages
//! (`Sec-Fetch-Site`, `Origin`), and every request must name us as its host, or a page could rebind a
//! name of its own to 127.0.0.1.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::header::{
    CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;

/// No inline script or style, nothing from elsewhere, in nobody's frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Middleware: refuses foreign requests and adds the security headers.
pub async fn guard(State(listening): State<SocketAddr>, request: Request, next: Next) -> Response {
    let mut response = match foreign(&request, listening) {
        Some(why) => {
            Problem::new(StatusCode::FORBIDDEN, "foreign", "This request does not come from this service", why)
                .into_response()
        }
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Not `no-referrer`: under it browsers send `Origin: null` with our own forms, and they would be refused.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

fn foreign(request: &Request, listening: SocketAddr) -> Option<String> {
    let header = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
    let host = header(HOST);
    if let Some(host) = host
        && listening.ip().is_loopback()
        && !is_local(host)
    {
        return Some(format!("it names the host {host:?}, and this service listens on {listening} only"));
    }
    if matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
        return None;
    }
    // Programs send neither header; browsers send at least one.
    if let Some(site) = header(SEC_FETCH_SITE)
        && !matches!(site, "same-origin" | "none")
    {
        return Some(format!("a page of another site sent it (Sec-Fetch-Site: {site})"));
    }
    if let (Some(origin), Some(host)) = (header(ORIGIN), host)
        && origin.split_once("://").map(|(_, authority)| authority) != Some(host)
    {
        return Some(format!("a page at {origin} sent it"));
    }
    None
}

/// Whether a Host header names this machine by address or as localhost.
fn is_local(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        // An IPv6 address without a port has colons too; it is in brackets then.
        if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }
    });
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_local() {
        for host in ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080", "[::1]", "127.1.2.3"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["evil.example:8080", "127.0.0.1.evil.example", "192.168.1.2", "", "localhost.evil.example:80"] {
            assert!(!is_local(host), "{host}");
        }
    }
}
