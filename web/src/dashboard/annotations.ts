import { useState } from 'preact/hooks';
import type { Annotation } from '../api.ts';
import { listAnnotations } from '../dashboard-api.ts';
import { useEvery, useResource } from '../hooks.ts';
import type { TimeSpan } from './model.ts';

/** An annotation that is being written: a new one has no id. */
export interface Draft {
  id: string | null;
  fromMs: number;
  /** Null: a moment. */
  toMs: number | null;
  label: string;
  text: string;
  tags: string;
}

const refreshMs = 30_000;
/** The same list each time: charts draw again when it changes. */
const none: readonly Annotation[] = [];

/** The annotations of a session, and the one that is being written. */
export function useAnnotations(sessionId: string) {
  const list = useResource(sessionId, (signal) => listAnnotations(sessionId, signal));
  const [draft, setDraft] = useState<Draft | null>(null);
  useEvery(refreshMs, list.data !== null, list.reload);
  return { list, annotations: list.data?.annotations ?? none, draft, setDraft };
}

export function newDraft(fromMs: number, toMs: number | null): Draft {
  return { id: null, fromMs, toMs, label: '', text: '', tags: '' };
}

export function draftOf({ id, from, to, label, text, tags }: Annotation): Draft {
  return {
    id,
    fromMs: Date.parse(from),
    toMs: to === null ? null : Date.parse(to),
    label,
    text,
    tags: tags.join(', '),
  };
}

/** As the platform takes it. */
export function fieldsOf({ fromMs, toMs, label, text, tags }: Draft) {
  return {
    from: new Date(fromMs).toISOString(),
    to: toMs === null ? null : new Date(toMs).toISOString(),
    label: label.trim(),
    text: text.trim(),
    tags: [...new Set(tags.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== ''),
  };
}

/** Where an annotation lies, with air around it, so that a moment can be seen among its neighbours. */
export function spanAround({ from, to }: Annotation, shown: TimeSpan): TimeSpan | null {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to ?? from)];
  if (fromMs >= shown.fromMs && toMs <= shown.toMs) return null;
  const length = Math.max(toMs - fromMs, shown.toMs - shown.fromMs);
  const middle = (fromMs + toMs) / 2;
  return { fromMs: middle - length * 0.6, toMs: middle + length * 0.6 };
}
