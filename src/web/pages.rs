//! The pages: gather what a view needs, render it. Forms are plain HTML and work without a script.

use std::collections::HashMap;

use axum::Router;
use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::problem::Problem;
use super::view::new_run::{parameters_of_form, parted};
use super::view::run::RECENT;
use super::view::zones::ZoneMap;
use super::view::{
    DrivePage, DrivesPage, EngineProblem, Frame, MethodsPage, NewRunPage, PlanPage, ProblemPage, ProfileChoice,
    RunPage, RunsPage, Template,
};
use super::{AppState, api};
use crate::model::drive::Drive;
use crate::model::options::RunOptions;
use crate::model::parameters::FieldError;
use crate::model::profile::Profile;
use crate::model::run::{RefusedReason, Run, RunId, RunRequest};
use crate::model::tunable::Tunables;
use crate::scheduler::{Order, SubmitError, now_ms};
use crate::store::RunFilter;

/// Runs on one page of the list.
const RUNS_PER_PAGE: u32 = 50;
/// Runs shown on a drive's page.
const RUNS_OF_A_DRIVE: u32 = 100;

type Pairs = Vec<(String, String)>;

/// The routes.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/", get(drives))
        .route("/drives/rescan", post(rescan))
        .route("/drives/{id}", get(drive))
        .route("/drives/{id}/zones", post(read_zones))
        .route("/drives/{id}/runs/new", get(new_run))
        .route("/drives/{id}/runs/plan", get(plan))
        .route("/runs", get(runs).post(start))
        .route("/runs/{id}", get(run))
        .route("/runs/{id}/cancel", post(cancel))
        .route("/runs/{id}/pause", post(pause))
        .route("/runs/{id}/resume", post(resume))
        .route("/methods", get(methods))
        .fallback(unknown)
}

/// A problem as a page.
struct PageProblem(AppState, Problem);

impl IntoResponse for PageProblem {
    fn into_response(self) -> Response {
        let Self(state, problem) = self;
        let inventory = state.handle.inventory();
        let page = ProblemPage {
            frame: frame(&inventory.host),
            status: problem.status.as_u16(),
            title: problem.title,
            detail: Some(&problem.detail).filter(|detail| !detail.is_empty()).map(String::as_str),
            reasons: &problem.reasons,
            errors: &problem.errors,
            advice: None,
        };
        let mut response = html(&page);
        *response.status_mut() = problem.status;
        response
    }
}

type Page = Result<Response, PageProblem>;

fn html(page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => Html(text).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn frame(host: &crate::model::drive::Host) -> Frame<'_> {
    Frame { host, now_ms: now_ms() }
}

/// Turns any problem into its page.
fn on_page<E: Into<Problem>>(state: &AppState) -> impl FnOnce(E) -> PageProblem {
    let state = state.clone();
    |error| PageProblem(state, error.into())
}

async fn unknown(State(state): State<AppState>) -> PageProblem {
    PageProblem(state, Problem::not_found("there is no page at this address"))
}

async fn drives(State(state): State<AppState>) -> Response {
    let inventory = state.handle.inventory();
    let running: Vec<Run> = state.handle.alive().into_iter().map(|(_, run)| run.as_ref().clone()).collect();
    let engine_problem = state
        .handle
        .engine_problem()
        .map(|problem| EngineProblem { error: &problem.error, remedy: Some(&problem.remedy) });
    html(&DrivesPage { frame: frame(&inventory.host), inventory: &inventory, running: &running, engine_problem })
}

async fn rescan(State(state): State<AppState>) -> Page {
    state.handle.rescan().await.map_err(on_page(&state))?;
    Ok(Redirect::to("/").into_response())
}

/// What speaks against using a drive now.
struct Foreseen {
    reading: Vec<RefusedReason>,
    writing: Vec<RefusedReason>,
    writing_at_pointers: Vec<RefusedReason>,
}

impl Foreseen {
    fn of(state: &AppState, drive: &Drive, attached: bool) -> Self {
        if !attached {
            let gone = vec![RefusedReason::Changed { what: "it is not attached now".to_owned() }];
            return Self { reading: gone.clone(), writing: gone.clone(), writing_at_pointers: gone };
        }
        let writing = state.handle.foresee(drive, true);
        let mut writing_at_pointers = writing.clone();
        writing_at_pointers.retain(|reason| *reason != RefusedReason::SequentialOnly);
        if !state.handle.is_zoned(drive) {
            writing_at_pointers.push(RefusedReason::NoZones);
        }
        Self { reading: state.handle.foresee(drive, false), writing, writing_at_pointers }
    }

