//! REST under `/api/v1`: translation only.

use std::collections::HashMap;

use axum::body::Bytes as Body;
use axum::extract::{Path, Query, State};
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::downsample::downsample;
use super::problem::Problem;
use super::series::{DEFAULT_POINTS, columns};
use super::view::chart::run_charts;
use super::{AppState, inside, live, request};
use crate::model::drive::{Drive, DriveId, Inventory};
use crate::model::histogram::LatencyHistogram;
use crate::model::interval::LatencyFigures;
use crate::model::options::RunOptions;
use crate::model::parameters::FieldError;
use crate::model::profile::Profile;
use crate::model::run::{Run, RunId, RunState};
use crate::model::suitability::{Pool, Suitability};
use crate::scheduler::Order;
use crate::store::{Range, RunFilter};

/// Intervals one answer holds at most when they are not merged.
const MAX_INTERVALS: u32 = 10_000;
/// Intervals read from the store at a time.
const INTERVALS_AT_ONCE: u32 = 500;
/// Runs one page of the list holds at most.
const MAX_RUNS: u32 = 200;
/// fio's default `percentile_list`.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// The routes, to be nested under `/api/v1`.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/drives", get(drives))
        .route("/drives/rescan", post(rescan))
        .route("/drives/{id}", get(drive))
        .route("/drives/{id}/vpd/{page}", get(inside::page))
        .route("/drives/{id}/zones", get(inside::zones))
        .route("/drives/{id}/suitability", get(suitability))
        .route("/profiles", get(profiles))
        .route("/runs", get(runs).post(submit))
        .route("/runs/matrix", post(submit_matrix))
        .route("/runs/options", get(options))
        .route("/runs/{id}", get(run).delete(delete))
        .route("/runs/{id}/cancel", post(cancel))
        .route("/runs/{id}/pause", post(pause))
        .route("/runs/{id}/resume", post(resume))
        .route("/runs/{id}/intervals", get(intervals))
        .route("/runs/{id}/series", get(series))
        .route("/runs/{id}/latency", get(latency))
        .route("/runs/{id}/charts", get(charts))
        .route("/runs/{id}/events", get(live::events))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
}

async fn unknown() -> Problem {
    Problem::not_found("there is nothing at this address of the API")
}

async fn wrong_method() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method-not-allowed",
        "That cannot be done here",
        "this address does not take this method",
    )
}

async fn drives(State(state): State<AppState>) -> Json<Inventory> {
    Json(state.handle.inventory().as_ref().clone())
}

async fn rescan(State(state): State<AppState>) -> Result<Json<Inventory>, Problem> {
    Ok(Json(state.handle.rescan().await?.as_ref().clone()))
}

/// A drive, and what has changed about it since it was probed.
#[derive(Serialize)]
struct DriveWithHistory {
    #[serde(flatten)]
    drive: Drive,
    history_notes: Vec<String>,
}

async fn drive(State(state): State<AppState>, Path(id): Path<String>) -> Result<Json<DriveWithHistory>, Problem> {
    let drive = state.drive(&id).await?.0;
    let history_notes = state.history_notes(&drive).await?;
    Ok(Json(DriveWithHistory { drive, history_notes }))
}

/// The pool of a query's `width`, `parity` and `fill_percent`.
pub(super) fn pool(query: &HashMap<String, String>) -> Result<Pool, Problem> {
    let (width, parity) = (number(query, "width")?, number(query, "parity")?);
    Pool::new(width, parity, number(query, "fill_percent")?).map_err(Problem::fields)
}

