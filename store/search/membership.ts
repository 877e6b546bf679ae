/** Membership of a session (decisions 6, 12): its creator, the person of its email field, and its participants. */

/**
 * Whether a person is a member of the session `s`, by either part of an identity. own-sessions.ts finds all sessions of a
 * person by the same rule.
 * @param identifier an SQL expression @param key another one
 */
export const isMember = (identifier: string, key: string) => `
  (s.user_id::text = ${identifier} or s.email_identifier in (${identifier}, ${key}) or s.email_key = ${key}
    or exists (select from session_member u where u.session_id = s.id and u.identifier in (${identifier}, ${key}))
    or exists (select from session_participant p
                where p.session_id = s.id and (p.identifier = ${identifier} or p.key = ${key})))`;
