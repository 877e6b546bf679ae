/** A caller that asks for many things at once does not hold up the calls of others. */
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineRoute } from '../../api/route.ts';
import { access } from '../../domain/access/access.ts';
import { limits } from '../../domain/limits.ts';
import { apiStage } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';

/** Reads at work, and what ends them. */
const atWork: { readonly userId: string; readonly end: () => void }[] = [];
let begun = 0;
const route = {
  path: '/list',
  summary: 'Reads until the test ends it',
  tags: ['Test'],
  access: access.admin,
  responses: { 200: { description: 'Read.', schema: z.object({ read: z.int() }) } },
} as const;
const work = async (userId: string) => {
  begun += 1;
  const read = begun;
  await new Promise<void>((end) => atWork.push({ userId, end }));
  return { status: 200, body: { read } } as const;
};
const list = defineRoute({
  ...route,
  id: 'list',
  method: 'GET',
  handler: ({ principal }) => work('userId' in principal ? principal.userId : ''),
});
const change = defineRoute({
  ...route,
  id: 'change',
  method: 'POST',
  audit: { notHere: 'A test.' },
  handler: ({ principal }) => work('userId' in principal ? principal.userId : ''),
});
const heartbeat = defineRoute({
  ...route,
  id: 'heartbeat',
  method: 'PUT',
  access: access.runnerTasks,
  audit: { notHere: 'A test.' },
  handler: async () => ({ status: 200, body: { read: 0 } }),
});

const { api, people } = await apiStage({ routes: [list, change, heartbeat] });
const isOver = new AbortController();
afterAll(() => isOver.abort());
const call = (method: string, { token }: { token: string }, signal = isOver.signal) =>
  fetch(`${api.url}/list`, { method, headers: { authorization: `Bearer ${token}` }, signal });
const atWorkOf = ({ userId }: { userId: string }) => atWork.filter((read) => read.userId === userId).length;
/** Requests that the server has received and not ended. */
let open = 0;
api.server.server.prependListener('request', (_request, response) => {
  open += 1;
  response.once('close', () => {
    open -= 1;
  });
});
const endAll = () => {
  for (const { end } of atWork.splice(0)) end();
};

test('a few calls of a caller are at work, further ones wait, and those of others are not held up', async () => {
  const { Developer, Administrator } = people;
  const many = limits.callsAtOncePerCaller * 3;
  const theirs = Array.from({ length: many }, (_, at) => call(at % 2 === 0 ? 'GET' : 'POST', Developer));
  await eventually('their share is full', () => atWorkOf(Developer) === limits.callsAtOncePerCaller);
  const others = [call('GET', Administrator), call('POST', Administrator)];
  await eventually('others are at work', () => atWork.length === limits.callsAtOncePerCaller + others.length);
  expect(atWorkOf(Developer)).toBe(limits.callsAtOncePerCaller);
  const ended = setInterval(endAll, 1);
  const answers = await Promise.all([...theirs, ...others]).finally(() => clearInterval(ended));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(begun).toBe(many + others.length);
});

test('a call of a runner does not wait for what a person asks for with the same token', async () => {
  const { Developer } = people;
  const share = Array.from({ length: limits.callsAtOncePerCaller }, () => call('GET', Developer));
  await eventually('their share is full', () => atWork.length === limits.callsAtOncePerCaller);
  expect((await call('PUT', Developer)).status).toBe(200);
  endAll();
  await Promise.all(share);
});

test('a call whose caller left while it waited is not done', async () => {
  const before = begun;
  const { Developer } = people;
  const share = Array.from({ length: limits.callsAtOncePerCaller }, () => call('GET', Developer));
  await eventually('their share is full', () => atWork.length === limits.callsAtOncePerCaller);
  const leaving = new AbortController();
  const left = call('GET', Developer, leaving.signal).catch((error: Error) => error.name);
  const last = call('GET', Developer);
  await eventually('they wait', () => open === limits.callsAtOncePerCaller + 2);
  leaving.abort();
  expect(await left).toBe('AbortError');
  await eventually('it is gone', () => open === limits.callsAtOncePerCaller + 1);
  endAll();
  await eventually('the last is at work', () => atWork.length === 1);
  endAll();
  expect((await Promise.all([...share, last])).map(({ status }) => status)).toEqual(
    Array.from({ length: limits.callsAtOncePerCaller + 1 }, () => 200),
  );
  expect(begun - before).toBe(limits.callsAtOncePerCaller + 1);
});
