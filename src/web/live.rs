//! Live streams: replay from the table, then follow what is committed.
//!
//! A first view, a reconnect (`Last-Event-ID`), a second viewer and a view after the end are one path:
//! read the table from the last number seen, wait for the head of the run to move, read again.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderName};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::Stream;
use futures_util::stream::unfold;
use serde::Deserialize;
use tokio::sync::watch;

use super::AppState;
use super::problem::Problem;
use crate::model::run::{Run, RunId};
use crate::store::{Range, StoreError};

/// Intervals read at once. Bounds what a stream holds in memory.
const PAGE: u32 = 500;
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Query of `GET runs/{id}/events`.
#[derive(Debug, Deserialize)]
pub struct From {
    /// The last interval already known; the stream begins after it. `Last-Event-ID` outranks it.
    from: Option<u64>,
}

struct Live {
    state: AppState,
    id: RunId,
    last_seq: u64,
    queue: VecDeque<Event>,
    head: Option<watch::Receiver<Arc<Run>>>,
    told: Option<Arc<Run>>,
    ended: bool,
}

/// `GET runs/{id}/events`
pub async fn events(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<From>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let run = state.run(&id).await?;
    let last_event_id = headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok());
    let last_seq = match last_event_id {
        Some(text) => text
            .trim()
            .parse()
            .map_err(|_| Problem::malformed(format!("Last-Event-ID is {text:?}, must be an interval's number")))?,
        None => query.from.unwrap_or(0),
    };
    let head = state.handle.follow(run.id);
    let live = Live { state, id: run.id, last_seq, queue: VecDeque::new(), head, told: None, ended: false };
    let stream = unfold(live, |mut live| async {
        loop {
            if let Some(event) = live.queue.pop_front() {
                return Some((Ok(event), live));
            }
            if live.ended {
                return None;
            }
            if let Err(error) = live.fill().await {
                // The client reconnects with its last number, and nothing is lost.
                tracing::warn!(%error, run.id = %live.id, "a live stream ends early");
                return None;
            }
        }
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

impl Live {
    /// Puts what is new into the queue; waits until something is.
    async fn fill(&mut self) -> Result<(), StoreError> {
        // The head is looked at before the table: what the table shows is then at least as new.
        let head = match &mut self.head {
            Some(head) => Some(Arc::clone(&head.borrow_and_update())),
            None => self.state.store.run(self.id).await?.map(Arc::new),
        };
        // A run that was deleted has nothing more to tell.
        let Some(head) = head else {
            self.ended = true;
            return Ok(());
        };
        let range = Range { from: self.last_seq + 1, to: u64::MAX, limit: PAGE };
        let intervals = self.state.store.intervals(self.id, range).await?;
        let full = u32::try_from(intervals.len()).is_ok_and(|count| count == PAGE);
        for interval in &intervals {
            self.last_seq = interval.seq;
            let event = Event::default().event("interval").id(interval.seq.to_string());
            self.queue.extend(event.json_data(interval));
        }
        if self.told.as_ref() != Some(&head) {
            self.queue.extend(Event::default().event("run").json_data(&*head));
            self.told = Some(Arc::clone(&head));
        }
        if full {
            return Ok(());
        }
        if head.state.is_over() {
            self.queue.push_back(Event::default().event("end").data(head.state.as_str()));
            self.ended = true;
            return Ok(());
        }
        if self.queue.is_empty() {
            self.wait().await;
        }
        Ok(())
    }

    async fn wait(&mut self) {
        let moved = async {
            match &mut self.head {
                Some(head) => {
                    // An error means that the run is over: its row is final and will be read next.
                    if head.changed().await.is_err() {
                        self.head = None;
                    }
                }
                None => tokio::time::sleep(Duration::from_secs(1)).await,
            }
        };
        tokio::select! {
            () = moved => {}
            // An open stream would keep the server from ending.
            () = self.state.shutdown.cancelled() => self.ended = true,
        }
    }
}
