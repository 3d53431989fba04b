// Writes live values as src/web/view/format.rs writes those of the page.
const NONE = '–';
const grouped = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, '\u202f');

export function figure(value) {
  if (value == null || Number.isNaN(value)) return NONE;
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 0.01) return value.toFixed(4);
  if (size < 10) return value.toFixed(2);
  if (size < 100) return value.toFixed(1);
  return grouped(value);
}

export const count = grouped;

/** A latency given in milliseconds. */
export function latency(ms) {
  if (ms == null) return NONE;
  if (ms < 0.001) return `${Math.round(ms * 1e6)} ns`;
  if (ms < 1) return `${(ms * 1e3).toFixed(1)} µs`;
  if (ms < 1000) return `${ms.toFixed(2)} ms`;
  return `${(ms / 1000).toFixed(2)} s`;
}

/** Powers of 1000, as on a drive's label. */
export function bytes(value) {
  const names = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  let index = 0;
  while (value >= 1000 && index + 1 < names.length) { value /= 1000; index += 1; }
  return `${index === 0 ? value : value.toFixed(value >= 100 ? 0 : 1)} ${names[index]}`;
}

export function seconds(value) {
  const s = Math.round(value);
  if (s < 90) return `${s} s`;
  if (s < 5400) return `${Math.floor((s + 30) / 60)} min`;
  if (s < 172800) {
    const minutes = Math.floor((s + 30) / 60);
    return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
  }
  const hours = Math.floor((s + 1800) / 3600);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Exact enough for an axis or a pointer: `1 h 2 min 5 s`. */
export function clock(ms) {
  const s = Math.floor(ms / 1000);
  const parts = [[Math.floor(s / 86400), 'd'], [Math.floor(s / 3600) % 24, 'h'], [Math.floor(s / 60) % 60, 'min'], [s % 60, 's']];
  const told = parts.filter(([n]) => n > 0).map(([n, unit]) => `${n} ${unit}`);
  return told.length ? told.join(' ') : '0 s';
}

/** 0 to 1; only the very end is 100 %. */
export const percent = (fraction) => `${fraction >= 1 ? 100 : Math.min(99, Math.round(fraction * 100))} %`;
