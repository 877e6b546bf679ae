/** What must hold once all faults have ended and everything is at rest: each complaint is a fault of the platform. */
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { historiesOf } from '../campaign-histories.ts';
import { judge, type LockRules } from '../lock-history.ts';
import { retriesNow } from '../retries-now.ts';
import { consumedTooOften, isQuiet, wrongFacts } from '../soak-checks.ts';
import { type Caller, json } from './caller.ts';
import type { Journal, UploadEntry } from './journal.ts';
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

/** Retries wait no longer; what is open ends. */
export async function comesToRest({ platform, journal }: Judged, limitMs: number): Promise<boolean> {
  try {
    await eventually(
      'all is at rest',
      async () => {
        await retriesNow(platform.database);
        await delay(100);
        return isQuiet(platform.database);
      },
      limitMs,
    );
    return true;
  } catch {
    const { database } = platform;
    const runs = await database
      .query(`select id, node_name, state, attempt from node_run where state <> 'done' limit 3`)
      .catch(() => database.query(`select * from node_run where state <> 'done' limit 2`));
    const sessions = await database.query(
      'select id, wanted_seq, advanced_seq, wanted_at from session where wanted_seq <> advanced_seq limit 3',
    );
    journal.find('stuck', `not at rest after ${limitMs / 1_000} s: ${JSON.stringify({ runs, sessions })}`);
    return false;
  }
}

interface Listed {
  readonly id: number;
  readonly outputIdentifier: string;
}

/** Every acknowledged upload is there and whole, and nothing is there that nobody sent. */
export async function checkUploads(judged: Judged): Promise<void> {
  const byNode = Map.groupBy(judged.journal.uploads.values(), ({ nodeId }) => nodeId);
  for (const [nodeId, entries] of byNode) {
    const listed = await list(judged, nodeId);
    const ids = new Map<string, number[]>();
    for (const { id, outputIdentifier } of listed)
      ids.set(outputIdentifier, [...(ids.get(outputIdentifier) ?? []), id]);
    await inTurns(entries, (entry) => checkEntry(judged, entry, ids.get(entry.identifier) ?? []));
    checkUnknown(judged, entries, listed);
  }
}

async function list({ caller, stage }: Judged, nodeId: number): Promise<Listed[]> {
  const path = `/api/v2/node-instance/${nodeId}/outputs`;
  const reply = await caller.call({ family: 'list', method: 'GET', path, token: stage.token });
  if (reply.status !== 200)
    throw new Error(`Node ${nodeId} could not be listed: ${reply.status} ${reply.body}`);
  return json<Listed[]>(reply);
}

async function checkEntry(
  { caller, stage, journal }: Judged,
  entry: UploadEntry,
  ids: number[],
): Promise<void> {
  const { identifier, bodies } = entry;
  const lastAcknowledged = bodies.findLastIndex(({ acknowledged }) => acknowledged);
  const tell = (what: 'lost' | 'torn' | 'doubled', sentence: string) =>
    void journal.wrong.push({
      what,
      kind: bodies.at(-1)?.kind ?? '',
      sentence: `${identifier}: ${sentence}`,
    });
  if (ids.length > 1) tell('doubled', `outputs ${ids.join(', ')}`);
  if (ids.length === 0) {
    if (lastAcknowledged >= 0) tell('lost', `output ${entry.outputId} is not listed`);
    return;
  }
  const path = `/api/v2/node-instance/outputs/${ids[0]}/data`;
  const reply = await caller.call({ family: 'read', method: 'GET', path, token: stage.token });
  if (reply.status !== 200)
    return tell('torn', `output ${ids[0]} is listed and was answered ${reply.status}`);
  const stored = bodies.findLastIndex(({ sha256 }) => sha256 === digestOf(reply.body));
  if (stored < 0) tell('torn', `output ${ids[0]} has ${reply.body.length} bytes that nobody sent`);
  else if (stored < lastAcknowledged)
    tell('lost', `holds version ${stored + 1}, and version ${lastAcknowledged + 1} was acknowledged`);
}

function checkUnknown({ journal }: Judged, entries: readonly UploadEntry[], listed: readonly Listed[]): void {
  const known = new Set(entries.map(({ identifier }) => identifier));
  const copies = listed.filter(
    ({ outputIdentifier }) => !known.has(outputIdentifier) && !outputIdentifier.startsWith('probe-'),
  );
  const { nodeId } = entries[0]!;
  const { acknowledged, ambiguous } = journal.reprocesses.get(nodeId) ?? { acknowledged: 0, ambiguous: 0 };
  if (copies.length < acknowledged)
    journal.find('lost', `${acknowledged} reprocesses were acknowledged, ${copies.length} copies stand`);
  if (copies.length > acknowledged + ambiguous)
    journal.find(
      'doubled',
      `${copies.length} copies stand of ${acknowledged} to ${acknowledged + ambiguous} reprocesses`,
    );
}

/** Runs, claims and positions: what the tables say against each other and against what runners were answered. */
export async function checkRuns({ platform, stage, journal }: Judged): Promise<void> {
  const { database } = platform;
  for (const sentence of await wrongFacts(database, false)) journal.find('stuck', sentence);
  const sends = new Map<string, number>();
  for (const { identifier, bodies } of journal.uploads.values())
    sends.set(
      identifier,
      bodies.reduce((sum, body) => sum + body.sends, 0),
    );
  for (const sentence of await consumedTooOften(database, sends)) journal.find('doubled', sentence);
  const stale = await database.query<{ id: number }>(
    `select id from node_output where starts_with(output_identifier, '${staleName}')`,
  );
  for (const { id } of stale)
    journal.find('stale', `output ${id} was written by someone who had lost the task`);
  const sessions = stage.lanes.map(({ sessionId }) => sessionId);
  const histories = await historiesOf(database, journal.runnerCalls, prolongedAt(platform), sessions);
  for (const sentence of histories.violations) journal.find('stale', sentence);
  for (const [runId, history] of histories.byRun)
    if (!judge(history, rules).fits)
      journal.find(
        'stale',
        `run ${runId} cannot have been held by one at a time: ${JSON.stringify(judge(history, rules))}`,
      );
}

/** When leases were prolonged because no API process had been up. */
function prolongedAt(platform: CampaignPlatform): number[] {
  const lines = `${platform.logs('API')}${platform.logs('worker')}`.split('\n');
  return lines
    .filter((line) => line.includes('leases prolonged'))
    .map((line) => (JSON.parse(line) as { time: number }).time);
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
