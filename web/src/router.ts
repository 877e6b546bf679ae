import { useEffect, useState } from 'preact/hooks';

/** The page's address, and navigation within the console without a reload. */

export interface Address {
  path: string;
  query: URLSearchParams;
}

const listeners = new Set<() => void>();

/** Addresses that the server answers itself, so that a link to one leaves the console. */
const served = /^\/(api|docs|session_templates|user_data|projects|health_check|metrics)(\/|$)/;

/** Browsers take some 20 replacements in a second; a chart that is panned makes 60. */
const replacedEveryMs = 100;
/** Shown already, and told to the browser soon; null: told. */
let untold: string | null = null;
let telling: number | undefined;

const present = () => untold ?? window.location.pathname + window.location.search;

function currentAddress(): Address {
  const { pathname, searchParams } = new URL(present(), window.location.origin);
  return { path: pathname, query: searchParams };
}

function tell(): void {
  window.clearTimeout(telling);
  telling = undefined;
  if (untold === null) return;
  window.history.replaceState(null, '', untold);
  untold = null;
  telling = window.setTimeout(tell, replacedEveryMs);
}

/** The browser is at another address by itself. */
function forget(): void {
  untold = null;
}

/** Goes to `address`. `replace` adds no entry to the history. */
export function navigate(address: string, options: { replace?: boolean } = {}): void {
  if (address !== present()) {
    if (options.replace === true) {
      untold = address;
      if (telling === undefined) tell();
    } else {
      tell();
      window.history.pushState(null, '', address);
    }
  }
  for (const listener of listeners) listener();
}

/** The present address; the component renders again whenever it changes. */
export function useAddress(): Address {
  const [address, setAddress] = useState(currentAddress);
  const drawnAt = present();
  useEffect(() => {
    const update = () => setAddress(currentAddress());
    const moved = () => {
      forget();
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
