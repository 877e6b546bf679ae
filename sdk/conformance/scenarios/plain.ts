/** Nothing goes wrong. */
import type { Scenario } from '../scenario.ts';
import { readingRoutes, sideRoutes } from '../server/journal.ts';
import type { Baseline, Stage } from '../stage.ts';
import { emptyPolls, pollsBusily } from '../watch.ts';

/** Two tasks over the same input; the other scenarios compare with their outputs. */
export const plain: Scenario = {
  name: 'plain',
  title: 'two tasks, one after the other',
  async play(stage) {
    const first = stage.offer();
    stage.start();
    await first.completed();
    const second = stage.offer();
    await second.completed('stopped-claiming');
  },
};

/** The runner's two results for its plain input. */
export function baselineOf(stage: Stage): Baseline {
  const made = stage.world.nodes.map((node) => {
    const outputs = [...node.outputs.values()].filter(({ publishedAs }) => publishedAs !== null);
    return { outputs, digests: outputs.map(({ sha256 }) => sha256).sort() };
  });
  const [first, second] = made;
  const isSame = first !== undefined && first.digests.join() === second?.digests.join();
  return {
    lastRead: lastReadOf(stage),
    digests: isSame ? first.digests : undefined,
    outputCount: first?.outputs.length === second?.outputs.length ? first?.outputs.length : undefined,
    maxOutputBytes: Math.max(0, ...(first?.outputs ?? []).map(({ sizeBytes }) => sizeBytes)),
  };
}

/** The last call of the first task that changed nothing, before anything was written. */
function lastReadOf(stage: Stage): Baseline['lastRead'] {
  const taskId = stage.world.nodes[0]?.runs[0]?.claims[0]?.taskId;
  const calls = stage.journal.calls.filter((call) => call.taskId === taskId && !sideRoutes.has(call.route));
  const firstWrite = calls.findIndex(({ route }) => !readingRoutes.has(route));
  const reads = firstWrite < 0 ? calls : calls.slice(0, firstWrite);
  const last = reads.at(-1);
  if (last === undefined) return undefined;
  return { route: last.route, count: reads.filter(({ route }) => route === last.route).length };
}

/** Claims are answered with 204 for a while. */
const noWork: Scenario = {
  name: 'no-work',
  title: 'no task for a while: claims are answered with 204',
  async play(stage) {
    stage.start();
    if (!(await stage.until(() => stage.journal.of('claim').length > 0))) {
      stage.found('never-claimed', 'No claim came.');
      stage.over();
    }
    // Waiting claims are answered early, as when a server stops; a runner that does not wait shows how often it claims.
    for (let turn = 0; turn < 3; turn += 1) {
      await stage.pause(500);
      stage.world.desk.dismiss();
    }
    // On a busy machine six of its claims may take longer.
    await stage.until(() => emptyPolls(stage).length === 0 || pollsBusily(stage), 10_000);
    const job = stage.offer();
    await job.completed('stopped-claiming');
  },
};

export const plainScenarios = [plain, noWork];
