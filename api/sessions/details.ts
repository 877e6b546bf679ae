/** A session with what lists show of its work. */
import type { z } from 'zod';
import { Problem } from '../../domain/errors.ts';
import type { Queryable } from '../../store/connection/database.ts';
import { sessionOverview } from '../../store/search/session-overview.ts';
import type { People } from '../identity/participants.ts';
import { loadSession } from './load.ts';
import type { sessionDetailsSchema } from './overview-schema.ts';
import { presentSession } from './present.ts';
import { presentOverview } from './present-overview.ts';

/** @throws Problem `sessionNotFound` */
export async function sessionDetails(
  database: Queryable,
  id: string,
  people: People,
): Promise<z.input<typeof sessionDetailsSchema>> {
  const [{ session, nodes }, overview] = await Promise.all([
    loadSession(database, id),
    sessionOverview(database, id),
  ]);
  if (overview === undefined) throw new Problem('sessionNotFound');
  const shown = await presentSession(session, nodes, people);
  return { ...shown, ...(await presentOverview(overview, shown.metadata, people)) };
}
