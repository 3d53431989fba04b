//! What went wrong, once; as problem+json (RFC 9457) for programs and as a page for people.

use axum::Json;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use crate::model::parameters::FieldError;
use crate::model::run::RefusedReason;
use crate::model::zone::NoZones;
use crate::scheduler::{Closed, OrderError, ResolveError, SubmitError};
use crate::store::StoreError;

/// Media type of RFC 9457.
const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// One problem, whoever asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// HTTP status.
    pub status: StatusCode,
    /// A stable word for programs; the `type` is made of it.
    pub kind: &'static str,
    /// The same for every problem of this kind.
    pub title: &'static str,
    /// This one.
    pub detail: String,
    /// Mistakes in single fields.
    pub errors: Vec<FieldError>,
    /// Why a run is refused.
    pub reasons: Vec<RefusedReason>,
}

impl Problem {
    /// A problem without fields or reasons.
    pub fn new(status: StatusCode, kind: &'static str, title: &'static str, detail: impl Into<String>) -> Self {
        Self { status, kind, title, detail: detail.into(), errors: Vec::new(), reasons: Vec::new() }
    }

    /// 404.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", "There is no such thing here", detail)
    }

    /// 400: the request is not even readable.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", "The request cannot be read", detail)
    }

    /// 422: fields are wrong.
    pub fn fields(errors: Vec<FieldError>) -> Self {
        let detail: Vec<_> = errors.iter().map(|error| format!("{} {}", error.field, error.detail)).collect();
        Self { errors, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", "Fields are wrong", detail.join("; ")) }
    }

    /// What keeps several drives from being probed: the first one's problem, with the fields and reasons of all, each told with
    /// its drive.
    pub fn of_several(errors: Vec<(String, SubmitError)>) -> Self {
        let mut several: Option<Self> = None;
        for (drive, error) in errors {
            let mut problem = Self::from(error);
            if !drive.is_empty() {
                problem.detail = format!("{drive}: {}", problem.detail);
            }
            several = Some(match several {
                None => problem,
                Some(mut first) => {
                    first.detail = format!("{}; {}", first.detail, problem.detail);
                    first.errors.append(&mut problem.errors);
                    first.reasons.append(&mut problem.reasons);
                    first
                }
            });
        }
        several.unwrap_or_else(|| Self::malformed("no drive was named"))
    }

    /// The JSON of RFC 9457, with `errors` and `reasons` as extensions.
    fn to_json(&self) -> Value {
        let mut body = Map::new();
        body.insert("type".into(), json!(format!("/problems/{}", self.kind)));
        body.insert("title".into(), json!(self.title));
        body.insert("status".into(), json!(self.status.as_u16()));
        body.insert("detail".into(), json!(self.detail));
        if !self.errors.is_empty() {
            body.insert("errors".into(), json!(self.errors));
        }
        if !self.reasons.is_empty() {
            let reasons: Vec<_> = self.reasons.iter().map(reason).collect();
            body.insert("reasons".into(), json!(reasons));
        }
        Value::Object(body)
    }
}

/// The reason's own fields with its text and remedy beside them.
fn reason(reason: &RefusedReason) -> Value {
    let mut value = serde_json::to_value(reason).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.insert("detail".into(), json!(reason.to_string()));
        fields.insert("remedy".into(), json!(reason.remedy()));
    }
    value
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        if self.status.is_server_error() {
            tracing::error!(status = self.status.as_u16(), detail = self.detail, "a request failed");
        }
        let mut response = (self.status, Json(self.to_json())).into_response();
        response.headers_mut().insert(CONTENT_TYPE, PROBLEM_JSON);
        response
    }
}

/// Middleware of the API: an error that a layer or an extractor answered in plain text gets its JSON face.
pub async fn with_json_face(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let is_problem = response.headers().get(CONTENT_TYPE).is_some_and(|value| value == PROBLEM_JSON);
    if !is_error || is_problem {
        return response;
    }
    let text = to_bytes(response.into_body(), 4_096).await.unwrap_or_default();
    let detail = String::from_utf8_lossy(&text);
    let detail = if detail.trim().is_empty() { "no further detail" } else { detail.trim() };
    Problem::new(status, "rejected", "The request was rejected", detail).into_response()
}

fn refused(title: &'static str, reasons: Vec<RefusedReason>) -> Problem {
    let detail: Vec<_> = reasons.iter().map(ToString::to_string).collect();
    Problem { reasons, ..Problem::new(StatusCode::CONFLICT, "refused", title, detail.join("; ")) }
}

fn store_unavailable() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "store-unavailable",
        "The database does not answer",
        "The database could not be read or written; the service's log says why. Try again.",
    )
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        // What SQLite said is for the log, not for the client.
        tracing::error!(%error, "the store failed");
        store_unavailable()
    }
}

impl From<NoZones> for Problem {
    fn from(why: NoZones) -> Self {
        let detail = why.to_string();
        match why {
            NoZones::NotZoned(_) => Self::new(StatusCode::CONFLICT, "not-zoned", "The drive has no zones", detail),
            NoZones::NotPermitted(_) => {
                Self::new(StatusCode::CONFLICT, "not-permitted", "This service may not ask the drive", detail)
            }
            NoZones::Failed(_) => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "drive-silent",
                "The drive does not tell its zones now",
                detail,
            ),
        }
    }
}

impl From<Closed> for Problem {
    fn from(closed: Closed) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "shutting-down",
            "The service is shutting down",
            format!("{closed}; ask again when it runs"),
        )
    }
}

impl From<OrderError> for Problem {
    fn from(error: OrderError) -> Self {
        if let OrderError::Store(why) = &error {
            tracing::error!(why, "a run could not be read");
        }
        match error {
            OrderError::Closed(closed) => closed.into(),
            OrderError::Store(_) => store_unavailable(),
            OrderError::Refused(reasons) => refused("The run cannot go on now", reasons),
            OrderError::NotAlive | OrderError::WrongState(_) => {
                Self::new(StatusCode::CONFLICT, "wrong-state", "The run's state does not allow that", error.to_string())
            }
        }
    }
}

impl From<SubmitError> for Problem {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Target(error @ ResolveError::NotFound { .. }) => Self::not_found(error.to_string()),
            // It is there, but no target.
            SubmitError::Target(error) => Self {
                reasons: vec![error.reason()],
                ..Self::new(StatusCode::CONFLICT, "refused", "That cannot be probed", error.to_string())
            },
            SubmitError::Parameters(errors) => Self::fields(errors),
            SubmitError::Refused(reasons) => refused("The drive may not be probed now", reasons),
            SubmitError::ConfirmMissing => Self::new(
                StatusCode::PRECONDITION_REQUIRED,
                "confirm-required",
                "This run destroys data and must be confirmed",
                "Ask with dry_run to see what would be lost, and type back the plan's confirm_phrase as confirm.",
            ),
            SubmitError::ConfirmWrong => Self::new(
                StatusCode::CONFLICT,
                "confirm-wrong",
                "That is not the confirmation phrase",
                "What was given as confirm is not the plan's confirm_phrase. Is it the right drive? Nothing was started.",
            ),
            SubmitError::Store(why) => {
                tracing::error!(why, "a run could not be stored");
                Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "store-unavailable",
                    "The database does not answer",
                    "The run could not be stored, and was not started. The service's log says why.",
                )
            }
            SubmitError::Closed(closed) => closed.into(),
        }
    }
}
