import { useEffect, useState } from 'preact/hooks';
import { beginEntry } from './scroll-place.ts';

/** The page's address, and navigation within the console without a reload. */

export interface Address {
  path: string;
  query: URLSearchParams;
}

const listeners = new Set<() => void>();

/** Addresses that the server answers itself, so that a link to one leaves the console. */
const served = /^\/(api|docs|session_templates|user_data|projects|health_check|metrics)(\/|$)/;

/** WebKit takes 100 changes of the history in this time and throws at the next; a chart that is panned makes 600. */
const periodMs = 10_000;
/** How many changes in that time are written at once. Only an address that continues to change waits. */
const atOnce = 30;
const replacedEveryMs = 300;
/** The address that is shown, and that the browser gets soon; null: it has it. */
let pending: string | null = null;
let timer: number | undefined;
/** When the browser got an address, within the last period. */
let written: number[] = [];

const present = () => pending ?? window.location.pathname + window.location.search;

function currentAddress(): Address {
  const { pathname, searchParams } = new URL(present(), window.location.origin);
  return { path: pathname, query: searchParams };
}

function writeAddress(): void {
  window.clearTimeout(timer);
  timer = undefined;
  if (pending === null) return;
  // The entry keeps its place.
  window.history.replaceState(window.history.state, '', pending);
  pending = null;
  written.push(performance.now());
}

function writeSoon(): void {
  const sinceMs = performance.now() - periodMs;
  written = written.filter((at) => at > sinceMs);
  if (written.length < atOnce) writeAddress();
  else timer ??= window.setTimeout(writeAddress, replacedEveryMs);
}

window.addEventListener('pagehide', writeAddress);

const holders = new Map<unknown, () => boolean>();
const ask = (event: BeforeUnloadEvent) => {
  if ([...holders.values()].some((loses) => loses())) event.preventDefault();
};

/**
 * While a holder would lose what it has, the browser asks before the window is closed or loaded again.
 * @param loses whether there is something to lose, called at that time; null: there is nothing
 */
export function askBeforeClosing(holder: unknown, loses: (() => boolean) | null): void {
  if (loses !== null) holders.set(holder, loses);
  else holders.delete(holder);
  if (holders.size > 0) window.addEventListener('beforeunload', ask);
  else window.removeEventListener('beforeunload', ask);
}

const keepers = new Map<unknown, { address: string; stays: () => boolean }>();
window.addEventListener('popstate', (event) => {
  const keeper = [...keepers.values()].find(({ stays }) => stays());
  if (keeper === undefined) return;
  // The others never know: this is the first listener of the page.
  event.stopImmediatePropagation();
  window.history.pushState({ scrollY: Math.round(window.scrollY) }, '', keeper.address);
});

/**
 * Back and forward would lose what a window over the page holds.
 * @param stays called when the reader goes back: true keeps the page; null: there is nothing to keep
 */
export function askBeforeMoving(holder: unknown, stays: (() => boolean) | null): void {
  if (stays === null) keepers.delete(holder);
  else keepers.set(holder, { address: keepers.get(holder)?.address ?? present(), stays });
}

/** Goes to `address`. `replace` adds no entry to the history. */
export function navigate(address: string, options: { replace?: boolean } = {}): void {
  if (address !== present()) {
    if (options.replace === true) {
      pending = address;
      writeSoon();
    } else {
      const { path } = currentAddress();
      writeAddress();
      beginEntry(address, address.split('?')[0] !== path);
    }
  }
  for (const listener of listeners) listener();
}

/** The present address with other parameters; empty ones are left out. */
export function withParameters(part: Readonly<Record<string, string>>): string {
  const { path, query } = currentAddress();
  for (const [name, value] of Object.entries(part)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The present address; the component renders again whenever it changes. */
export function useAddress(): Address {
  const [address, setAddress] = useState(currentAddress);
  const drawnAt = present();
  useEffect(() => {
    const update = () => setAddress(currentAddress());
    const moved = () => {
      // The browser went to another address by itself.
      pending = null;
      update();
    };
    listeners.add(update);
    window.addEventListener('popstate', moved);
    // A click may come after the render and before the listener.
    if (present() !== drawnAt) update();
    return () => {
      listeners.delete(update);
      window.removeEventListener('popstate', moved);
    };
  }, []);
  return address;
}

/** Turns ordinary clicks on links to console pages into `navigate`. Called once, at the start. */
export function followLinksInside(): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href, window.location.href);
    if (url.origin !== window.location.origin || served.test(url.pathname)) return;
    if (url.hash !== '' && url.pathname === window.location.pathname) return;
    event.preventDefault();
    navigate(url.pathname + url.search);
    window.scrollTo(0, 0);
  });
}
