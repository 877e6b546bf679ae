/**
 * The state of sessions in SQL. Each condition has the form of an index: those of `session_activity`, and that of open
 * runs.
 */
import type { SessionState } from '../../domain/sessions/session-state.ts';

const activity = (session: string, condition: string) =>
  `exists (select from session_activity a where a.session_id = ${session} and ${condition})`;
const hasOpenRun = (session: string) =>
  `exists (select from node_run r where r.session_id = ${session} and r.state <> 'done')`;

const conditions: Readonly<Record<SessionState, (session: string) => string>> = {
  failed: (session) => activity(session, 'a.failed'),
  running: (session) => `(${hasOpenRun(session)} and not ${activity(session, 'a.failed')})`,
  // A run needs an output that was published, so there is none.
  notStarted: (session) => activity(session, 'not a.started and not a.failed'),
  done: (session) => `(${activity(session, 'a.started and not a.failed')} and not ${hasOpenRun(session)})`,
};

/** Whether a session is in a state. @param session an SQL expression: its id */
export const isInState = (state: SessionState, session: string) => conditions[state](session);

/** The state of a session. @param session an SQL expression: its id */
export const stateOf = (session: string) => `
  (select case when a.failed then 'failed' when not a.started then 'notStarted'
               when ${hasOpenRun(session)} then 'running' else 'done' end
     from session_activity a where a.session_id = ${session})`;

/** When something last happened in a session. @param session an SQL expression: its id */
export const lastActivityOf = (session: string) =>
  `(select a.last_at from session_activity a where a.session_id = ${session})`;

/** Whether the time of a session's last activity meets a condition. */
export const lastActivityIs = (session: string, condition: (column: string) => string) =>
  activity(session, condition('a.last_at'));
