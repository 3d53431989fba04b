// Everything of a run's page but its charts: words and numbers at their `data-` hooks, as text only.
import { bytes, clock, count, figure, latency, percent, seconds } from './format.js';

const all = (hook) => document.querySelectorAll(`[data-run-${hook}]`);
const say = (hook, text) => all(hook).forEach((place) => { if (place.textContent !== text) place.textContent = text; });
const over = (state) => ['finished', 'cancelled', 'failed', 'interrupted'].includes(state);

/** The run as JSON. */
export function showRun(run) {
  const { progress } = run;
  document.body.toggleAttribute('data-live', !over(run.state));
  all('fraction').forEach((bar) => { bar.value = progress.fraction; });
  say('percent', percent(progress.fraction));
  say('elapsed', seconds(progress.elapsed_s));
  say('remaining', over(run.state) ? '–' : progress.remaining_s == null ? 'not known' : seconds(progress.remaining_s));
  say('read', bytes(progress.read_bytes));
  say('written', bytes(progress.written_bytes));
  if (run.temperature_celsius) {
    say('temperature', `${run.temperature_celsius.latest.toFixed(1)}\u00a0°C`);
    say('temperature-max', `${run.temperature_celsius.max.toFixed(1)}\u00a0°C`);
  }
  say('phase', run.plan?.phases?.[progress.phase]?.name ?? '–');
  if (run.verdict) {
    // At once and as text; the evidence follows when the section is fetched anew.
    say('verdict-sentence', run.verdict.sentence);
    document.querySelector('[data-run-verdict]')?.classList.remove('pending');
  }
  const segment = document.querySelector('.seg.now');
  if (segment) {
    const part = (progress.elapsed_s - Number(segment.dataset.started ?? 0) / 1000) / Math.max(1, Number(segment.dataset.estimated));
    const width = Number(segment.querySelector('.bed').getAttribute('width'));
    segment.querySelector('.fill').setAttribute('width', (width * Math.min(1, Math.max(0, part))).toFixed(1));
  }
}

/** The newest interval, and the table of the last ones. */
export function showPoints(points, phaseNames) {
  say('seq', count(points.lastSeq));
  const now = points.newest;
  if (!now) return;
  const sum = (name) => (now[`read_${name}`] == null && now[`write_${name}`] == null ? null : (now[`read_${name}`] ?? 0) + (now[`write_${name}`] ?? 0));
  const longest = [now.read_p99_ms, now.write_p99_ms].filter((ms) => ms != null);
  say('rate', sum('mb_per_s') == null ? 'no I/O' : `${figure(sum('mb_per_s'))} MB/s`);
  say('iops', figure(sum('iops')));
  say('p99', longest.length ? latency(Math.max(...longest)) : '–');
  document.querySelectorAll('[data-spoilt]').forEach((key) => { key.hidden = !points.spoilt().length; });
  const body = document.querySelector('[data-run-intervals]');
  // Rows are kept and only their text changes: neither the place of a scroll nor a selection jumps.
  const rows = points.last.slice().reverse();
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((point, index) => {
    const row = body.rows[index] ?? newRow(body);
    const cells = [count(point.seq), clock(point.t), phaseNames[point.phase] ?? point.phase];
    for (const side of ['read', 'write']) {
      cells.push(figure(point[`${side}_mb_per_s`]), figure(point[`${side}_iops`]), latency(point[`${side}_p50_ms`]), latency(point[`${side}_p99_ms`]));
    }
    const spoilt = point.spoilt ? ' spoilt' : '';
    const waited = point.waited == null ? '–' : `${(point.waited * 100).toFixed(1)}\u00a0%${spoilt}`;
    cells.push(point.errors, point.device_ios == null ? '–' : count(point.device_ios), waited);
    cells.forEach((text, cell) => { if (row.cells[cell].textContent !== String(text)) row.cells[cell].textContent = text; });
  });
}

function newRow(body) {
  const row = body.insertRow();
  const head = document.createElement('th');
  head.scope = 'row';
  row.append(head);
  for (let cell = 1; cell < 14; cell += 1) row.insertCell();
  row.cells[2].className = 'word';
  return row;
}
