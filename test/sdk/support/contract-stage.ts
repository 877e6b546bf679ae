/** The conformance kit's server, with runners of the kit on it in this process. */
import { onTestFinished } from 'vitest';
import type { Claim, Node } from '../../../sdk/conformance/server/model.ts';
import { ContractServer } from '../../../sdk/conformance/server/server.ts';
import { defineRunner, type RunnerDefinition, type StartOptions, startRunner } from '../../../sdk/index.ts';
import { eventually } from '../../support/eventually.ts';

export interface ContractStage {
  readonly server: ContractServer;
  /** A node with these texts as inputs. */
  offer(...texts: readonly string[]): Node;
  /** Starts a runner; it is stopped after the test. */
  start(definition: Partial<RunnerDefinition>, options?: StartOptions): Promise<void>;
  /** Resolves with the last claim of the node when its run has ended. */
  ended(node: Node): Promise<Claim>;
}

export async function contractStage({ incremental = false } = {}): Promise<ContractStage> {
  const server = await ContractServer.start({
    templates: [{ name: 'contract', incremental, maxAttempts: 3, leaseSeconds: 30 }],
  });
  onTestFinished(() => server.close());
  return {
    server,
    offer: (...texts) =>
      server.world.offer({
        inputs: texts.map((text, at) => ({ bytes: Buffer.from(text), outputIdentifier: `input-${at + 1}` })),
      }),
    async start(definition, options = {}) {
      const runner = defineRunner({ templates: ['contract'], run: () => 'no-output', ...definition });
      const { url, token } = server;
      const quick = { waitSeconds: 5, graceSeconds: 0, log: () => undefined };
      const running = await startRunner(runner, { url, token, ...quick, ...options });
      onTestFinished(() => running.stop().catch(() => undefined));
    },
    async ended(node) {
      await eventually('the run has ended', () => node.runs.at(-1)?.claims.at(-1)?.end?.reply !== undefined);
      return node.runs.at(-1)!.claims.at(-1)!;
    },
  };
}