async fn suitability(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Json<Suitability>, Problem> {
    let (drive, _) = state.drive(&id).await?;
    Ok(Json(state.handle.suitability(&drive, pool(&query)?).await?))
}

async fn profiles() -> Json<Value> {
    let profiles: Vec<_> = Profile::ALL
        .into_iter()
        .map(|profile| {
            json!({
                "profile": profile,
                "question": profile.question(),
                "description": profile.description(),
                "parameters": profile.parameters(),
            })
        })
        .collect();
    Json(json!({ "profiles": profiles }))
}

async fn submit(State(state): State<AppState>, headers: HeaderMap, body: Body) -> Result<Response, Problem> {
    let submission = request::submission(request::json_object(&headers, &body)?)?;
    if submission.dry_run {
        return Ok(Json(state.handle.plan(submission.request).await?.1).into_response());
    }
    let run = state.handle.submit(submission.request).await?;
    let location = format!("/api/v1/runs/{}", run.id);
    Ok((StatusCode::ACCEPTED, [(LOCATION, location)], Json(run)).into_response())
}

async fn submit_matrix(State(state): State<AppState>, headers: HeaderMap, body: Body) -> Result<Response, Problem> {
    let matrix = request::matrix(request::json_object(&headers, &body)?)?;
    if matrix.dry_run {
        let (mut waves, mut errors) = (Vec::new(), Vec::new());
        for wave in matrix.waves {
            let mut plans = Vec::new();
            for request in wave {
                let name = request.drive.clone();
                match state.handle.plan(request).await {
                    Ok((_, plan)) => plans.push(plan),
                    Err(error) => errors.push((name, error)),
                }
            }
            waves.push(plans);
        }
        return if errors.is_empty() {
            Ok(Json(json!({ "waves": waves })).into_response())
        } else {
            Err(Problem::of_several(errors))
        };
    }
    let runs = state.handle.submit_matrix(matrix.waves).await.map_err(Problem::of_several)?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "runs": runs }))).into_response())
}

async fn options() -> Json<Value> {
    Json(json!({ "options": RunOptions::PARAMETERS }))
}

/// A query parameter as a number, if given.
pub(super) fn number<T: std::str::FromStr>(query: &HashMap<String, String>, name: &str) -> Result<Option<T>, Problem> {
    query
        .get(name)
        .map(|text| {
            text.parse().map_err(|_| {
                Problem::fields(vec![FieldError::new(name, format!("is {text:?}, must be a whole number"))])
            })
        })
        .transpose()
}

