import { Problem, type ProblemKey } from '../../domain/errors.ts';
import { isParticipant } from '../../store/sessions/sessions.ts';
import type { Principal } from '../identity/auth-client.ts';
import type { People } from '../identity/participants.ts';
import type { Services } from '../services.ts';

/** Throws `missing` when the session is gone, 403 for a Trainee who is no participant. */
export async function admitTrainee(
  database: Services['database'],
  sessionId: string,
  principal: Principal,
  people: People,
  missing: ProblemKey,
): Promise<void> {
  const isOne = await isParticipant(database, sessionId, people.caller);
  if (isOne === undefined) throw new Problem(missing);
  if (principal.role === 'Trainee' && !isOne) throw new Problem('notAParticipant');
}
