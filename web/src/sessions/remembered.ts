/**
 * Sessions that a person has opened in this browser. A Trainee finds them again by this alone while they have no
 * dashboard: the platform lists all sessions to other roles only, and one session to whoever knows its id.
 */
const mostRemembered = 20;

const keyOf = (userId: string) => `sdp.sessions.${userId}`;

/** Ids, the one that was opened last first. */
export function rememberedSessions(userId: string): string[] {
  try {
    const held: unknown = JSON.parse(localStorage.getItem(keyOf(userId)) ?? '[]');
    return Array.isArray(held) ? held.filter((id) => typeof id === 'string').slice(0, mostRemembered) : [];
  } catch {
    // Storage is switched off, or holds what somebody else wrote.
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
    // Then nothing is remembered.
  }
}
