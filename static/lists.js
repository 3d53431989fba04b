// Keeps the pages of drives and runs fresh while they are looked at.
import { refreshSections, showConnection } from './sections.js';

// As often as the service itself looks for drives.
const PERIOD_MS = 2000;
let timer = 0;

async function again() {
  clearTimeout(timer);
  if (document.visibilityState === 'visible') {
    try {
      await refreshSections();
      showConnection(null);
    } catch {
      showConnection('The service does not answer. What is below is the last known; the page tries again by itself.');
    }
  }
  // After the answer, so that a slow service is not asked faster than it answers.
  clearTimeout(timer);
  timer = setTimeout(again, PERIOD_MS);
}

document.addEventListener('visibilitychange', again);
timer = setTimeout(again, PERIOD_MS);
