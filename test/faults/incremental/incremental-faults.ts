import type { IncrementalModel } from './incremental-model.ts';

/**
 * What happens at one call. `lost`: it is done, its answer gets lost, and it is repeated. `cut`: the connection breaks
 * in the middle, whether or not the call was done, and it is repeated. `dies-before`, `dies-after`: the runner is gone.
 * `releases`, `fails`: it does so in place of the call; so `breaks`, a failure for good, `suspends` and `finds-nothing`.
 * `cancelled`: an operator cancels the run in this moment, and the runner ends it.
 */
export const faults = [
  'none',
  'lost',
  'cut',
  'dies-before',
  'dies-after',
  'releases',
  'fails',
  'breaks',
  'suspends',
  'finds-nothing',
  'cancelled',
] as const;
export type Fault = (typeof faults)[number];

export interface End {
  readonly call: 'release' | 'fail' | 'complete';
  readonly json: object;
  readonly note: (model: IncrementalModel) => void;
}
const suspended = { outcome: 'suspended' };
export const ends: Partial<Record<Fault, End>> = {
  releases: { call: 'release', json: {}, note: () => undefined },
  fails: { call: 'fail', json: { category: 'error', reason: 'No luck.' }, note: (model) => model.failed() },
  breaks: {
    call: 'fail',
    json: { category: 'validation', reason: 'Broken.' },
    note: (model) => model.failedForGood(),
  },
  suspends: { call: 'complete', json: suspended, note: (model) => model.endedWithoutOutput() },
  'finds-nothing': {
    call: 'complete',
    json: { outcome: 'no-output' },
    note: (model) => model.endedWithoutOutput(),
  },
  cancelled: { call: 'complete', json: suspended, note: (model) => model.cancelled() },
};

export class Ends extends Error {
  readonly end: End;
  constructor(end: End) {
    super(end.call);
    this.end = end;
  }
}