    fn choices(&self) -> Vec<ProfileChoice<'_>> {
        Profile::ALL
            .into_iter()
            .map(|profile| {
                let refused = match profile.writes() {
                    _ if profile == Profile::Zones => &self.writing_at_pointers,
                    Some(true) => &self.writing,
                    _ => &self.reading,
                };
                ProfileChoice { profile, refused }
            })
            .collect()
    }
}

async fn drive(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Page {
    let pool = api::pool(&query).map_err(on_page(&state))?;
    let (drive, attached) = state.drive(&id).await.map_err(on_page(&state))?;
    let filter = RunFilter { drive: Some(drive.id), limit: RUNS_OF_A_DRIVE, ..RunFilter::default() };
    let runs = state.store.runs(filter).await.map_err(on_page(&state))?;
    let foreseen = Foreseen::of(&state, &drive, attached);
    let profiles = foreseen.choices();
    let inventory = state.handle.inventory();
    let reports: Vec<_> = drive.pages.ids().filter_map(|id| state.handle.page(&drive, id)).collect();
    let last = state.handle.last_zones(drive.id);
    let zones = (attached && state.handle.is_zoned(&drive)).then(|| ZoneMap::of(&drive, last.as_ref()));
    let history_notes = state.history_notes(&drive).await.map_err(on_page(&state))?;
    let suitability = state.handle.suitability(&drive, pool).await.map_err(on_page(&state))?;
    let page = DrivePage {
        frame: frame(&inventory.host),
        drive: &drive,
        suitability: &suitability,
        runs: &runs,
        history_notes: &history_notes,
        profiles: &profiles,
        attached,
        pages: &reports,
        zones,
    };
    Ok(html(&page))
}

/// Asks the drive for its zones, and shows its page again. What it answers, or why not, is on the page.
async fn read_zones(State(state): State<AppState>, Path(id): Path<String>) -> Page {
    let (drive, attached) = state.drive(&id).await.map_err(on_page(&state))?;
    if attached {
        let _ = state.handle.zones(&drive).await;
    }
    Ok(Redirect::to(&format!("/drives/{}#zones", drive.id)).into_response())
}

fn chosen(pairs: &Pairs) -> Option<Profile> {
    pairs.iter().find(|(name, _)| name == "profile").and_then(|(_, value)| Profile::parse(value))
}

async fn new_run(State(state): State<AppState>, Path(id): Path<String>, Query(pairs): Query<Pairs>) -> Page {
    form(&state, &id, pairs, &[]).await
}

async fn form(state: &AppState, id: &str, pairs: Pairs, errors: &[FieldError]) -> Page {
    let (drive, attached) = state.drive(id).await.map_err(on_page(state))?;
    let foreseen = Foreseen::of(state, &drive, attached);
    let profiles = foreseen.choices();
    let inventory = state.handle.inventory();
    let chosen = chosen(&pairs);
    let given = parameters_of_form(pairs);
    let page =
        NewRunPage { frame: frame(&inventory.host), drive: &drive, profiles: &profiles, chosen, given: &given, errors };
    let mut response = html(&page);
    if !errors.is_empty() {
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(response)
}

/// What a form asks for.
fn request_of(
    drive: &str,
    profile: Profile,
    given: &Map<String, Value>,
    confirm: Option<String>,
) -> Result<RunRequest, Vec<FieldError>> {
    let (parameters, options) = parted(given);
    let (drive, options, tunables) = (drive.to_owned(), RunOptions::read(&options)?, Tunables::new());
    Ok(RunRequest { drive, profile, parameters, options, tunables, confirm })
}

async fn plan(State(state): State<AppState>, Path(id): Path<String>, Query(pairs): Query<Pairs>) -> Page {
    let Some(profile) = chosen(&pairs) else {
        let errors = [FieldError::new("profile", "must be chosen")];
        return form(&state, &id, pairs, &errors).await;
    };
    let given = parameters_of_form(pairs.iter().cloned());
    let request = match request_of(&id, profile, &given, None) {
        Ok(request) => request,
        Err(errors) => return form(&state, &id, pairs, &errors).await,
    };
    match state.handle.plan(request).await {
        Ok((drive, plan)) => {
            let inventory = state.handle.inventory();
            let page = PlanPage {
                frame: frame(&inventory.host),
                drive: &drive,
                plan: &plan,
                given: &given,
                refused: &[],
                errors: &[],
            };
            Ok(html(&page))
        }
        Err(SubmitError::Parameters(errors)) => form(&state, &id, pairs, &errors).await,
        Err(error) => Err(on_page(&state)(error)),
    }
}

async fn start(State(state): State<AppState>, Form(pairs): Form<Pairs>) -> Page {
    let field = |wanted: &str| pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    let (Some(drive), Some(profile)) = (field("drive"), chosen(&pairs)) else {
        let errors = vec![FieldError::new("drive", "and profile must be given")];
        return Err(PageProblem(state, Problem::fields(errors)));
    };
    let given = parameters_of_form(pairs.iter().cloned());
    let request = match request_of(&drive, profile, &given, field("confirm")) {
        Ok(request) => request,
        Err(errors) => return form(&state, &drive, pairs, &errors).await,
    };
    let error = match state.handle.submit(request.clone()).await {
        Ok(run) => return Ok(Redirect::to(&format!("/runs/{}", run.id)).into_response()),
        Err(error) => error,
    };
    let wrong = match error {
        SubmitError::Parameters(errors) => return form(&state, &drive, pairs, &errors).await,
        SubmitError::ConfirmMissing => "is empty: type the phrase that is shown",
        SubmitError::ConfirmWrong => "is not the phrase that is shown. Is this the right drive?",
        other => return Err(on_page(&state)(other)),
    };
    let (target, plan) = state.handle.plan(RunRequest { confirm: None, ..request }).await.map_err(on_page(&state))?;
    let inventory = state.handle.inventory();
    let page = PlanPage {
        frame: frame(&inventory.host),
        drive: &target,
        plan: &plan,
        given: &given,
        refused: &[],
        errors: &[FieldError::new("confirm", wrong)],
    };
    let mut response = html(&page);
    *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    Ok(response)
}

async fn runs(State(state): State<AppState>, Query(pairs): Query<Pairs>) -> Page {
    let before = pairs
        .iter()
        .find(|(name, _)| name == "before")
        .map(|(_, text)| Uuid::parse_str(text).map(RunId))
        .transpose()
        .map_err(|_| PageProblem(state.clone(), Problem::malformed("before must be a run's id")))?;
    let filter = RunFilter { before, limit: RUNS_PER_PAGE, ..RunFilter::default() };
    let runs = state.store.runs(filter).await.map_err(on_page(&state))?;
    let full = u32::try_from(runs.len()).is_ok_and(|count| count == RUNS_PER_PAGE);
    let older = runs.last().filter(|_| full).map(|run| run.id.to_string());
    let inventory = state.handle.inventory();
    Ok(html(&RunsPage { frame: frame(&inventory.host), runs: &runs, older: older.as_deref() }))
}

async fn run(State(state): State<AppState>, Path(id): Path<String>) -> Page {
    let run = state.run(&id).await.map_err(on_page(&state))?;
    let phase_totals = state.store.phase_totals(run.id).await.map_err(on_page(&state))?;
    let count = u32::try_from(RECENT).unwrap_or(u32::MAX);
    let recent = state.store.last_intervals(run.id, count).await.map_err(on_page(&state))?;
    let inventory = state.handle.inventory();
    let page = RunPage { frame: frame(&inventory.host), run: &run, phase_totals: &phase_totals, recent: &recent };
    Ok(html(&page))
}

async fn ordered(state: AppState, id: String, order: Order) -> Page {
    let run = state.order(&id, order).await.map_err(on_page(&state))?;
    Ok(Redirect::to(&format!("/runs/{}", run.id)).into_response())
}

async fn cancel(State(state): State<AppState>, Path(id): Path<String>) -> Page {
    ordered(state, id, Order::Cancel).await
}

async fn pause(State(state): State<AppState>, Path(id): Path<String>) -> Page {
    ordered(state, id, Order::Pause).await
}

async fn resume(State(state): State<AppState>, Path(id): Path<String>) -> Page {
    ordered(state, id, Order::Resume).await
}

async fn methods(State(state): State<AppState>) -> Response {
    let inventory = state.handle.inventory();
    html(&MethodsPage { frame: frame(&inventory.host) })
}
