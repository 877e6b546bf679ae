import { readSession, type SessionDetails } from '../api.ts';
import { readDashboard } from '../dashboard-api.ts';
import { isMissing } from '../http.ts';

/** A session as the person sees it. */
export interface ShownSession extends SessionDetails {
  /** It has dashboards that the person may not open: `dimensions` is empty. */
  readonly hidesDashboards: boolean;
}

/**
 * People who see only their own sessions may open others by link, but not their dashboards. The platform decides per
 * session, so the answer for one dashboard holds for all.
 */
export async function readShownSession(
  sessionId: string,
  seesAll: boolean,
  signal: AbortSignal,
): Promise<ShownSession> {
  const session = await readSession(sessionId, signal);
  const newest = session.dimensions.at(-1);
  if (seesAll || newest === undefined || (await mayOpen(String(newest.id), signal)))
    return { ...session, hidesDashboards: false };
  return { ...session, dimensions: [], hidesDashboards: true };
}

/** Another failure says nothing about the access; the chart that fails then says what it is. */
const mayOpen = (dimensionId: string, signal: AbortSignal) =>
  readDashboard(dimensionId, signal).then(
    () => true,
    (error: unknown) => !isMissing(error),
  );
