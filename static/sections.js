// Fetches the page again and takes over what changed in its `data-refresh` sections: what they hold
// is rendered in one place only, the server's templates.

const alike = (a, b) => a.nodeName === b.nodeName && a.dataset?.key === b.dataset?.key;

/** Makes a node like a fresh one of its kind, and leaves what is the same: so the focus, a selection
 *  and the place of a scroll stay. */
function become(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== Node.ELEMENT_NODE) { old.nodeValue = fresh.nodeValue; return; }
  // What is folded open is the reader's.
  const ours = ({ name }) => name !== 'open';
  for (const { name } of [...old.attributes].filter(ours)) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of [...fresh.attributes].filter(ours)) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  let place = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    let match = place;
    while (match && !alike(match, child)) match = match.nextSibling;
    if (!match) { old.insertBefore(document.adoptNode(child), place); continue; }
    while (place !== match) { const gone = place; place = place.nextSibling; gone.remove(); }
    place = match.nextSibling;
    become(match, child);
  }
  while (place) { const gone = place; place = place.nextSibling; gone.remove(); }
}

export async function refreshSections() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!response.ok) throw new Error(`${location.href}: ${response.status}`);
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const section of document.querySelectorAll('[data-refresh]')) {
    const fresh = page.querySelector(`[data-refresh="${section.dataset.refresh}"]`);
    if (!fresh) continue;
    const focused = document.activeElement !== section && section.contains(document.activeElement);
    become(section, fresh);
    // Who stood on a control that is gone stands on the first that is left.
    if (focused && !section.contains(document.activeElement)) section.querySelector('button, a, [tabindex]')?.focus();
  }
}

/** Whether live figures arrive. */
export function showConnection(text) {
  for (const place of document.querySelectorAll('[data-connection]')) {
    place.hidden = !text;
    place.textContent = text ?? '';
  }
}
