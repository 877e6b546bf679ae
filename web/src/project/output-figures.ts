import type { SessionListRow } from '../api.ts';
import { newestDocuments, readFigures } from '../session/overview/documents.ts';
import { type Figure, figuresOfRecordings } from '../session/overview/figures.ts';
import { outputsAtAGlance } from '../session/session-outputs.tsx';

/** Each costs some requests. */
const maxSessions = 30;
const sessionsAtOnce = 3;

/** The figures of each session, by name and unit: `Top speed [km/h]`. */
export type OutputFigures = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** The key figures of the newest sessions with outputs, from their JSON documents and recordings. */
export async function readOutputFigures(
  sessions: readonly SessionListRow[],
  signal: AbortSignal,
): Promise<OutputFigures> {
  const waiting = sessions.filter(({ outputBytes }) => outputBytes > 0).slice(0, maxSessions);
  const found = new Map<string, ReadonlyMap<string, number>>();
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      found.set(next.id, byName(await figuresOfSession(next.id, signal)));
  };
  await Promise.all(Array.from({ length: sessionsAtOnce }, work));
  return found;
}

async function figuresOfSession(id: string, signal: AbortSignal): Promise<Figure[]> {
  const { outputs } = await outputsAtAGlance(id, signal);
  return [...(await readFigures(newestDocuments(outputs), signal)), ...figuresOfRecordings(outputs)];
}

function byName(figures: readonly Figure[]): ReadonlyMap<string, number> {
  const named = figures.map(
    ({ label, unit, number }) => [unit === '' ? label : `${label} [${unit}]`, number] as const,
  );
  // The first of two figures with one name counts, as on the session's page.
  return new Map(named.reverse());
}
