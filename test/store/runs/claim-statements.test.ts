/** The statements of a claim as the database gets them: composed of parts, they can be read as a whole in the snapshot. */
import { beforeAll, expect, test, vi } from 'vitest';
import type { Tx } from '../../../store/connection/database.ts';
import { claimNext, claimRun, registerAndClaim } from '../../../store/runs/claims.ts';
import { databaseStage } from '../../support/databases.ts';
import { outsideTemplate } from '../../support/graph.ts';

const { database } = await databaseStage(16);
beforeAll(async () => {
  await outsideTemplate(database, 'shown');
});

const identity = { holder: 'user:shown', instanceId: 'one' };

/** The last statement that `work` sent. */
async function statementOf(work: (recording: Tx) => Promise<unknown>): Promise<string> {
  return database.transaction(async (tx) => {
    const queries = vi.spyOn(tx, 'query');
    await work(tx);
    return queries.mock.lastCall![0];
  });
}

/** Indented by open brackets. */
function readable(statement: string): string {
  let depth = 0;
  const lines = statement.split('\n').map((line) => line.trim());
  const indented = lines.filter(Boolean).map((line) => {
    const closers = /^\)*/.exec(line)![0].length;
    const indent = '  '.repeat(Math.max(0, depth - closers));
    depth += line.split('(').length - line.split(')').length;
    return indent + line;
  });
  return `${indented.join('\n')};\n`;
}

test('the statements of a claim are those of the snapshot', async () => {
  const template = 'shown';
  const leaseSeconds = 30;
  const arriving = await statementOf((on) => registerAndClaim(on, identity, { template, leaseSeconds }));
  const next = await statementOf((on) =>
    claimNext(on, identity, { claimSeq: 1, templates: [template], leaseSeconds }),
  );
  const one = await statementOf((on) =>
    claimRun(on, identity, { runId: '01890a5d-ac96-774b-bcce-b302099a8057', attempt: 1, leaseSeconds }),
  );
  const isLimited = () => true;
  const limited = await statementOf((on) =>
    claimNext(on, identity, { claimSeq: 1, templates: [template], leaseSeconds, isLimited }),
  );
  const shown = [
    '-- A claim that arrives for one template (registerAndClaim).',
    readable(arriving),
    '-- A claim that has arrived (claimNext).',
    readable(next),
    '-- The same under limits, whose locks it holds.',
    readable(limited),
    '-- The claim of one attempt, for a built-in node (claimRun).',
    readable(one),
  ].join('\n');
  await expect(shown).toMatchFileSnapshot('claim-statements.sql');
});
