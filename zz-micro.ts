import { spawnSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { createLog } from './http/log.ts';
import { createApp } from './http/app.ts';
import { listen } from './http/server/server.ts';
import { routeFactory } from './http/route.ts';
import { routes as product } from './api/routes.ts';
import { authRoutes } from './auth/service.ts';
import { access } from './domain/access/access.ts';
import { pathId, freeJson, integerParameter } from './http/schemas.ts';
import { echo } from './test/http/machinery-routes.ts';
const defineRoute = routeFactory<any, any>();
const get = defineRoute({ id: 'things', method: 'GET', path: '/things/{id}', summary: '', tags: [], access: access.projectRead,
  params: z.object({ id: pathId() }), query: z.object({ page: integerParameter({ min: 1, initial: 1 }) }),
  responses: { 200: { description: '', schema: z.object({ id: z.int(), title: z.string(), at: z.string() }) } },
  async handler({ params }: any) { return { status: 200, body: { id: params.id, title: 'x', at: 'y' } }; } } as any);
const own = [...product, get, echo] as any;
const opts: any = { services: {}, identify: async (b: string) => ({ kind: 'access', role: 'Administrator', mustChangePassword: false, userId: 'x' }), responseChecks: 'log' };
const shutdown = new AbortController();
const log = createLog('t', 'silent');
let app: any;
if (process.argv[2] === 'old') {
  const { createDispatcher, withPrefix } = await import('./http/dispatcher' + '.ts');
  app = createApp({ dispatcher: withPrefix('/api/authorization', createDispatcher(authRoutes as any, opts), createDispatcher(own, { ...opts, around: (_r: any, _c: any, run: any) => run() })), log, shutdown: shutdown.signal } as any);
} else {
  const { routeSet } = await import('./http/app.ts') as any;
  app = createApp({ routeSets: [routeSet(own, opts), routeSet(authRoutes as any, opts)], log, shutdown: shutdown.signal } as any);
}
const server = await listen(app.callback(), { port: 0, shutdown });
const cpu = () => { const c = process.cpuUsage(); return (c.user + c.system) / 1000; };
const run = async (n: number, kind: string) => { const before = cpu(); const c = spawn(process.execPath, ['/tmp/micro-client.mjs', String(server.port), String(n), kind], { stdio: 'inherit', env: {...process.env} }); const [code] = await once(c, 'exit'); if (code) throw new Error('client'); return (cpu() - before) / n; };
const patch = process.argv[3];
for (const kind of ['get', 'post']) { await run(6000, kind); const all = []; for (let i = 0; i < 5; i++) all.push(await run(8000, kind)); all.sort((a, b) => a - b); console.log(process.argv[2], kind, 'cpu ms each: min', all[0].toFixed(4), 'median', all[2].toFixed(4)); }
process.exit(0);
