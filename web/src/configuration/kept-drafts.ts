/**
 * What was typed into forms within pages and is not saved: another part or page of the console may come between. It is kept
 * until the window is closed or loaded again, before which the browser asks.
 */

import { authState } from '../auth.ts';
import { askBeforeClosing } from '../router.ts';

/** By person and form. */
const kept = new Map<string, unknown>();

/** Null: nothing was typed. A key belongs to one form, which knows the type. */
export function keptDraft<Draft>(key: string): Draft | null {
  return (kept.get(key) as Draft | undefined) ?? null;
}

/** @param isTyped whether it differs from what is saved */
export function keepDraft(key: string, draft: unknown, isTyped = draft !== null): void {
  if (draft === null) kept.delete(key);
  else kept.set(key, draft);
  const owner = authState().signIn?.user.userId;
  // Another person cannot see it, so the browser asks for it no more after a sign-out.
  askBeforeClosing(key, isTyped ? () => authState().signIn?.user.userId === owner : null);
}
