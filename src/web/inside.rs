//! What is inside a drive: `GET drives/{id}/vpd/{page}` and `GET drives/{id}/zones`.

use std::collections::HashMap;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::AppState;
use super::api::number;
use super::problem::Problem;
use crate::model::drive::Drive;
use crate::model::page::{PageId, PageReport};
use crate::model::parameters::FieldError;

/// Single zones that one answer holds at most.
const MAX_ZONES: usize = 10_000;

/// One page, its bytes and its fields. Read when the drive was last asked, not now.
pub async fn page(
    State(state): State<AppState>,
    Path((id, word)): Path<(String, String)>,
) -> Result<Json<PageReport>, Problem> {
    let (drive, attached) = state.drive(&id).await?;
    let page = PageId::parse(&word).ok_or_else(|| {
        Problem::fields(vec![FieldError::new(
            "page",
            format!(
                "is {word:?}; must be a VPD page as two hex digits (b1), or inquiry, identify, log-30-03, log-30-09, \
                 nvme-controller, nvme-namespace, nvme-zoned-namespace, nvme-zoned-controller"
            ),
        )])
    })?;
    state.handle.page(&drive, page).map(Json).ok_or_else(|| missing(&drive, attached, page))
}

/// Why a page is not there, and what helps.
fn missing(drive: &Drive, attached: bool, page: PageId) -> Problem {
    let prefix = page.fact_prefix();
    let told =
        drive.facts.iter().find(|fact| !prefix.is_empty() && fact.name.starts_with(prefix) && fact.value.is_none());
    let (why, remedy) = match told {
        _ if !attached => ("the drive is not attached, and its pages are not stored".to_owned(), None),
        Some(fact) => {
            let why = fact.unknown.as_ref().map_or_else(|| "not told".to_owned(), ToString::to_string);
            (why, fact.remedy.clone())
        }
        None => ("the drive does not offer it, or was not asked for it".to_owned(), None),
    };
    let help = remedy.map(|remedy| format!("; what helps: {remedy}")).unwrap_or_default();
    let have: Vec<_> = drive.pages.ids().map(|id| id.to_string()).collect();
    let have = if have.is_empty() { "none".to_owned() } else { have.join(", ") };
    Problem::new(
        StatusCode::NOT_FOUND,
        "no-page",
        "The drive's page is not known",
        format!("{} of {}: {why}{help}. Pages that are here: {have}", page.title(), drive.title()),
    )
}

/// The zones: counts and the short map; with `from` or `limit` also single zones.
pub async fn zones(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Json<Value>, Problem> {
    let (drive, attached) = state.drive(&id).await?;
    let from: Option<usize> = number(&query, "from")?;
    let limit: Option<usize> = number(&query, "limit")?;
    if !attached {
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "not-attached",
            "The drive is not attached",
            "it cannot be asked",
        ));
    }
    let report = state.handle.zones(&drive).await?;
    let mut answer = json!(report.as_ref());
    if from.is_some() || limit.is_some() {
        let from = from.unwrap_or(0).min(report.zones.len());
        let to = from.saturating_add(limit.unwrap_or(MAX_ZONES).min(MAX_ZONES)).min(report.zones.len());
        answer["zones"] = json!(report.zones.get(from..to).unwrap_or_default());
        answer["next"] = json!((to < report.zones.len()).then_some(to));
    }
    Ok(Json(answer))
}
