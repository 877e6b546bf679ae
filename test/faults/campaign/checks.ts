/** Checks after all faults have ended and nothing runs: each finding is a fault of the platform. */
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { historiesOf, prolongedAtMs } from '../claims/campaign-histories.ts';
import type { LockRules } from '../claims/lock.ts';
import { judge } from '../claims/lock-history.ts';
import { retriesNow } from '../retries-now.ts';
import { consumedTooOften, wrongFacts } from '../soak/soak-checks.ts';
import { type Caller, json } from './caller.ts';
import { type Finding, type Journal, maxVersions, type UploadEntry } from './journal.ts';
import type { CampaignPlatform } from './platform.ts';
import { staleName } from './runners.ts';
import { leaseMs, maxAttempts, type Stage } from './stage.ts';
import { digestOf } from './uploads.ts';

export interface Judged {
  readonly platform: CampaignPlatform;
  readonly stage: Stage;
  readonly caller: Caller;
  readonly journal: Journal;
}

const rules: LockRules = { leaseMs, maxAttempts, maxLost: 3, slackMs: 5 };
const readAtOnce = 8;

/** Sessions with open work. */
export async function busySessions({ database }: CampaignPlatform): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `select session_id as id from node_run where state <> 'done'
      union select session_id from node_instance where follow_up_wanted or reprocess_wanted
      union select id from session where desired_version <> observed_version`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Retries wait no longer; what is open ends.
 * @param leftBefore sessions that an earlier round has left stuck, and has been found for
 */
export async function comesToRest(
  { platform, journal }: Judged,
  leftBefore: ReadonlySet<string>,
  limitMs: number,
): Promise<boolean> {
  const { database } = platform;
  const busy = async () => (await busySessions(platform)).filter((id) => !leftBefore.has(id));
  const isAtRest = async () => {
    await retriesNow(database);
    await delay(100);
    return (await busy()).length === 0;
  };
  try {
    await eventually('all is at rest', isAtRest, limitMs);
    return true;
  } catch {
    const sessions = await busy();
    const runs = await database.query(
      `select * from node_run where state <> 'done' and session_id = any ($1::uuid[]) limit 2`,
      [sessions],
    );
    const shown = JSON.stringify({ sessions: sessions.slice(0, 3), runs });
    journal.find('stuck', `not at rest after ${limitMs / 1_000} s: ${shown}`);
    return false;
  }
}

interface Listed {
  readonly id: number;
  readonly outputIdentifier: string;
}

/** Prefix of the names of aborted uploads: none may ever be listed. */
export const brokenOffName = 'broken-off-';

/**
 * Every acknowledged upload exists unchanged, and there is no other.
 * @param isRead whether the bytes of an upload are read as well; default: all are
 */
export async function checkUploads(judged: Judged, isRead: () => boolean = () => true): Promise<void> {
  const byNode = Map.groupBy(judged.journal.uploads.values(), ({ nodeId }) => nodeId);
  for (const [nodeId, entries] of byNode) {
    const listed = await list(judged, nodeId);
    const ids = new Map<string, number[]>();
    for (const { id, outputIdentifier } of listed)
      ids.set(outputIdentifier, [...(ids.get(outputIdentifier) ?? []), id]);
    await inTurns(entries, (entry) => checkEntry(judged, entry, ids.get(entry.identifier) ?? [], isRead()));
    checkUnknown(judged, entries, listed);
  }
}

async function list({ caller, stage }: Judged, nodeId: number): Promise<Listed[]> {
  const path = `/api/v2/node-instance/${nodeId}/outputs`;
  return await eventually(`node ${nodeId} is listed`, async () => {
    const reply = await caller.call({ family: 'list', method: 'GET', path, token: stage.token });
    if (reply.status !== 200) throw new Error(`${reply.status} ${reply.body.toString().slice(0, 200)}`);
    return json<Listed[]>(reply);
  });
}

