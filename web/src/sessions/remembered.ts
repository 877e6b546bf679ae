/**
 * Sessions that a person has opened in this browser. While they have no dashboard, a Trainee finds them again only
 * here: the platform lists all sessions only to other roles, and shows one session to any caller that knows its id.
 */
const mostRemembered = 20;

const keyOf = (userId: string) => `sdp.sessions.${userId}`;

/** Ids, most recently opened first. */
export function rememberedSessions(userId: string): string[] {
  try {
    const held: unknown = JSON.parse(localStorage.getItem(keyOf(userId)) ?? '[]');
    return Array.isArray(held) ? held.filter((id) => typeof id === 'string').slice(0, mostRemembered) : [];
  } catch {
    // Storage is switched off, or its content is not ours.
    return [];
  }
}

export function rememberSession(userId: string, sessionId: string): void {
  keep(userId, [sessionId, ...rememberedSessions(userId).filter((id) => id !== sessionId)]);
}

export function forgetSessions(userId: string, gone: readonly string[]): void {
  keep(
    userId,
    rememberedSessions(userId).filter((id) => !gone.includes(id)),
  );
}

function keep(userId: string, ids: readonly string[]): void {
  try {
    localStorage.setItem(keyOf(userId), JSON.stringify(ids.slice(0, mostRemembered)));
  } catch {
    // Then no session is saved.
  }
}
