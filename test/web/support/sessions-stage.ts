/** A project of 28 sessions: 26 that never began, one that failed and one that runs. */

import { expect } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';

const drivers = ['MV', 'CL', 'LN'];
const dayMs = 86_400_000;

export async function sessionsStage() {
  const stage = await runnerStage();
  const { api, people, database } = stage;
  const runner = stage.runner();

  /** A session with two nodes of its own, with a name, metadata and an age. */
  async function makeSession(
    name: string,
    projectId: number,
    ageDays: number,
    metadata: object,
  ): Promise<StageGraph> {
    const graph = await stage.chainOf(2, { maxAttempts: 1 });
    await database.query(
      'update session set name = $2, project_id = $3, created_at = $4, metadata = $5, user_id = $6 where id = $1',
      [
        graph.sessionId,
        name,
        projectId,
        new Date(Date.now() - ageDays * dayMs),
        JSON.stringify(metadata),
        people.Developer.userId,
      ],
    );
    return graph;
  }

  async function end(graph: StageGraph, how: 'complete' | 'fail'): Promise<void> {
    const { taskId } = await runner.acquire(graph.template);
    if (how === 'complete') await runner.write(taskId, 'result');
    const said =
      how === 'fail'
        ? { category: 'validation', reason: 'There is no column velocity.' }
        : { outcome: 'completed' };
    const { status, body } = await runner.end(taskId, how, said);
    expect(status, JSON.stringify(body)).toBe(200);
  }

  async function fillProject() {
    const project = await ask(api.url, 'POST', '/projects', {
      token: people.adminToken,
      json: { Title: 'Red Bull Ring, November', PinnedMetadata: ['driver', 'tyre.kind'] },
    });
    const projectId: number = project.body.id;
    for (let number = 1; number <= 26; number += 1) {
      await makeSession(`Stint ${number}`, projectId, number, {
        driver: drivers[number % 3],
        tyre: { kind: number % 2 === 0 ? 'soft' : 'medium', laps: number },
      });
    }
    const running = await makeSession('Car 16, stint 1', projectId, 0.5, { driver: 'CL' });
    await stage.upload(running, 'input', 'speed\n1\n');
    await end(running, 'complete');
    const failed = await makeSession('Car 44, stint 2', projectId, 0.2, {
      driver: 'LH',
      tyre: { kind: 'soft' },
    });
    await stage.upload(failed, 'input', 'speed\n1\n');
    await end(failed, 'fail');
    return { projectId, running, failed };
  }

  return { api, people, database, makeSession, end, fillProject };
}
