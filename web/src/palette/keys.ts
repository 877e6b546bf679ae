import { useLayoutEffect, useRef } from 'preact/hooks';
import { authState } from '../auth.ts';

/** Where single keys are text. */
const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName));

const isWindowOpen = () => document.querySelector('dialog[open]') !== null;

/** The keys that work on every page. */
export function useGlobalKeys(open: (what: 'palette' | 'shortcuts') => void): void {
  const latest = useRef(open);
  latest.current = open;
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || authState().phase === 'expired') return;
      const isCommand = event.ctrlKey || event.metaKey;
      if (isCommand && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        // It leads away from a window, and from what was typed there.
        if (!isWindowOpen()) latest.current('palette');
      }
      if (isCommand || isTyping(event.target) || isWindowOpen()) return;
      if (event.key === '?') latest.current('shortcuts');
      if (event.key === '/' && focusSearch()) event.preventDefault();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('main input[type="search"]');
  field?.focus();
  field?.select();
  return field !== null;
}
