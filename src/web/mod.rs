//! HTTP: translation only. A page load reads the last inventory and the store, never a drive.
//!
//! | file | what |
//! |---|---|
//! | `api` | REST under `/api/v1` |
//! | `inside` | the pages and zones of a drive under `/api/v1/drives/{id}` |
//! | `pages` | the pages: gather what a view needs, render it |
//! | `view` | the views: askama templates and chart descriptions |
//! | `live` | server-sent events of a run |
//! | `problem` | one error value, two faces |
//! | `request` | reading bodies |
//! | `guard` | foreign requests and security headers |
//! | `downsample` `series` | fewer intervals for a chart, and as columns |
//! | `assets` | scripts and styles, built in |

mod api;
pub mod assets;
mod downsample;
mod guard;
mod inside;
mod live;
mod pages;
mod problem;
mod request;
mod series;
pub mod view;

use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::trace::TraceLayer;
use uuid::Uuid;

use crate::model::drive::{Drive, DriveId};
use crate::model::history::history_notes;
use crate::model::run::{Run, RunId, RunState};
use crate::scheduler::{Handle, Order};
use crate::store::Store;
use problem::{Problem, with_json_face};

/// What every handler has.
#[derive(Clone)]
pub struct AppState {
    handle: Handle,
    store: Store,
    shutdown: CancellationToken,
}

/// The whole site. `listening` is where it is served, which decides what a Host header may say.
pub fn router(handle: Handle, store: Store, shutdown: CancellationToken, listening: SocketAddr) -> Router {
    // A live stream must not wait in a compressor, and scripts are packed already.
    let compressible = DefaultPredicate::new().and(NotForContentType::const_new("text/event-stream"));
    Router::new()
        .merge(pages::router())
        .nest(
            "/api/v1",
            api::router().layer(DefaultBodyLimit::max(request::MAX_BODY_BYTES)).layer(from_fn(with_json_face)),
        )
        .route("/healthz", get(healthz))
        .with_state(AppState { handle, store, shutdown })
        .layer(CompressionLayer::new().compress_when(compressible))
        .merge(assets::router())
        .layer(DefaultBodyLimit::max(request::MAX_BODY_BYTES))
        .layer(from_fn_with_state(listening, guard::guard))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(TraceLayer::new_for_http())
}

/// A door for `fuzz/`: reads a body as `POST runs` does.
#[cfg(fuzzing)]
#[must_use]
pub fn reads_as_a_submission(body: &[u8]) -> bool {
    let json = axum::http::HeaderValue::from_static("application/json");
    let headers = axum::http::HeaderMap::from_iter([(axum::http::header::CONTENT_TYPE, json)]);
    request::json_object(&headers, body).and_then(request::submission).is_ok()
}

async fn healthz() -> &'static str {
    "ok\n"
}

fn panicked(_: Box<dyn Any + Send>) -> Response {
    // The panic's text is in the log already; it is not for clients.
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "defect",
        "A defect in this program",
        "The request could not be answered because of a defect; the service's log has the place.",
    )
    .into_response()
}

impl AppState {
    /// The run with this id, as stored.
    async fn run(&self, id: &str) -> Result<Run, Problem> {
        let parsed = Uuid::parse_str(id).ok().map(RunId);
        let found = match parsed {
            Some(id) => self.store.run(id).await?,
            None => None,
        };
        found.ok_or_else(|| Problem::not_found(format!("there is no run {id:?}")))
    }

    /// The drive with this id: as last scanned, or else as last probed (and then it is not attached).
    async fn drive(&self, id: &str) -> Result<(Drive, bool), Problem> {
        let unknown = || Problem::not_found(format!("there is no drive {id:?}; GET /api/v1/drives lists them"));
        let id = Uuid::parse_str(id).map(DriveId).map_err(|_| unknown())?;
        if let Some(drive) = self.handle.inventory().by_id(id) {
            return Ok((drive.clone(), true));
        }
        let stored = self.store.drive(id).await?;
        stored.map(|drive| (drive, false)).ok_or_else(unknown)
    }

    /// What has changed about a drive since it was probed.
    async fn history_notes(&self, drive: &Drive) -> Result<Vec<String>, Problem> {
        Ok(history_notes(&self.store.forms(drive.id).await?, drive))
    }

    async fn order(&self, id: &str, order: Order) -> Result<Run, Problem> {
        let run = self.run(id).await?;
        // Cancelling what is over is no mistake: the wish is fulfilled.
        if order == Order::Cancel && run.state.is_over() {
            return Ok(run);
        }
        if run.state.is_over() && !(order == Order::Resume && run.state == RunState::Interrupted) {
            return Err(Problem::new(
                StatusCode::CONFLICT,
                "wrong-state",
                "The run's state does not allow that",
                format!("the run is {}", run.state.as_str()),
            ));
        }
        Ok(Arc::unwrap_or_clone(self.handle.order(run.id, order).await?))
    }
}
