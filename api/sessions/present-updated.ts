/** The session in snake_case, as the update route answers. */
import type { z } from 'zod';
import { defaultIngestionNodeId } from '../../domain/sessions/session.ts';
import { snakeValue } from '../../http/bodies/snake-case.ts';
import type { People } from '../identity/participants.ts';
import type { LoadedSession } from './load.ts';
import { presentSession } from './present.ts';
import { updatedSession, type updatedSessionSchema } from './update-schema.ts';

export async function presentUpdatedSession(
  { session, nodes }: LoadedSession,
  people: People,
): Promise<z.input<typeof updatedSessionSchema>> {
  return snakeValue(updatedSession, {
    ...(await presentSession(session, nodes, people)),
    defaultIngestionNodeId: defaultIngestionNodeId(nodes, session.sessionTemplate.configuration),
  });
}
