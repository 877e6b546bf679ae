/**
 * What was typed into forms within pages and is not saved: another part or page of the console may come between. It is kept
 * until the window is closed or loaded again.
 */

/** By person and form. */
const kept = new Map<string, unknown>();

/** Null: nothing was typed. A key belongs to one form, which knows the type. */
export function keptDraft<Draft>(key: string): Draft | null {
  return (kept.get(key) as Draft | undefined) ?? null;
}

export function keepDraft(key: string, draft: unknown): void {
  if (draft === null) kept.delete(key);
  else kept.set(key, draft);
}
