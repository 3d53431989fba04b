//! The files that pages load, built into the binary and served for ever under their content hash.

use axum::Router;
use axum::extract::Path;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// One file, plain and packed.
struct Asset {
    name: &'static str,
    version: &'static str,
    url: &'static str,
    plain: &'static [u8],
    gzip: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The address of a file of `static/` (or `echarts.min.js`, `third-party.txt`), with its content hash.
/// A name that does not exist gives an address that answers 404; a test holds that templates use none.
#[must_use]
pub fn asset_url(name: &str) -> &'static str {
    find(name).map_or("/static/missing", |asset| asset.url)
}

fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

/// Serves `/static/{version}/{name}`.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new().route("/static/{version}/{name}", get(serve))
}

async fn serve(Path((version, name)): Path<(String, String)>, request: HeaderMap) -> Response {
    let Some(asset) = find(&name) else { return StatusCode::NOT_FOUND.into_response() };
    // A page of an older build may still ask under its own version. It gets today's file, but no
    // browser may keep it for ever under that name.
    let keep = if version == asset.version { "public, max-age=31536000, immutable" } else { "no-cache" };
    let packed = accepts_gzip(&request);
    // The packed bytes are another representation, so they have another tag (RFC 9110 §8.8.3.3).
    let etag = format!("\"{}{}\"", asset.version, if packed { "-gz" } else { "" });
    let headers = [
        (CACHE_CONTROL, keep.to_owned()),
        (ETAG, etag.clone()),
        (VARY, ACCEPT_ENCODING.as_str().to_owned()),
        (CONTENT_TYPE, content_type(asset.name).to_owned()),
        (X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    if known_to_client(&request, &etag) {
        (StatusCode::NOT_MODIFIED, headers).into_response()
    } else if packed {
        (headers, [(CONTENT_ENCODING, "gzip")], asset.gzip).into_response()
    } else {
        (headers, asset.plain).into_response()
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

fn known_to_client(request: &HeaderMap, etag: &str) -> bool {
    let tags = request.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    tags.is_some_and(|tags| {
        tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
    })
}

fn accepts_gzip(request: &HeaderMap) -> bool {
    let offers = request.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    offers.flat_map(|value| value.split(',')).any(|offer| {
        let (coding, quality) = offer.split_once(';').unwrap_or((offer, ""));
        let refused = quality.trim().strip_prefix("q=").is_some_and(|q| q.trim().parse() == Ok(0.0_f32));
        coding.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    async fn ask(path: &str, headers: &[(&str, &str)]) -> (StatusCode, HeaderMap, Vec<u8>) {
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = router::<()>().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        (status, headers, response.into_body().collect().await.unwrap().to_bytes().to_vec())
    }

    #[tokio::test]
    async fn the_chart_script_comes_packed_or_plain_and_may_be_kept_for_ever() {
        let url = asset_url("echarts.min.js");
        let (status, headers, body) = ask(url, &[("accept-encoding", "br, gzip;q=0.8")]).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(headers[CONTENT_ENCODING], "gzip");
        assert_eq!(headers[CACHE_CONTROL], "public, max-age=31536000, immutable");
        assert!(body.starts_with(&[0x1f, 0x8b]));
        let (_, plain_headers, plain) = ask(url, &[("accept-encoding", "gzip;q=0")]).await;
        assert!(!plain_headers.contains_key(CONTENT_ENCODING));
        assert!(plain.len() > 2 * body.len());
        assert!(String::from_utf8(plain).unwrap().contains("Licensed to the Apache Software Foundation"));
        assert_ne!(headers[ETAG], plain_headers[ETAG]);
    }

    #[tokio::test]
    async fn a_client_that_has_the_file_gets_no_body() {
        let url = asset_url("app.css");
        let (_, headers, _) = ask(url, &[]).await;
        let tag = headers[ETAG].to_str().unwrap();
        let (status, _, body) = ask(url, &[("if-none-match", tag)]).await;
        assert_eq!((status, body.len()), (StatusCode::NOT_MODIFIED, 0));
    }

    #[tokio::test]
    async fn an_outdated_address_is_served_but_not_kept_and_an_unknown_name_is_not_found() {
        let (status, headers, _) = ask("/static/0000/app.css", &[]).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(headers[CACHE_CONTROL], "no-cache");
        assert_eq!(ask("/static/0000/passwd", &[]).await.0, StatusCode::NOT_FOUND);
        assert_eq!(ask(asset_url("no-such-file"), &[]).await.0, StatusCode::NOT_FOUND);
    }

    #[test]
    fn the_notice_names_the_licence_of_every_foreign_file() {
        let notice = String::from_utf8_lossy(find("third-party.txt").unwrap().plain);
        assert!(notice.contains("Apache ECharts 5.5.1") && notice.contains("Apache License, Version 2.0"));
    }
}
