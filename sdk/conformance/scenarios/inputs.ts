/** How inputs are listed and read. */
import { gzipSync } from 'node:zlib';
import type { Scenario } from '../scenario.ts';
import { isSameTarget } from '../server/journal.ts';
import type { Stage } from '../stage.ts';
import { judgeBaseline } from './lost-answers.ts';

const manyInputs = 5;
const pageSize = 2;

const pages: Scenario = {
  name: 'input-pages',
  title: `${manyInputs} inputs on pages of ${pageSize}`,
  stage: () => ({ limits: { inputsPage: pageSize } }),
  async play(stage) {
    const job = stage.offer(manyOf(stage, manyInputs, 'together'));
    stage.start();
    await job.completed();
    const listings = stage.journal.of('inputs').filter(({ status }) => status === 200);
    if (listings.length === 0) stage.skip('the runner lists no inputs');
    const asked = new Set(
      listings.map(({ path }) => new URL(path, 'http://local').searchParams.get('cursor')),
    );
    const missed = listings.find(({ reply }) => {
      const { nextCursor } = reply as { readonly nextCursor: string | null };
      return nextCursor !== null && !asked.has(nextCursor);
    });
    if (missed === undefined) return;
    const limit = Number(new URL(missed.path, 'http://local').searchParams.get('limit') ?? Number.NaN);
    // A runner that set such a small limit may need no further page.
    if (limit <= pageSize) return;
    stage.found(
      'cursor-not-followed',
      `${missed.path.replace(/^.*\/tasks\/[^/]+/, '')} got ${pageSize} inputs and a nextCursor that was never asked for.`,
    );
  },
};

/** The author's inputs repeated, with distinct names. */
export function manyOf(stage: Stage, count: number, group?: string) {
  const { inputs } = stage.under;
  return Array.from({ length: count }, (_none, at) => {
    const input = inputs[at % inputs.length];
    if (input === undefined) throw new Error('There is at least one input.');
    const name = input.outputIdentifier ?? 'input';
    return {
      ...input,
      outputIdentifier: at < inputs.length ? name : `${at}-${name}`,
      ...(group === undefined ? {} : { group }),
    };
  });
}

const gzip: Scenario = {
  name: 'input-gzip',
  title: 'the input is stored compressed',
  async play(stage) {
    const packed = stage.under.inputs.map((input) => ({
      ...input,
      bytes: gzipSync(input.bytes),
      contentEncoding: 'gzip' as const,
    }));
    const job = stage.offer(packed);
    stage.start();
    await job.claimed();
    await job.ended();
    const reads = stage.journal.of('inputData').filter(({ status }) => status === 200);
    if (reads.length === 0) stage.skip('the runner reads no input bytes');
    const failure = job.calls.find(({ route }) => route === 'fail');
    if (failure === undefined) return judgeBaseline(stage, job, 'gzip-not-decoded');
    const { reason } = (failure.json ?? {}) as { readonly reason?: string };
    const accepted = reads[0]?.headers['accept-encoding'] ?? 'none';
    stage.found('gzip-not-decoded', `With Accept-Encoding: ${accepted} the task failed: ${reason}`);
  },
};

const cut: Scenario = {
  name: 'input-cut',
  title: 'the bytes of an input break off in the middle',
  async play(stage) {
    const job = stage.offer();
    const broken = stage.fault({ on: job.on('inputData'), fault: { kind: 'cut-answer' } });
    stage.start();
    await job.claimed();
    await job.ended();
    const [first] = broken.hits;
    if (first === undefined) return stage.skip('the runner reads no input bytes');
    const again = stage.journal.after(first).some((call) => isSameTarget(call, first));
    const [claim] = job.claims;
    if (again) judgeBaseline(stage, job, 'truncated-input-used');
    else if (claim?.end?.how === 'complete')
      stage.found(
        'truncated-input-used',
        'Half of an input arrived, and the task was completed without reading it again.',
      );
    else
      stage.found(
        'gave-up-early',
        `Half of an input arrived, and the task was ended (${claim?.end?.how}) instead of reading it again.`,
      );
  },
};

export const inputScenarios = [pages, gzip, cut];
