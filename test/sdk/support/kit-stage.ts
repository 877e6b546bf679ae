/** The platform of a test file with runners of the kit on it. */
import { afterEach } from 'vitest';
import { type Runner, type RunningRunner, type StartOptions, startRunner } from '../../../sdk/index.ts';
import { ask } from '../../support/api.ts';
import type { Graph } from '../../support/graph.ts';
import { type RunnerStage, runnerStage } from '../../support/runner.ts';

export interface KitStage extends RunnerStage {
  /** Starts a runner in this process with a developer's token; it is stopped after the test. */
  start(runner: Runner, options?: StartOptions): Promise<RunningRunner>;
  /** The newest output of a node, as text. */
  latest(graph: Graph, node: string): Promise<string>;
  /** What operators read of a node. */
  detailsOf(graph: Graph, node: string): Promise<string>;
}

/** Call it once at the top of a file. */
export async function kitStage(variables: Record<string, string> = {}): Promise<KitStage> {
  const stage = await runnerStage(variables);
  const running: RunningRunner[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((runner) => runner.stop().catch(() => undefined)));
  });
  const token = stage.people.Developer.token;
  return {
    ...stage,
    async start(runner, options = {}) {
      const started = await startRunner(runner, {
        url: stage.api.url,
        token,
        log: () => undefined,
        waitSeconds: 5,
        graceSeconds: 0,
        ...options,
      });
      running.push(started);
      return started;
    },
    async latest(graph, node) {
      const path = `/api/v2/node-instance/${graph.nodes[node]}/outputs/latest/data`;
      const answer = await fetch(stage.api.url + path, { headers: { authorization: `Bearer ${token}` } });
      if (answer.status !== 200) throw new Error(`latest output: ${answer.status}`);
      return await answer.text();
    },
    async detailsOf(graph, node) {
      const answer = await ask(stage.api.url, 'GET', `/api/v2/session/${graph.sessionId}/node-instances`, {
        token,
      });
      return answer.body.nodeInstances.find((one: { name: string }) => one.name === node).statusDetails;
    },
  };
}
