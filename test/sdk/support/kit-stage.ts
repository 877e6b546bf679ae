/** The platform of a test file with runners of the kit on it. */
import { afterEach } from 'vitest';
import { type Runner, type RunningRunner, startRunner } from '../../../sdk/index.ts';
import { ask, tokenOf } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import type { Graph } from '../../support/graph.ts';
import { type TestProcess, testProcesses } from '../../support/processes.ts';
import { type RunnerStage, runnerStage } from '../../support/runner.ts';

export interface KitStage extends RunnerStage {
  /** Starts a runner in this process with a developer's token; it is stopped after the test. */
  start(runner: Runner, options?: Parameters<typeof startRunner>[1]): Promise<RunningRunner>;
  /** Starts a module of the tests as a runner process; resolves when it claims tasks. */
  startProcess(module: string, variables: Readonly<Record<string, string>>): Promise<TestProcess>;
  /** As `startProcess`, without waiting. */
  spawn(module: string, variables: Readonly<Record<string, string>>): TestProcess;
  /** A new access token of the developer. */
  tokenOfDeveloper(): Promise<string>;
  /** The newest output of a node, as text. */
  latest(graph: Graph, node: string): Promise<string>;
  /** All published outputs of a node, as text, in order. */
  outputs(graph: Graph, node: string): Promise<readonly string[]>;
  /** State name and details of a node, as operators read them. */
  node(graph: Graph, node: string): Promise<{ readonly state: string; readonly statusDetails: string }>;
  /** Resolves when the node is in the state. */
  until(graph: Graph, node: string, state: string, limitMs?: number): Promise<void>;
  /** Waits until a retry of the node is planned, and makes it due now. */
  retryNow(graph: Graph, node: string): Promise<void>;
  /** The claims of a node's runs so far, oldest first. */
  claims(graph: Graph, node: string): Promise<readonly Claim[]>;
}

interface Claim {
  readonly taskId: string;
  readonly attempt: number;
  readonly instanceId: string;
  readonly ending: string | null;
}

/** Call it once at the top of a file. */
export async function kitStage(variables: Record<string, string> = {}): Promise<KitStage> {
  const stage = await runnerStage(variables);
  const processes = testProcesses({});
  const running: RunningRunner[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((runner) => runner.stop().catch(() => undefined)));
  });
  const { url } = stage.api;
  const token = stage.people.Developer.token;
  const node: KitStage['node'] = async (graph, name) => {
    const answer = await ask(url, 'GET', `/api/v2/session/${graph.sessionId}/node-instances`, { token });
    return answer.body.nodeInstances.find((one: { name: string }) => one.name === name);
  };
  const spawn: KitStage['spawn'] = (module, more) => {
    const settings = { SDP_URL: url, SDP_RUNNER_TOKEN: token, SDP_RUNNER_GRACE_SECONDS: '0' };
    return processes.startScript('sdk/main.ts', { ...settings, ...more }, { args: [module] });
  };
  return {
    ...stage,
    node,
    spawn,
    tokenOfDeveloper() {
      const { username, password } = stage.people.Developer;
      return tokenOf(url, username, password);
    },
    async start(runner, options = {}) {
      const quick = { waitSeconds: 5, graceSeconds: 0, log: () => undefined };
      const started = await startRunner(runner, { url, token, ...quick, ...options });
      running.push(started);
      return started;
    },
    async startProcess(module, more) {
      const child = spawn(module, more);
      await eventually('the runner claims tasks', () => child.log().includes('claims tasks'));
      return child;
    },
    async latest(graph, name) {
      const path = `/api/v2/node-instance/${graph.nodes[name]}/outputs/latest/data`;
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
      if (answer.status !== 200) throw new Error(`latest output: ${answer.status}`);
      return await answer.text();
    },
    async outputs(graph, name) {
      const path = `/api/v2/node-instance/${graph.nodes[name]}/outputs`;
      const { body } = await ask(url, 'GET', path, { token });
      const headers = { authorization: `Bearer ${token}` };
      return await Promise.all(
        body.map(async ({ id }: { id: number }) => {
          const data = await fetch(`${url}/api/v2/node-instance/outputs/${id}/data`, { headers });
          return await data.text();
        }),
      );
    },
    async until(graph, name, state, limitMs) {
      await eventually(
        `${name} is ${state}`,
        async () => {
          const seen = await node(graph, name);
          if (seen.state === state) return true;
          throw new Error(`${seen.state}: ${seen.statusDetails}`);
        },
        limitMs,
      );
    },
    async retryNow(graph, name) {
      await eventually('a retry waits', async () => {
        // What the session's workflow does when the time has come.
        const rows = await stage.database.query(
          `update node_run set state = 'queued', due_at = null where node_instance_id = $1 and state = 'waiting'
           returning id`,
          [graph.nodes[name]],
        );
        return rows.length === 1;
      });
    },
    claims: (graph, name) =>
      stage.database.query<Claim>(
        `select c.task_id, c.attempt, c.instance_id, c.ending
           from node_claim c join node_run r on r.id = c.run_id
          where r.node_instance_id = $1 order by c.claimed_at`,
        [graph.nodes[name]],
      ),
  };
}
