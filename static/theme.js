// Loaded in the head, before anything is painted: a chosen theme must not flash the other one.
(() => {
  const names = ['system', 'light', 'dark'];
  const root = document.documentElement;
  const stored = () => {
    // Storage may be forbidden; then the choice lasts as long as the page.
    try { return localStorage.getItem('drivescope-theme'); } catch { return null; }
  };
  const apply = (name) => {
    if (name === 'system') delete root.dataset.theme; else root.dataset.theme = name;
    document.dispatchEvent(new CustomEvent('themechange'));
  };
  let current = names.includes(stored()) ? stored() : 'system';
  apply(current);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => apply(current));
  document.addEventListener('DOMContentLoaded', () => {
    const button = document.querySelector('[data-theme-toggle]');
    const label = document.querySelector('[data-theme-name]');
    if (!button || !label) return;
    label.textContent = current;
    button.hidden = false;
    button.addEventListener('click', () => {
      current = names[(names.indexOf(current) + 1) % names.length];
      label.textContent = current;
      try { localStorage.setItem('drivescope-theme', current); } catch { /* lasts as long as the page */ }
      apply(current);
    });
  });
})();
