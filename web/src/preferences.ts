/** What a person has chosen for this browser: colours and time zone. Kept in its localStorage. */

import { useEffect, useState } from 'preact/hooks';
import { setTimeZone } from './format.ts';

export type Theme = 'system' | 'light' | 'dark';
export type Zone = 'machine' | 'utc';
export interface Preferences {
  readonly theme: Theme;
  readonly zone: Zone;
}

const key = 'sdp.preferences';
const listeners = new Set<() => void>();
const dark = window.matchMedia('(prefers-color-scheme: dark)');
let present = read();
let isOnPaper = false;

function read(): Preferences {
  let kept: Partial<Preferences> | null = null;
  try {
    kept = JSON.parse(window.localStorage.getItem(key) ?? 'null') as Partial<Preferences> | null;
  } catch {
    // No storage, or nothing of ours in it.
  }
  return {
    theme: kept?.theme === 'light' || kept?.theme === 'dark' ? kept.theme : 'system',
    zone: kept?.zone === 'utc' ? 'utc' : 'machine',
  };
}

function isDark(): boolean {
  return present.theme === 'system' ? dark.matches : present.theme === 'dark';
}

function apply(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  setTimeZone(present.zone === 'utc' ? 'UTC' : undefined);
  for (const listener of listeners) listener();
}

/** Called once, before the first page is drawn. */
export function applyPreferences(): void {
  apply();
  dark.addEventListener('change', () => {
    if (!isOnPaper) apply();
  });
  const { dataset } = document.documentElement;
  let onScreen = dataset.theme;
  // Without rendering anything: charts draw themselves anew at these events, after this.
  window.addEventListener('beforeprint', () => {
    isOnPaper = true;
    onScreen = dataset.theme;
    dataset.theme = 'light';
  });
  // In Firefox the system has light colours from before the first event until after the second.
  window.addEventListener('afterprint', () => {
    isOnPaper = false;
    dataset.theme = onScreen;
    window.requestAnimationFrame(apply);
  });
  // Another tab has changed them.
  window.addEventListener('storage', (event) => {
    if (event.key !== key) return;
    present = read();
    apply();
  });
}

export function setPreferences(part: Partial<Preferences>): void {
  present = { ...present, ...part };
  try {
    window.localStorage.setItem(key, JSON.stringify(present));
  } catch {
    // They hold until the page is loaded again.
  }
  apply();
}

/** The component renders again whenever they change. */
export function usePreferences(): Preferences & { readonly isDark: boolean } {
  const [state, setState] = useState(() => ({ ...present, isDark: isDark() }));
  useEffect(() => {
    const update = () => setState({ ...present, isDark: isDark() });
    listeners.add(update);
    update();
    return () => {
      listeners.delete(update);
    };
  }, []);
  return state;
}

/** Some browsers name the language of a machine without one as `C`, which `Intl` and so the charts refuse. */
export function mendLanguage(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-GB', configurable: true });
  }
}
