/**
 * Every operation of the interface document is called by every kind of caller with generated input. `GENERATED_RUNS` calls of
 * each (default 10), from `GENERATED_SEED`; `GENERATED_ONLY` names the operations to be called, by a regular expression.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decideAccess } from '../../../domain/access/access.ts';
import { catalogue } from '../../../domain/errors.ts';
import { allPaths } from '../../../http/paths.ts';
import type { Route } from '../../../http/route.ts';
import { ask, startTestApi, type TestApi } from '../../support/api.ts';
import {
  allRoutes,
  checkerOf,
  interfaceDocument,
  type Json,
  lookUp,
  type Operation,
  operationsOf,
  pointer,
} from '../../support/openapi.ts';
import { PathTree } from '../../support/path-tree.ts';
import { testEnvironment } from '../../support/stack.ts';
import { callsOf, type GeneratedCall } from './call.ts';
import { closeConnections, type RawAnswer, rawCall } from './raw-call.ts';
import { World } from './world.ts';

const runs = Number(process.env.GENERATED_RUNS ?? '10');
const seed = Number(process.env.GENERATED_SEED ?? '2026');
const only = new RegExp(process.env.GENERATED_ONLY ?? '');

const platform = await testEnvironment();
const document = interfaceDocument();
const checker = checkerOf(document, { closed: true });
const operations = operationsOf(document);
const tree = new PathTree<Route>();
for (const route of allRoutes)
  for (const path of allPaths(route.path, route.aliases ?? [], route.versions ?? 'versioned'))
    tree.add(route.method, path, route);

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await startTestApi({ ...platform.environment, TRUSTED_PROXIES: '1' });
  world = new World(api, platform);
  await world.make();
});
afterAll(async () => {
  closeConnections();
  await api.stop();
});

describe('any generated request of any caller', () => {
  test(
    'gets an answer that the interface document declares, and never a 5xx',
    async () => {
      const counts = new Map<string, Map<number, number>>();
      const faults: string[] = [];
      for (const [index, operation] of operations.entries()) {
        if (!only.test(operation.id)) continue;
        const found = await fc.check(
          fc.asyncProperty(fc.nat(), async (which) => {
            // Chosen now, because what exists changes from call to call.
            const [call] = fc.sample(callsOf(operation, world), { seed: which, numRuns: 1 });
            const sent = operation.id === 'signOut' ? await byWhomItMayEnd(call!) : call!;
            const answer = await rawCall(api.url, sent);
            judge(sent, answer);
            const own = counts.get(operation.id) ?? new Map<number, number>();
            counts.set(operation.id, own.set(answer.status, (own.get(answer.status) ?? 0) + 1));
            const hasChanged = answer.status < 300 && sent.method !== 'GET';
            if (hasChanged) await world.mend(routeOf(sent)?.id ?? '');
          }),
          { numRuns: runs, seed: seed + index, endOnFailure: true },
        );
        if (found.failed) faults.push(`${operation.id}: ${(found.errorInstance as Error).message}`);
      }
      expect(faults.join('\n')).toBe('');
      if (process.env.GENERATED_RUNS !== undefined) console.log(counts);
      if (only.source === '(?:)') {
        // Not every call may be refused: otherwise the test proves nothing.
        const seen = new Set([...counts.values()].flatMap((own) => [...own.keys()]));
        expect([...seen]).toEqual(expect.arrayContaining([200, 201, 204, 400, 401, 403, 404]));
        for (const { who, token, name } of world.callers) {
          if (who === undefined || who.kind === 'runner' || who.mustChangePassword) continue;
          expect([name, (await ask(api.url, 'GET', '/user_data', { token: token! })).status]).toEqual([
            name,
            200,
          ]);
        }
        expect(({} as { polluted?: number }).polluted).toBeUndefined();
      }
    },
    60_000 + runs * 60_000,
  );
});

async function byWhomItMayEnd(call: GeneratedCall): Promise<GeneratedCall> {
  if (call.caller.who?.kind !== 'access') return call;
  const token = await world.spareToken();
  return {
    ...call,
    caller: { name: 'spare', token, who: { kind: 'access', role: 'Trainee' } },
    headers: { ...call.headers, authorization: `Bearer ${token}` },
  };
}

const pathIn = (target: string) => target.split('?', 1)[0]!;

function routeOf({ method, target }: GeneratedCall): Route | null {
  const match = tree.match(method, pathIn(target));
  return match.found === 'route' ? match.value : null;
}

/** Throws an error with the call and the fault of its answer. */
function judge(call: GeneratedCall, answer: RawAnswer): void {
  const fault = faultOf(call, answer);
  if (fault === null) return;
  const { caller, method, target, headers, body } = call;
  const said = { caller: caller.name, method, target, headers, body: body?.toString('utf8').slice(0, 2000) };
  const heard = {
    status: answer.status,
    headers: answer.headers,
    body: answer.bytes.toString('utf8').slice(0, 2000),
  };
  throw new Error(`${fault}\n${JSON.stringify({ said, heard }, null, 1)}`);
}

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** A repair's correct answer when the machine is so busy that the workflow engine needs more than ten seconds. */
const engineIsSlow = 'The session is planned, and the workflow engine is unavailable.';
/** The correct answer of 502 to a reader of bytes that an earlier call has stored as gzip, and that are none. */
const notGzip = 'The stored gzip data cannot be decoded.';

