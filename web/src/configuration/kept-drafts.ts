/**
 * What was typed into forms of configurations and is not saved: another node, tab or page of the console may come between.
 * It is kept until the window is closed or loaded again.
 */
import type { NodeConfiguration } from '../runs/api.ts';
import type { Draft } from './schema-form.ts';

interface KeptDraft {
  /** That the form began with. */
  readonly revision: number;
  readonly shown: NodeConfiguration['configuration'];
  readonly draft: Draft;
}

/** By person and node. */
const kept = new Map<string, KeptDraft>();

/** Null: nothing was typed since this revision. */
export function keptDraft(key: string, revision: number): KeptDraft | null {
  const found = kept.get(key);
  return found?.revision === revision ? found : null;
}

export function keepDraft(key: string, draft: KeptDraft | null): void {
  if (draft === null) kept.delete(key);
  else kept.set(key, draft);
}
