/**
 * How long the slowest of 100 machines waits that join one exercise at once. Run: `npm run bench:shared`.
 *
 * - by offline tokens, as capture machines do, and by an access token, which has every address resolved
 * - each round is a separate exercise; counted are rounds that ended in more than one session, that lost a
 *   participant, and answers other than 200 and 201
 *
 * `npm run bench:shared -- <rounds>`; default 200 by offline tokens and a tenth of them by access token.
 */
import { cpuSeconds, printCpu } from './support/cpu.ts';
import { quantile } from './support/figures.ts';
import {
  BenchClient,
  type BenchPlatform,
  printFigure,
  printMachine,
  startBenchPlatform,
} from './support/platform.ts';

const machines = 100;
const rounds = Number(process.argv[2] ?? 200);

interface Joined {
  readonly id: string;
  readonly metadata: { readonly participants: readonly unknown[] };
}

const platform = await startBenchPlatform();
try {
  printMachine();
  const { client } = platform;
  const project = await client.expect<{ id: number }>(201, 'POST', '/projects', { Title: 'Exercises' });
  const templates = await client.expect<{ id: number }[]>(200, 'GET', '/session_templates');
  const { token } = await client.expect<{ token: string }>(200, 'POST', '/api/v2/admin/offline-tokens');
  const device = new BenchClient(platform.port, { authorization: `Bearer ${token}` });
  const exercise = { projectId: project.id, sessionTemplateId: templates[0]!.id };
  await joinAtOnce(device, exercise, 'warm-up');
  await measure(platform, device, exercise, 'offline token', rounds);
  await measure(platform, client, exercise, 'access token', Math.ceil(rounds / 10));
  device.close();
} finally {
  await platform.stop();
}

interface Exercise {
  readonly projectId: number;
  readonly sessionTemplateId: number;
}

async function measure(
  on: BenchPlatform,
  client: BenchClient,
  exercise: Exercise,
  kind: string,
  count: number,
): Promise<void> {
  const slowest: number[] = [];
  const median: number[] = [];
  const wrong = { sessions: 0, participants: 0, answers: 0 };
  const before = cpuSeconds(on);
  for (let round = 0; round < count; round++) {
    const { tookMs, answers } = await joinAtOnce(client, exercise, `${kind} ${round}`);
    slowest.push(quantile(tookMs, 1));
    median.push(quantile(tookMs, 0.5));
    wrong.answers += answers.filter(({ status }) => status !== 200 && status !== 201).length;
    const ids = new Set(answers.map(({ body }) => body.id));
    if (ids.size !== 1) wrong.sessions += 1;
    const session = await client.expect<Joined>(200, 'GET', `/api/v2/sessions/${answers[0]?.body.id}`);
    if (session.metadata.participants.length !== machines) wrong.participants += 1;
  }
  printFigure(`${kind}: slowest of ${machines} joins at once`, slowest);
  printFigure(`${kind}: median of ${machines} joins at once`, median);
  printCpu(on, before, count * machines);
  console.log(
    `    worst ${quantile(slowest, 1).toFixed(0)} ms; in ${count} rounds ${wrong.sessions} with a second session, ` +
      `${wrong.participants} without some participant, ${wrong.answers} answers other than 200 and 201`,
  );
}

async function joinAtOnce(client: BenchClient, { projectId, sessionTemplateId }: Exercise, name: string) {
  const startTimeUtc = new Date().toISOString();
  const tookMs: number[] = [];
  const answers = await Promise.all(
    Array.from({ length: machines }, async (_, machine) => {
      const since = performance.now();
      const answer = await client.call<Joined>(
        'POST',
        `/api/v2/session/shared_session?projectId=${projectId}`,
        {
          name,
          simulationName: 'bench',
          email: `machine-${machine}@example.org`,
          sessionTemplateId,
          startTimeUtc,
          machineGroup: 1,
        },
      );
      tookMs.push(performance.now() - since);
      return answer;
    }),
  );
  return { tookMs, answers };
}
