/** Inputs that are read at a store, by runners that ask with `redirect=true`. */
import type { Job } from '../job.ts';
import type { Scenario } from '../scenario.ts';
import type { Store, StoreFault } from '../server/store.ts';
import type { Stage } from '../stage.ts';
import { judgeBaseline } from './lost-answers.ts';

const neverAsks = 'The runner reads all inputs through the platform: it does not ask with redirect=true.';

const whole: Scenario = {
  name: 'input-redirect',
  title: 'the input is at a store of another origin',
  async play(stage) {
    const store = await stage.openStore();
    const job = stage.offer();
    stage.start();
    await judgeJob(stage, job, 'sends the input');
    judgeToken(stage, store);
    if (!wasAsked(stage)) stage.note(neverAsks);
  },
};

const broken: Scenario = {
  name: 'input-redirect-broken',
  title: 'the store breaks off, sends another page, and refuses',
  async play(stage) {
    const store = await stage.openStore();
    const faults: readonly StoreFault[] = ['breaks off', 'sends another page', 'refuses'];
    for (const [at, fault] of faults.entries()) {
      store.fault = fault;
      const job = stage.offer();
      if (at === 0) stage.start();
      await judgeJob(stage, job, fault);
      // A store that has failed need not be asked again.
      if (!wasAsked(stage)) return stage.note(neverAsks);
    }
    judgeToken(stage, store);
  },
};

const wasAsked = (stage: Stage) => stage.journal.of('inputData').some(({ status }) => status === 307);

async function judgeJob(stage: Stage, job: Job, how: StoreFault | 'sends the input'): Promise<void> {
  await job.claimed();
  await job.ended();
  if (!wasAsked(stage)) return;
  const end = job.calls.find(({ route }) => route === 'fail' || route === 'release');
  if (end === undefined) return judgeBaseline(stage, job, 'store-not-survived');
  stage.found('store-not-survived', `The store ${how}, and the task was ended (${end.route}).`);
  stage.over();
}

/** The operator of the store must not get the token. */
function judgeToken(stage: Stage, { calls }: Store): void {
  const call = calls.find((each) => JSON.stringify(each).includes(stage.server.token));
  if (call === undefined) return;
  const header = Object.entries(call.headers).find(([, value]) => `${value}`.includes(stage.server.token));
  stage.found('token-sent-to-store', `The store got the token, in ${header?.[0] ?? 'the address'}.`);
}

export const redirectScenarios = [whole, broken];
