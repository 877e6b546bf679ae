import { useLayoutEffect, useRef } from 'preact/hooks';

/** What the present page can do, for the palette. */
export interface PageAction {
  readonly label: string;
  readonly act: () => void;
}

const offered = new Set<{ readonly current: readonly PageAction[] }>();

/** Offers actions while the component is shown. */
export function usePageActions(actions: readonly PageAction[]): void {
  const latest = useRef(actions);
  latest.current = actions;
  useLayoutEffect(() => {
    offered.add(latest);
    return () => {
      offered.delete(latest);
    };
  }, []);
}

export function pageActions(): PageAction[] {
  return [...offered].flatMap(({ current }) => current);
}
