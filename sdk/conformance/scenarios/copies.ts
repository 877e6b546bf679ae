/** Two copies of the runner at the same time. */
import type { Scenario } from '../scenario.ts';
import type { Journal } from '../server/journal.ts';

export const twoCopies: Scenario = {
  name: 'two-copies',
  title: 'the command is started twice: each copy claims under its own instance ids',
  async play(stage) {
    stage.start();
    if (!(await stage.until(() => instancesIn(stage.journal).size > 0))) {
      stage.found('never-claimed', 'No claim came.');
      stage.over();
    }
    const copy = await stage.startCopy();
    if (!(await stage.until(() => instancesIn(copy).size > 0)))
      stage.skip('the second copy made no claim; does the command start twice on one machine?');
    const first = instancesIn(stage.journal);
    const shared = [...instancesIn(copy)].find((id) => first.has(id));
    if (shared !== undefined) stage.found('instance-shared', `Both copies claimed as '${shared}'.`);
  },
};

function instancesIn(journal: Journal): Set<string> {
  return new Set(
    journal.of('claim').flatMap(({ json }) => {
      const { instanceId } = (json ?? {}) as { readonly instanceId?: string };
      return typeof instanceId === 'string' ? [instanceId] : [];
    }),
  );
}
