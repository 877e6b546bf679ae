/** Shared sessions that are joined and closed, and runner tokens that are revoked, during faults. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Call, json, type Reply } from './caller.ts';
import type { Slot } from './slot.ts';
import type { Worker } from './uploads.ts';

const joiners = ['one', 'two', 'three'].map((name) => `${name}@campaign.example.org`);
const jsonBody = { 'content-type': 'application/json' };
const pauseMs = 50;

/** Repeats a call until it is answered; undefined when the campaign ended before. */
async function untilAnswered({ caller, over }: Worker, call: Call): Promise<Reply | undefined> {
  for (let afterEnd = 0; afterEnd < 100; ) {
    const reply = await caller.call(call);
    if (reply.status > 0 && reply.status < 500) return reply;
    if (over.aborted) afterEnd += 1;
    await delay(pauseMs);
  }
  return undefined;
}

/** All machines of an exercise join at once, one closes it, and a later machine opens another. */
export async function exercises(work: Worker): Promise<void> {
  const { over, random, stage } = work;
  for (let number = 0; !over.aborted; number++) {
    await exercise(work, `Exercise ${stage.name} ${number}`);
    await delay(work.thinkMs() * random.between(1, 4));
  }
}

async function exercise(work: Worker, name: string): Promise<void> {
  const { journal } = work;
  const joins = await Promise.all(joiners.map((email) => join(work, name, email)));
  const ids = new Set(joins.flatMap((reply) => idOf(reply)));
  if (ids.size > 1) journal.find('doubled', `${name} was given the sessions ${[...ids].join(' and ')}`);
  const [id] = ids;
  if (id === undefined || joins.some((reply) => reply === undefined)) return;
  const close = {
    family: 'shared',
    method: 'POST',
    path: `/api/v2/session/${id}/close`,
    token: work.stage.token,
    headers: jsonBody,
    body: JSON.stringify({ email: joiners[0], reason: 'over' }),
  };
  const closes = await Promise.all([untilAnswered(work, close), untilAnswered(work, close)]);
  const texts = new Set(closes.flatMap((reply) => (reply === undefined ? [] : [reply.body.toString()])));
  if (texts.size > 1) journal.find('doubled', `${name} was closed twice: ${[...texts].join(' and ')}`);
  for (const reply of closes)
    if (reply !== undefined && json<{ participantCount: number }>(reply).participantCount !== joiners.length)
      journal.find('lost', `${name} was closed with ${reply.body.toString().slice(0, 200)}`);
  if (closes.includes(undefined)) return;
  const [later] = idOf(await join(work, name, joiners[1]!));
  if (later === id) journal.find('stale', `${name} was joined after it was closed`);
}

function join(work: Worker, name: string, email: string): Promise<Reply | undefined> {
  const { stage } = work;
  return untilAnswered(work, {
    family: 'shared',
    method: 'POST',
    path: `/api/v2/session/shared_session?projectId=${stage.projectId}`,
    token: stage.token,
    headers: jsonBody,
    body: JSON.stringify({
      name,
      simulationName: 'Campaign',
      email,
      sessionTemplateId: stage.templateId,
      startTimeUtc: '2026-03-01T10:00:00.000Z',
      machineGroup: 1,
      timeWindowSeconds: 300,
    }),
  });
}

function idOf(reply: Reply | undefined): string[] {
  const id = reply === undefined || reply.status > 201 ? undefined : json<{ id?: string }>(reply).id;
  return id === undefined ? [] : [id];
}

/** A token is made and revoked, and from then on every process refuses it. */
export async function revocations(work: Worker, apis: readonly Slot[]): Promise<void> {
  const { over, random } = work;
  while (!over.aborted) {
    await revokeOne(work, apis);
    await delay(work.thinkMs() * random.between(1, 4));
  }
}

async function revokeOne(work: Worker, apis: readonly Slot[]): Promise<void> {
  const { stage, caller, journal } = work;
  const path = '/api/v2/admin/runner-tokens';
  const asked = { label: 'campaign', runnerTypes: ['outside-runner'], scopes: ['tasks'], ttlHours: 1 };
  const made = await untilAnswered(work, {
    family: 'token',
    method: 'POST',
    path,
    token: stage.token,
    headers: jsonBody,
    body: JSON.stringify(asked),
  });
  if (made?.status !== 201) {
    if (made !== undefined) journal.find('answer', `a token was answered ${made.status} ${made.body}`);
    return;
  }
  const { token, id } = json<{ token: string; id: string }>(made);
  const whoami = { family: 'token', method: 'GET', path: '/api/v2/runner/whoami', token };
  await Promise.all(apis.map((at) => caller.call({ ...whoami, at })));
  const revoked = await untilAnswered(work, {
    family: 'token',
    method: 'DELETE',
    path: `${path}/${id}`,
    token: stage.token,
  });
  if (revoked?.status !== 204) return;
  for (const reply of await Promise.all(apis.map((at) => caller.call({ ...whoami, at })))) {
    if (reply.status > 0) journal.counts.staleCalls += 1;
    if (reply.status === 200)
      journal.find('revoked', `token ${id} was let in after its revocation was answered`);
  }
}
