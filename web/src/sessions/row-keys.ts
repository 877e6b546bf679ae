import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

const links = 'tbody tr:not(.row-gone) .row-link';

/**
 * `j` and `k` go from row to row, `x` chooses the row; Enter opens, as on every link. Keys that
 * are typed into a field or a window are left alone.
 */
export function useRowKeys(frame: RefObject<HTMLElement | null>, onChoose: (id: string) => void): void {
  const choose = useRef(onChoose);
  choose.current = onChoose;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === 'j' || event.key === 'k') step(frame.current, event.key === 'j' ? 1 : -1);
      else if (event.key === 'x') {
        const id = document.activeElement?.closest('tr')?.dataset.id;
        if (id !== undefined) choose.current(id);
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
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