function faultOf(call: GeneratedCall, answer: RawAnswer): string | null {
  const { status, headers, bytes } = answer;
  const requestId = call.headers['x-request-id'];
  if (requestId !== undefined && requestIdForm.test(requestId)) {
    if (headers['x-request-id'] !== requestId) return 'another request id';
  } else if (!requestIdForm.test(String(headers['x-request-id'] ?? ''))) return 'no request id';
  if (headers['x-content-type-options'] !== 'nosniff') return 'no nosniff';
  if (status === 401 && headers['www-authenticate'] !== 'Bearer') return 'no challenge';
  if ((status === 429 || status === 503) && headers['retry-after'] === undefined)
    return 'no hint when to try again';
  if (status === 503 && (headers['retry-after'] === '1' || bytes.includes(engineIsSlow))) return null;
  if (status >= 500 && !(status === 502 && bytes.includes(notGzip))) return 'a failure';
  if ((status === 204 || status === 304) && bytes.length > 0) return 'a body where none belongs';
  const match = tree.match(call.method, pathIn(call.target));
  if (match.found !== 'route') return strayFault(call, answer, match.found);
  const route = match.value as Route;
  if (route.hidden) return null;
  return accessFault(call, status, route) ?? bodyFault(operations.find(({ id }) => id === route.id)!, answer);
}

/** Addresses that no route answers, to which hard segments may lead. */
function strayFault(call: GeneratedCall, { status, headers, bytes }: RawAnswer, found: 'path' | 'nothing') {
  const isCoded = /^\/api\/v2(\.0)?\/runner\//.test(pathIn(call.target));
  // The console's own files and page.
  if (found === 'nothing' && status === 200 && call.method === 'GET') return null;
  if (status !== (found === 'path' ? 405 : 404)) return `not ${found === 'path' ? 405 : 404}`;
  if (found === 'path' && headers.allow === undefined) return 'no Allow';
  return checker.fault(
    `/components/schemas/${isCoded ? 'CodedError' : 'Error'}`,
    JSON.parse(bytes.toString()),
  );
}

/** Tokens and roles are checked first, whatever other faults the request has. */
function accessFault({ caller }: GeneratedCall, status: number, route: Route): string | null {
  if (route.access.open) return null;
  if (caller.who === undefined) return status === 401 ? null : 'an unknown caller is not refused';
  const decision = decideAccess(route.access, caller.who);
  const wanted = decision.allowed ? null : catalogue[decision.problem].status;
  return wanted === null || wanted === status ? null : `a caller who may not is not refused with ${wanted}`;
}

function bodyFault(operation: Operation, { status, headers, bytes }: RawAnswer): string | null {
  const at = operation.at + pointer('responses', String(status));
  const declared = lookUp(document, at) as Json | undefined;
  if (declared === undefined) return `status ${status} is not declared`;
  const json = (declared.content as Json | undefined)?.['application/json'];
  if (json === undefined) {
    return declared.content === undefined && bytes.length > 0 ? 'a body that is not declared' : null;
  }
  if (!headers['content-type']?.startsWith('application/json')) return 'no JSON';
  return checker.fault(`${at}${pointer('content', 'application/json')}/schema`, JSON.parse(bytes.toString()));
}
