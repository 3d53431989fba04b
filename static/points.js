// The points of the charts: at most MOST of them, with every peak and dent kept.
const MOST = 20000;
const BUCKET = 8;

/** One interval of the API as one point: milliseconds, MB/s, and null where nothing completed. */
function pointOf(interval) {
  const point = { seq: interval.seq, phase: interval.phase, from: interval.t_ms - interval.duration_ms, t: interval.t_ms, errors: interval.errors };
  const { seen } = interval;
  point.device_ios = seen?.device_ios ?? null;
  point.spoilt = seen?.spoilt ?? false;
  point.waited = seen?.run_delay_ns == null ? null : seen.run_delay_ns / seen.run_delay_threads / (interval.duration_ms * 1e6 || 1);
  for (const side of ['read', 'write']) {
    const tally = interval[side];
    const some = tally && tally.ios > 0;
    const ms = (ns) => (some && ns != null ? ns / 1e6 : null);
    point[`${side}_mb_per_s`] = some ? tally.bw_bytes_per_s / 1e6 : null;
    point[`${side}_iops`] = some ? tally.iops : null;
    point[`${side}_p50_ms`] = ms(tally?.lat_ns?.p50);
    point[`${side}_p99_ms`] = ms(tally?.lat_ns?.p99);
    point[`${side}_max_ms`] = ms(tally?.lat_ns?.max);
  }
  return point;
}

/** The figures of one side of a column answer at one place; a merged one's rates may be its slowest or fastest. */
function figuresOf(side, columns, i, which) {
  const at = (name) => columns?.[name]?.[i] ?? null;
  const rate = (name) => (which ? at(`${name}_${which}`) ?? at(name) : at(name));
  return {
    [`${side}_mb_per_s`]: rate('mb_per_s'),
    [`${side}_iops`]: rate('iops'),
    [`${side}_p50_ms`]: at('p50_ms'),
    [`${side}_p99_ms`]: at('p99_ms'),
    [`${side}_max_ms`]: at('max_ms'),
  };
}

const rate = (p) => (p.read_mb_per_s ?? 0) + (p.write_mb_per_s ?? 0);
const slowest = (p) => Math.max(p.read_max_ms ?? 0, p.write_max_ms ?? 0);

/** Of each bucket keeps the slowest, the fastest and the one with the longest I/O. */
function thinned(points) {
  const kept = [];
  for (let start = 0; start < points.length;) {
    // A bucket never spans two phases: their edge must stay where it is.
    let end = start + 1;
    while (end < points.length && end < start + BUCKET && points[end].phase === points[start].phase) end += 1;
    let low = start, high = start, long = start;
    for (let i = start; i < end; i += 1) {
      if (rate(points[i]) < rate(points[low])) low = i;
      if (rate(points[i]) > rate(points[high])) high = i;
      if (slowest(points[i]) > slowest(points[long])) long = i;
    }
    for (const index of [...new Set([low, high, long])].sort((a, b) => a - b)) kept.push(points[index]);
    start = end;
  }
  return kept;
}

export class Points {
  constructor(recent) {
    this.all = [];
    this.last = [];
    this.lastSeq = 0;
    /** Intervals taken so far, merged ones for as many as they are. */
    this.counted = 0;
    this.recent = recent;
  }

  /** Takes an interval that follows; says false to one that is known already. */
  add(interval) {
    if (!(interval.seq > this.lastSeq)) return false;
    const point = pointOf(interval);
    this.lastSeq = interval.seq;
    this.counted += 1;
    this.all.push(point);
    this.last.push(point);
    if (this.last.length > this.recent) this.last.shift();
    if (this.all.length > MOST) this.all = thinned(this.all);
    return true;
  }

  /** Takes columns that follow. Of merged intervals each becomes three points, so that its dent and its peak are seen. */
  addColumns(columns) {
    columns.seq.forEach((seq, i) => {
      if (!(seq > this.lastSeq)) return;
      const [t, duration] = [columns.t_ms[i], columns.duration_ms[i]];
      const from = t - duration;
      const parts = columns.merged ? [['min', from + duration / 3], ['', from + duration / 2], ['max', t]] : [['', t]];
      let begins = from;
      for (const [which, at] of parts) {
        this.all.push({
          seq, phase: columns.phase[i], from: begins, t: at, errors: columns.errors[i],
          device_ios: columns.device_ios?.[i] ?? null, spoilt: columns.spoilt?.[i] === 1, waited: columns.waited?.[i] ?? null,
          ...figuresOf('read', columns.read, i, which), ...figuresOf('write', columns.write, i, which),
        });
        begins = at;
      }
      this.lastSeq = seq;
      this.counted += columns.intervals?.[i] ?? 1;
    });
    while (this.all.length > MOST) this.all = thinned(this.all);
  }

  /** The newest intervals one by one, where what came before was thinned. */
  tail(intervals) { this.last = intervals.slice(-this.recent).map(pointOf); }

  get newest() { return this.last[this.last.length - 1]; }

  /** `[time, value]` of one figure, the form charts take. */
  series(figure) { return this.all.map((point) => [point.t, point[figure]]); }

  /** Stretches of spoilt intervals, `[from, to]`, neighbours joined. */
  spoilt() {
    const stretches = [];
    for (const point of this.all) {
      if (!point.spoilt) continue;
      const last = stretches[stretches.length - 1];
      if (last && point.from <= last[1] + 1) last[1] = point.t;
      else stretches.push([point.from, point.t]);
    }
    return stretches;
  }

  has(figure) { return this.all.some((point) => point[figure] != null); }
}
