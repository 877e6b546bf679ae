import type uPlot from 'uplot';
import type { TimeSpan } from '../model.ts';

export interface GroupActions {
  /** The time at the shared cursor, or null without a cursor. */
  cursorMoved: (timeMs: number | null) => void;
  zoom: (factor: number, atMs: number) => void;
  pan: (part: number) => void;
  reset: () => void;
  /** Puts one of the two cursors that stay. */
  mark: (which: MarkName, timeMs: number) => void;
  /** Begins an annotation of a moment, or of a range. */
  annotate: (fromMs: number, toMs: number | null) => void;
}

export type MarkName = 'a' | 'b';

/** Less is not seen, and the time axis does not move by it. */
const minPan = 0.0025;
const doubleClickMs = 250;

interface Member {
  chart: uPlot;
  originMs: number;
}

/** The charts of one dashboard: one time axis, one cursor, the same keys in each. */
export class ChartGroup {
  readonly syncKey: string;
  readonly #members = new Set<Member>();
  readonly #listeners = new Set<(timeMs: number | null) => void>();
  readonly #actions: () => GroupActions;
  #cursorMs: number | null = null;
  #shown: number | null | undefined;
  #clickTimer: number | undefined;
  #isAnnotating = false;
  /** Share of the window that the wheel has gone sideways, and the charts have not. */
  #panned = 0;
  #panFrame: number | undefined;

  /** `actions` is called at each use, so that it may change with every render of the page. */
  constructor(syncKey: string, actions: () => GroupActions) {
    this.syncKey = syncKey;
    this.#actions = actions;
  }

  /** Adds a chart; the returned function removes it. */
  join(member: Member): () => void {
    this.#members.add(member);
    return () => this.#members.delete(member);
  }

  /** Tells of every move of the cursor; the returned function ends it. */
  listen(listener: (timeMs: number | null) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called by each chart; the page is notified once for all. */
  cursorMoved(timeMs: number | null): void {
    this.#cursorMs = timeMs;
    if (this.#shown === timeMs) return;
    this.#shown = timeMs;
    this.#actions().cursorMoved(timeMs);
    for (const listener of this.#listeners) listener(timeMs);
  }

  get cursorMs(): number | null {
    return this.#cursorMs;
  }

  /** Runs the key's action; true when the charts handle this key. */
  key(event: KeyboardEvent, span: TimeSpan): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const length = span.toMs - span.fromMs;
    const at = this.#cursorMs ?? (span.fromMs + span.toMs) / 2;
    const work: Record<string, () => void> = {
      ArrowLeft: () =>
        event.shiftKey ? this.#actions().pan(-0.25) : this.moveCursor(at - length / 200, span),
      ArrowRight: () =>
        event.shiftKey ? this.#actions().pan(0.25) : this.moveCursor(at + length / 200, span),
      Home: () => this.moveCursor(span.fromMs, span),
      End: () => this.moveCursor(span.toMs, span),
      '+': () => this.#actions().zoom(0.5, at),
      '=': () => this.#actions().zoom(0.5, at),
      '-': () => this.#actions().zoom(2, at),
      Escape: () => this.#actions().reset(),
      '0': () => this.#actions().reset(),
      a: () => this.#actions().mark('a', Math.round(at)),
      b: () => this.#actions().mark('b', Math.round(at)),
      m: () => this.#actions().annotate(Math.round(at), null),
    };
    const action = work[event.key];
    if (action === undefined) return false;
    event.preventDefault();
    action();
    return true;
  }

  /** The wheel zooms only together with the control key: alone it scrolls the page, as everywhere; sideways it pans. */
  wheel(event: WheelEvent, chart: uPlot, originMs: number): void {
    if (!event.ctrlKey && !event.metaKey) {
      if (Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
      event.preventDefault();
      this.#panned += event.deltaX / Math.max(1, chart.over.clientWidth);
      this.#panFrame ??= requestAnimationFrame(() => this.#panOnce());
      return;
    }
    event.preventDefault();
    const left = event.clientX - chart.over.getBoundingClientRect().left;
    this.#actions().zoom(event.deltaY > 0 ? 1.25 : 0.8, chart.posToVal(left, 'x') + originMs);
  }

  /** Once in each frame, however many turns of the wheel came before it. */
  #panOnce(): void {
    this.#panFrame = undefined;
    if (Math.abs(this.#panned) < minPan) return;
    this.#actions().pan(this.#panned);
    this.#panned = 0;
  }

  /** A click puts the first cursor that stays, with Shift the second. A second click soon after means the whole range. */
  click(event: MouseEvent, chart: uPlot, originMs: number): void {
    window.clearTimeout(this.#clickTimer);
    if (event.detail > 1) return;
    const left = event.clientX - chart.over.getBoundingClientRect().left;
    const timeMs = Math.round(chart.posToVal(left, 'x') + originMs);
    this.#clickTimer = window.setTimeout(() => this.mark(event.shiftKey ? 'b' : 'a', timeMs), doubleClickMs);
  }

  /** A drag with Alt annotates what it covers, and does not zoom. */
  press(event: MouseEvent): void {
    this.#isAnnotating = event.altKey;
  }

  get isAnnotating(): boolean {
    return this.#isAnnotating;
  }

  annotate({ fromMs, toMs }: TimeSpan): void {
    this.#actions().annotate(Math.round(fromMs), Math.round(toMs));
  }

  mark(which: MarkName, timeMs: number): void {
    this.#actions().mark(which, timeMs);
  }

  /** Draws all charts again, with what has been marked on them. */
  redraw(): void {
    for (const { chart } of this.#members) chart.redraw(false, false);
  }

  moveCursor(toMs: number, span: TimeSpan): void {
    const timeMs = Math.min(span.toMs, Math.max(span.fromMs, toMs));
    for (const { chart, originMs } of this.#members) {
      chart.setCursor({ left: chart.valToPos(timeMs - originMs, 'x'), top: chart.over.clientHeight / 2 });
    }
    // Charts know the cursor by the pixel; there may be none over time.
    this.cursorMoved(timeMs);
  }
}
