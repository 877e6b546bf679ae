/** Tasks that write logs, and the pages of what they wrote. */
import { expect } from 'vitest';
import { ask } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { runnerStage, type TestRunner } from '../../support/runner.ts';

export interface Entry {
  position: number;
  attempt: number;
  level: string;
  source: string;
  message: string;
  fields: Record<string, unknown> | null;
}

interface Page {
  entries: Entry[];
  next: number;
  complete: boolean;
}

export async function logStage() {
  const stage = await runnerStage();
  const { api, database, people } = stage;

  const line = (message: string, level = 'info', fields?: object) => ({
    at: '2026-03-01T10:04:01.120Z',
    level,
    message,
    ...(fields === undefined ? {} : { fields }),
  });

  async function held(options: { maxAttempts?: number } = {}) {
    const graph = await stage.chainOf(1, options);
    await stage.upload(graph, 'input', 'x');
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    return { graph, runner, task, taskId: task.taskId as string, runId: task.runId as string };
  }

  function log(runner: TestRunner, taskId: string, sequence: number, entries: readonly object[]) {
    return runner.call('POST', `/tasks/${taskId}/logs`, { sequence, entries });
  }

  async function page(runId: string, query: Record<string, string | number> = {}): Promise<Page> {
    const parameters = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const answer = await ask(api.url, 'GET', `/api/v2/node-runs/${runId}/logs?${parameters}`, {
      token: people.Instructor.token,
    });
    expect(answer.status).toBe(200);
    return answer.body;
  }

  /** The log as it is once the run has ended. */
  async function whole(runId: string, query: Record<string, string | number> = {}): Promise<Page> {
    return eventually('the whole log', async () => {
      const found = await page(runId, query);
      return found.complete ? found : undefined;
    });
  }

  const written = ({ entries }: Page) => entries.filter(({ source }) => source === 'runner');
  const messages = (found: Page) => found.entries.map(({ message }) => message);
  return { stage, api, database, people, line, held, log, page, whole, written, messages };
}