async function checkEntry(
  { caller, stage, journal }: Judged,
  entry: UploadEntry,
  ids: number[],
  isRead: boolean,
): Promise<void> {
  const { identifier, bodies } = entry;
  const lastAcknowledged = bodies.findLastIndex(({ acknowledged }) => acknowledged);
  const find = (what: Finding['what'], sentence: string) =>
    journal.findOnce(what, `${identifier}: ${sentence}`);
  if (ids.length > 1) find('doubled', `outputs ${ids.join(', ')}`);
  if (ids.length === 0) {
    if (lastAcknowledged >= 0) find('lost', `output ${entry.outputId} is not listed`);
    return;
  }
  if (!isRead) return;
  const path = `/api/v2/node-instance/outputs/${ids[0]}/data`;
  const reply = await caller.call({ family: 'read', method: 'GET', path, token: stage.token });
  if (reply.status !== 200)
    return find('torn', `output ${ids[0]} is listed and was answered ${reply.status}`);
  const stored = bodies.findLastIndex(({ sha256 }) => sha256 === digestOf(reply.body));
  if (stored < 0) find('torn', `output ${ids[0]} has ${reply.body.length} bytes that nobody sent`);
  else if (stored < lastAcknowledged && !bodies[stored]!.isRepeatedLate)
    find('lost', `holds version ${stored + 1}, and version ${lastAcknowledged + 1} was acknowledged`);
}

function checkUnknown({ journal }: Judged, entries: readonly UploadEntry[], listed: readonly Listed[]): void {
  const known = new Set(entries.map(({ identifier }) => identifier));
  const copies = listed.filter(
    ({ outputIdentifier }) => !known.has(outputIdentifier) && !outputIdentifier.startsWith('probe-'),
  );
  for (const { id, outputIdentifier } of copies)
    if (outputIdentifier.startsWith(brokenOffName))
      journal.findOnce('torn', `output ${id} is listed, and its upload was broken off`);
  const { nodeId } = entries[0]!;
  const { acknowledged, ambiguous } = journal.reprocesses.get(nodeId) ?? { acknowledged: 0, ambiguous: 0 };
  if (copies.length < acknowledged)
    journal.findOnce('lost', `${acknowledged} reprocesses were acknowledged, ${copies.length} copies stand`);
  if (copies.length > acknowledged + ambiguous)
    journal.findOnce(
      'doubled',
      `${copies.length} copies stand of ${acknowledged} to ${acknowledged + ambiguous} reprocesses`,
    );
}

/** Runs, claims and positions: compares the tables with each other and with the answers that runners got. */
export async function checkRuns({ platform, stage, journal }: Judged): Promise<void> {
  const { database } = platform;
  for (const sentence of await wrongFacts(database, false)) journal.find('stuck', sentence);
  const sessions = stage.lanes.map(({ sessionId }) => sessionId);
  const versions = new Map(
    [...journal.uploads.values()].map((entry) => [entry.identifier, maxVersions(entry)]),
  );
  for (const sentence of await consumedTooOften(database, versions, sessions))
    journal.find('doubled', sentence);
  const stale = await database.query<{ id: number }>(
    `select id from node_output where starts_with(output_identifier, '${staleName}')`,
  );
  for (const { id } of stale)
    journal.find('stale', `output ${id} was written by someone who had lost the task`);
  const prolonged = prolongedAtMs(`${platform.logs('API')}${platform.logs('worker')}`);
  const histories = await historiesOf(database, journal.runnerCalls, prolonged, sessions);
  for (const sentence of histories.violations) journal.find('stale', sentence);
  for (const [runId, history] of histories.byRun) {
    const verdict = judge(history, rules);
    if (!verdict.fits)
      journal.find(
        'stale',
        `run ${runId} cannot have been held by one at a time: ${JSON.stringify(verdict)}`,
      );
  }
}

/** Sessions that were acknowledged are there, and no key has two open shared sessions. */
export async function checkSessions({ platform, journal }: Judged): Promise<void> {
  const { database } = platform;
  const lost = await database.query<{ id: string }>(
    'select id from unnest($1::uuid[]) as a (id) where not exists (select from session s where s.id = a.id)',
    [journal.sessions],
  );
  for (const { id } of lost) journal.find('lost', `session ${id} was acknowledged and is gone`);
  const doubled = await database.query<{ name: string; count: number }>(
    `select name, count(*) as count from session where machine_group is not null and closed_at is null
      group by project_id, name, simulation_name, session_template_id, machine_group, window_seconds having count(*) > 1`,
  );
  for (const { name, count } of doubled) journal.find('doubled', `${name} has ${count} open sessions`);
}

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const turn = async () => {
    while (next < items.length) await work(items[next++]!);
  };
  await Promise.all(Array.from({ length: readAtOnce }, turn));
}
