/**
 * How far each page was scrolled, kept in its entry of the history. The browser would restore it too early, while a
 * page is still a short skeleton.
 */

/** How long a page may take to become tall enough. Any action of the person ends the wait. */
const patienceMs = 30_000;
const settledMs = 150;

let timer: number | undefined;
/** Ends the attempts to restore a place; null: none is restored. */
let stop: (() => void) | null = null;

/** Keeps something with the present entry of the history, beside what is kept already: Back and a reload find it. */
export function keepInEntry(part: object): void {
  window.history.replaceState({ ...window.history.state, ...part }, '');
}

function keepPlace(): void {
  window.clearTimeout(timer);
  if (stop === null) keepInEntry({ scrollY: Math.round(window.scrollY) });
}

/** Makes an entry of the history for `address`, and keeps the place of the one before. A new page begins at the top. */
export function beginEntry(address: string, isNewPage: boolean): void {
  keepPlace();
  stop?.();
  if (isNewPage) window.scrollTo(0, 0);
  window.history.pushState({ scrollY: Math.round(window.scrollY) }, '', address);
}

/** Scrolls to the place of the present entry as soon as the page is tall enough, unless the person scrolls before. */
function restorePlace(): void {
  window.clearTimeout(timer);
  stop?.();
  const place: unknown = window.history.state?.scrollY;
  // A link within the page makes an entry without one; there the browser scrolls.
  if (typeof place !== 'number') return;
  const untilMs = performance.now() + patienceMs;
  let frame = window.requestAnimationFrame(attempt);
  const own = ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const;
  const end = () => {
    window.cancelAnimationFrame(frame);
    for (const event of own) window.removeEventListener(event, end);
    stop = null;
  };
  for (const event of own) window.addEventListener(event, end, { passive: true });
  stop = end;
  function attempt(now: number): void {
    window.scrollTo(0, place as number);
    const reach = document.documentElement.scrollHeight - window.innerHeight;
    if (reach >= (place as number) || now > untilMs) end();
    else frame = window.requestAnimationFrame(attempt);
  }
}

/** Called once, at the start. */
export function keepScrollPlaces(): void {
  window.history.scrollRestoration = 'manual';
  window.addEventListener('popstate', restorePlace);
  window.addEventListener('pagehide', keepPlace);
  window.addEventListener(
    'scroll',
    () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(keepPlace, settledMs);
    },
    { passive: true },
  );
  restorePlace();
}
