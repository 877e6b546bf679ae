/**
 * JSON routes: requests a second, p50 and p99 over 32 kept-alive connections. Run: `npm run bench:http`.
 *
 * `GET /projects/{id}` and `POST /session`, and beside them what they are made of: a Koa that only says hello, and a
 * `select 1` over the same kind of pool. The kinds take turns (ROUNDS, default 7, of REQUESTS, default 2,000), so that
 * other load of the machine affects all; the ratios mean something also where the figures do not. Client, servers
 * and database share the machine.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Database } from '../../store/connection/database.ts';
import { cpuSeconds, printCpu } from './support/cpu.ts';
import { quantile, report } from './support/figures.ts';
import { BenchClient, printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { shippedTemplate } from './support/sessions.ts';

const connections = 32;
const rounds = Number(process.env.ROUNDS ?? 7);
const requests = Number(process.env.REQUESTS ?? 2_000);

interface Kind {
  readonly name: string;
  readonly isPlatform: boolean;
  readonly request: () => Promise<unknown>;
  readonly perSecond: number[];
  readonly tookMs: number[];
}

printMachine();
const platform = await startBenchPlatform();
const database = await Database.open({ databaseUrl: platform.stack.environment.DATABASE_URL ?? '' });
const koa = spawn(process.execPath, [fileURLToPath(new URL('./support/hello.ts', import.meta.url))], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
process.once('exit', () => koa.kill());
const [port] = (await once(koa.stdout.setEncoding('utf8'), 'data')) as [string];
const koaClient = new BenchClient(Number(port));
try {
  const kinds = await makeKinds();
  for (const kind of kinds) await measure(kind, requests / 2);
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
      const before = cpuSeconds(platform);
      const { perSecond, tookMs } = await measure(kind, requests);
      kind.perSecond.push(perSecond);
      kind.tookMs.push(...tookMs);
      if (round === rounds - 1 && kind.isPlatform) {
        console.log(kind.name);
        printCpu(platform, before, requests);
      }
    }
  }
  printKinds(kinds);
} finally {
  koa.kill('SIGTERM');
  koaClient.close();
  await database.close();
  await platform.stop();
}

async function makeKinds(): Promise<Kind[]> {
  const { client } = platform;
  const template = await shippedTemplate(client);
  const project = await client.expect<{ id: number }>(201, 'POST', '/projects', { Title: 'Bench' });
  const body = { Name: 'Bench', ProjectId: project.id, SessionTemplateId: template.id };
  const kind = (name: string, isPlatform: boolean, request: Kind['request']): Kind => ({
    name,
    isPlatform,
    request,
    perSecond: [],
    tookMs: [],
  });
  return [
    kind('a Koa that says hello', false, () => koaClient.expect(200, 'GET', '/')),
    kind('select 1 over the pool', false, () => database.query('select 1')),
    kind('GET /projects/{id}', true, () => client.expect(200, 'GET', `/projects/${project.id}`)),
    kind('POST /session', true, () => client.expect(201, 'POST', '/session', body)),
  ];
}

async function measure(
  { request }: Kind,
  count: number,
): Promise<{ readonly perSecond: number; readonly tookMs: readonly number[] }> {
  const tookMs: number[] = [];
  let sent = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (sent++ < count) {
        const sentAt = performance.now();
        await request();
        tookMs.push(performance.now() - sentAt);
      }
    }),
  );
  return { perSecond: (tookMs.length * 1_000) / (performance.now() - startedAt), tookMs };
}

function printKinds(kinds: readonly Kind[]): void {
  const rate = ({ perSecond }: Kind) => quantile(perSecond, 0.5);
  const hello = kinds[0]!;
  for (const kind of kinds) {
    const floor = kind === hello ? undefined : { name: hello.name, values: hello.tookMs };
    printFigure(kind.name, kind.tookMs, { floor });
    report({
      name: `${kind.name}, ${connections} connections`,
      unit: 'a second',
      values: kind.perSecond,
      floor: kind === hello ? undefined : { name: hello.name, values: hello.perSecond },
    });
    console.log(
      `    ${rate(kind).toFixed(0)} a second (median of ${rounds} rounds), ${(rate(kind) / rate(hello)).toFixed(2)} of the hello`,
    );
  }
}
