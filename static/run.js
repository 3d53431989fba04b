// The live page of a run: every interval once and in order, from the table first, then as it comes.
import { Charts } from './charts.js';
import { showPoints, showRun } from './page.js';
import { Points } from './points.js';
import { refreshSections, showConnection } from './sections.js';

const id = document.body.dataset.run;
const api = `/api/v1/runs/${id}`;
const recent = Number(document.querySelector('[data-run-intervals]').dataset.runIntervals);

const points = new Points(recent);
let run = null;
let charts = null;
let stream = null;
let phaseNames = [];
let ended = false;

/** For tests: what the page knows. */
window.drivescopeRun = {
  get points() { return points.all.length; },
  get counted() { return points.counted; },
  get lastSeq() { return points.lastSeq; },
  get state() { return run?.state ?? document.body.dataset.state; },
};

async function json(path) {
  const response = await fetch(path, { headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

// ---- painting: many arrivals, one picture -------------------------------------------------------

let frame = 0;
let costMs = 0;
let paintedAt = 0;

function paintSoon() {
  if (frame) return;
  frame = requestAnimationFrame(() => {
    frame = 0;
    // A picture may take a quarter of the time at most: the page must stay responsive on a small machine.
    const wait = Math.max(100, 3 * costMs) - (performance.now() - paintedAt);
    if (wait > 0) { setTimeout(paintSoon, wait); return; }
    const started = performance.now();
    if (run) showRun(run);
    showPoints(points, phaseNames);
    charts?.paint(points);
    paintedAt = performance.now();
    costMs = paintedAt - started;
    if (points.all.length && !performance.getEntriesByName('first-chart').length) performance.mark('first-chart');
  });
}

// ---- the run itself -----------------------------------------------------------------------------

// What the sections of the page show. The page itself may be older than the first answer of the API.
let shown = `${document.body.dataset.state} ${document.body.dataset.phase}`;
const gist = (r) => [
  r.state, r.progress.phase, r.phases.length, r.stalled, Boolean(r.verdict), r.holds, r.waiting_for, Math.min(r.errors, 21),
  r.kernel_log.length, r.conditions?.taken_at_ms, r.conditions?.changed.filter((change) => change.restored).length,
].join(' ');

function takeRun(next) {
  const first = run === null;
  run = next;
  // Not with the picture: a hidden tab paints none.
  document.body.dataset.state = run.state;
  phaseNames = run.plan.phases.map((phase) => phase.name);
  const changed = first ? `${run.state} ${run.progress.phase}` !== shown : gist(run) !== shown;
  shown = gist(run);
  if (changed) sectionsSoon();
  paintSoon();
}

let sectionsTimer = 0;

/** Phases of a simulated drive change many times a second; the server is asked twice a second at most. */
function sectionsSoon() {
  if (sectionsTimer) return;
  sectionsTimer = setTimeout(async () => {
    try {
      await Promise.all([refreshSections(), describe()]);
    } catch (error) {
      console.warn('the sections stay as they were', error);
    }
    sectionsTimer = 0;
    paintSoon();
  }, 500);
}

async function describe() {
  const description = await json(`${api}/charts`);
  if (typeof echarts === 'undefined') return;
  charts ??= new Charts(phaseNames);
  charts.describe(description);
}

// ---- intervals: no gap, no duplicate ------------------------------------------------------------

function takeInterval(interval) {
  if (interval.seq > points.lastSeq + 1) {
    // Something is missing between: the table has it.
    connect();
    return;
  }
  if (points.add(interval)) paintSoon();
}

/** What the table has after the last interval known, as columns, merged by the server where a screen could not show all. */
function missing() {
  // From the first unknown one: a merged interval that held a known one would count it twice.
  return json(`${api}/series?from=${points.lastSeq + 1}`);
}

async function takeColumns(columns) {
  points.addColumns(columns);
  if (columns.seq.length) {
    // The table shows every interval, with figures that the charts do not have.
    const from = Math.max(1, points.lastSeq - recent + 1);
    points.tail((await json(`${api}/intervals?from=${from}&to=${points.lastSeq}`)).intervals);
  }
  paintSoon();
}

let connecting = false;
let retryTimer = 0;
let retryMs = 1000;
let heardAt = 0;

/** Table first, then the stream from where the table ends. Also the way back after an error or sleep. */
async function connect() {
  if (connecting || ended) return;
  connecting = true;
  clearTimeout(retryTimer);
  stream?.close();
  stream = null;
  try {
    // Both at once: the intervals of a long run take the longest, and nothing may go before them.
    const [next, page] = await Promise.all([json(api), missing()]);
    takeRun(next);
    await takeColumns(page);
    if (['finished', 'cancelled', 'failed'].includes(run.state)) await end();
    else listen();
    showConnection(null);
    retryMs = 1000;
  } catch (error) {
    console.warn('the run cannot be followed now', error);
    retry();
  }
  connecting = false;
}

function retry() {
  stream?.close();
  stream = null;
  showConnection('The service does not answer. The figures below are the last known; the page tries again by itself.');
  retryTimer = setTimeout(connect, retryMs);
  retryMs = Math.min(30000, retryMs * 2);
}

function listen() {
  heardAt = Date.now();
  const source = new EventSource(`${api}/events?from=${points.lastSeq}`);
  stream = source;
  const on = (name, take) => source.addEventListener(name, (event) => {
    if (source !== stream) return;
    heardAt = Date.now();
    take(event);
  });
  on('interval', (event) => takeInterval(JSON.parse(event.data)));
  on('run', (event) => takeRun(JSON.parse(event.data)));
  on('end', () => end().catch(retry));
  // The browser would come back by itself and replay everything it slept through; we ask the table first.
  on('error', () => { source.close(); retryTimer = setTimeout(connect, retryMs); retryMs = Math.min(30000, retryMs * 2); });
}

async function end() {
  ended = true;
  stream?.close();
  stream = null;
  // One after the other: a run that is over has all its intervals in the table.
  takeRun(await json(api));
  await takeColumns(await missing());
  sectionsSoon();
}

document.addEventListener('visibilitychange', () => {
  // A tab that slept may hold a dead connection without knowing.
  if (document.visibilityState === 'visible' && !ended && Date.now() - heardAt > 5000) connect();
  paintSoon();
});
window.addEventListener('pageshow', (event) => { if (event.persisted) { ended = false; connect(); } });
window.addEventListener('pagehide', () => stream?.close());

await Promise.all([describe().catch((error) => console.warn('no charts', error)), connect()]);