async fn runs(
    State(state): State<AppState>,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Json<Value>, Problem> {
    let id = |name: &str| {
        query
            .get(name)
            .map(|text| {
                Uuid::parse_str(text)
                    .map_err(|_| Problem::fields(vec![FieldError::new(name, format!("is {text:?}, must be an id"))]))
            })
            .transpose()
    };
    let wanted_state = query
        .get("state")
        .map(|text| {
            RunState::parse(text)
                .ok_or_else(|| Problem::fields(vec![FieldError::new("state", format!("{text:?} is no run state"))]))
        })
        .transpose()?;
    let limit = number(&query, "limit")?.unwrap_or(50).clamp(1, MAX_RUNS);
    let filter =
        RunFilter { drive: id("drive")?.map(DriveId), state: wanted_state, before: id("before")?.map(RunId), limit };
    let runs = state.store.runs(filter).await?;
    let full = u32::try_from(runs.len()).is_ok_and(|count| count == limit);
    let next = runs.last().filter(|_| full).map(|run| run.id);
    Ok(Json(json!({ "runs": runs, "next": next })))
}

async fn run(State(state): State<AppState>, Path(id): Path<String>) -> Result<Json<Run>, Problem> {
    Ok(Json(state.run(&id).await?))
}

async fn ordered(state: &AppState, id: &str, order: Order) -> Result<Json<Run>, Problem> {
    Ok(Json(state.order(id, order).await?))
}

async fn cancel(State(state): State<AppState>, Path(id): Path<String>) -> Result<Json<Run>, Problem> {
    ordered(&state, &id, Order::Cancel).await
}

async fn pause(State(state): State<AppState>, Path(id): Path<String>) -> Result<Json<Run>, Problem> {
    ordered(&state, &id, Order::Pause).await
}

async fn resume(State(state): State<AppState>, Path(id): Path<String>) -> Result<Json<Run>, Problem> {
    ordered(&state, &id, Order::Resume).await
}

async fn delete(State(state): State<AppState>, Path(id): Path<String>) -> Result<StatusCode, Problem> {
    let run = state.run(&id).await?;
    if !run.state.is_over() {
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "wrong-state",
            "The run's state does not allow that",
            format!("the run is {}; cancel it first", run.state.as_str()),
        ));
    }
    state.store.delete_run(run.id).await?;
    state.handle.forget_verdicts().await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn intervals(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Response, Problem> {
    let run = state.run(&id).await?;
    let (from, to, points) = part(&query)?;
    let Some(points) = points else { return all_intervals(&state, run.id, from, to).await };
    let found = state.store.coarse_intervals(run.id, from, to).await?;
    let last_seq = found.last().map_or(from.saturating_sub(1), |interval| interval.seq);
    let kept = downsample(found, points);
    let downsampled = kept.iter().any(|interval| interval.extremes.is_some());
    let body = json!({ "downsampled": downsampled, "intervals": kept, "last_seq": last_seq, "next": null });
    Ok(Json(body).into_response())
}

/// `from`, `to` and `points` of a query.
fn part(query: &HashMap<String, String>) -> Result<(u64, u64, Option<usize>), Problem> {
    let from = number(query, "from")?.unwrap_or(1);
    let to = number(query, "to")?.unwrap_or(u64::MAX);
    let points: Option<usize> = number(query, "points")?;
    if points == Some(0) {
        return Err(Problem::fields(vec![FieldError::new("points", "is 0, must be at least 1")]));
    }
    Ok((from, to, points))
}

async fn series(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Json<Value>, Problem> {
    let run = state.run(&id).await?;
    let (from, to, points) = part(&query)?;
    let found = state.store.coarse_intervals(run.id, from, to).await?;
    Ok(Json(columns(&downsample(found, points.unwrap_or(DEFAULT_POINTS)))))
}

/// Intervals as they are stored, put into text page by page: with its histograms one takes fifty times as much room as its text.
async fn all_intervals(state: &AppState, run: RunId, from: u64, to: u64) -> Result<Response, Problem> {
    let mut text = b"{\"downsampled\":false,\"intervals\":[".to_vec();
    let (mut last_seq, mut left) = (from.saturating_sub(1), MAX_INTERVALS);
    while left > 0 {
        let limit = left.min(INTERVALS_AT_ONCE);
        let page = state.store.intervals(run, Range { from: last_seq + 1, to, limit }).await?;
        for interval in &page {
            if left < MAX_INTERVALS {
                text.push(b',');
            }
            // Numbers and fixed names always become JSON, and a Vec takes all of it.
            serde_json::to_writer(&mut text, interval).map_err(|error| Problem::malformed(error.to_string()))?;
            last_seq = interval.seq;
            left -= 1;
        }
        if u32::try_from(page.len()).is_ok_and(|count| count < limit) {
            break;
        }
    }
    let next = if left == 0 { (last_seq + 1).to_string() } else { "null".to_owned() };
    text.extend_from_slice(format!("],\"last_seq\":{last_seq},\"next\":{next}}}").as_bytes());
    Ok(([(CONTENT_TYPE, "application/json")], text).into_response())
}

async fn latency(State(state): State<AppState>, Path(id): Path<String>) -> Result<Json<Value>, Problem> {
    let run = state.run(&id).await?;
    let figures = |histogram: &LatencyHistogram| {
        let percentiles: HashMap<_, _> = PERCENTILES
            .iter()
            .filter_map(|percent| Some((percent.to_string(), histogram.percentile(*percent)?)))
            .collect();
        json!({
            "ios": histogram.count(),
            "lat_ns": LatencyFigures(histogram),
            "stdev_ns": histogram.stdev_ns(),
            "percentiles_ns": percentiles,
        })
    };
    let phases: Vec<_> = state
        .store
        .phase_latencies(run.id)
        .await?
        .iter()
        .map(|phase| {
            let mut sums =
                json!({ "phase": phase.phase, "read": figures(&phase.read), "write": figures(&phase.write) });
            for (name, lat) in [("flush", &phase.flush), ("trim", &phase.trim)] {
                if lat.count() > 0 {
                    sums[name] = figures(lat);
                }
            }
            for (op, lat) in phase.zone_ops.iter().filter(|(_, lat)| lat.count() > 0) {
                sums["zone_ops"][op.as_str()] = figures(lat);
            }
            sums
        })
        .collect();
    Ok(Json(json!({ "phases": phases })))
}

async fn charts(State(state): State<AppState>, Path(id): Path<String>) -> Result<Json<Value>, Problem> {
    Ok(Json(run_charts(&state.run(&id).await?)))
}
