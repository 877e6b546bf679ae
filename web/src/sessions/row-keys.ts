import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

const links = 'tbody tr:not(.row-gone) .row-link';

/**
 * `j` and `k` go from row to row, `x` chooses the row; Enter opens, as on every link. Keys that
 * are typed into a field or a window are left alone.
 */
export function useRowKeys(frame: RefObject<HTMLElement | null>, onChoose: (id: string) => void): void {
  useListKeys((key) => {
    if (key === 'j' || key === 'k') step(frame.current, key === 'j' ? 1 : -1);
    else if (key === 'x') {
      const id = document.activeElement?.closest('tr')?.dataset.id;
      if (id !== undefined) onChoose(id);
    }
  });
}

/** Single keys, while the component is shown. */
export function useListKeys(onKey: (key: string) => void): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      latest.current(event.key);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest('dialog, textarea, select, [contenteditable]') !== null) return true;
  return target instanceof HTMLInputElement && target.type !== 'checkbox';
}

function step(frame: HTMLElement | null, by: number): void {
  const rows = [...(frame?.querySelectorAll<HTMLElement>(links) ?? [])];
  const present = document.activeElement?.closest('tr');
  const at = rows.findIndex((link) => link.closest('tr') === present);
  const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by;
  rows[next]?.focus();
}
