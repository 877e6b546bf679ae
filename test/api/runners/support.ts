/** Runner instances as operators see them, over the interface. */
import { type Answer, ask } from '../../support/api.ts';
import type { RunnerStage, TestRunner } from '../../support/runner.ts';

const path = '/api/v2/admin/runners';

export function administration(stage: RunnerStage) {
  const admin = (method: string, below = '', token = stage.people.Developer.token): Promise<Answer> =>
    ask(stage.api.url, method, path + below, { token });

  /** The instance as the list shows it; undefined when it does not. */
  async function shown(instanceId: string) {
    const { body } = await admin('GET', '?pageSize=100');
    return body.runners.find((runner: { instanceId: string }) => runner.instanceId === instanceId);
  }

  /** Drains an instance, or ends that. */
  const drain = async (runner: TestRunner, method: 'POST' | 'DELETE' = 'POST') =>
    admin(method, `/${(await shown(runner.instanceId)).id}/drain`);

  /** Moves the time when an instance was last seen into the past. */
  async function unseen(runner: TestRunner, seconds: number): Promise<void> {
    // Its calls until now would be written afterwards.
    await stage.api.composed.services.runners.presence.flush();
    await stage.database.query(
      `update runner_instance set last_seen_at = now() - make_interval(secs => $2) where instance_id = $1`,
      [runner.instanceId, seconds],
    );
  }

  return { admin, shown, drain, unseen };
}
