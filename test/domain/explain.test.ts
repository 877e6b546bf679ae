import { expect, test } from 'vitest';
import { previewRun, type RunPreviewFacts } from '../../domain/runs/preview-run.ts';

const idle: RunPreviewFacts = {
  isFrozen: false,
  run: null,
  plan: {
    isInput: false,
    trigger: 'all',
    parentPositions: [3, 5],
    consumedPosition: 5,
    followUpWanted: false,
    reprocessWanted: false,
  },
  silentParents: [],
};
const dueAt = '2026-01-01T00:00:00.000Z';
const silent = { ...idle.plan, parentPositions: [0, 5] };

test.each<[string, Partial<RunPreviewFacts>, boolean, string]>([
  ['nothing new', {}, false, 'There are no new inputs since its last run.'],
  ['new inputs', { plan: { ...idle.plan, consumedPosition: 4 } }, true, 'There are new inputs.'],
  [
    'a follow-up',
    { plan: { ...idle.plan, followUpWanted: true } },
    true,
    'Its last run requested a follow-up.',
  ],
  ['a reprocess', { plan: { ...idle.plan, reprocessWanted: true } }, true, 'A reprocess is requested.'],
  ['a silent parent', { plan: silent, silentParents: ['a'] }, false, 'No output yet of: a.'],
  [
    'a silent parent where one is enough',
    { plan: { ...silent, trigger: 'any' }, silentParents: ['a'] },
    false,
    'There are no new inputs since its last run.',
  ],
  [
    'silent parents where one would be enough',
    { plan: { ...silent, trigger: 'any', parentPositions: [0, 0] }, silentParents: ['a', 'b'] },
    false,
    'No output yet of: a, b.',
  ],
  ['a queued run', { run: { state: 'queued', dueAt: null } }, true, 'A task is queued.'],
  ['a held run', { run: { state: 'held', dueAt: null } }, false, 'A runner holds its task.'],
  ['a waiting run', { run: { state: 'waiting', dueAt } }, false, `Its next attempt is due at ${dueAt}.`],
  [
    'a queued run of a frozen session',
    { isFrozen: true, run: { state: 'queued', dueAt: null } },
    false,
    'The session is frozen.',
  ],
  [
    'an input node',
    { plan: { ...idle.plan, isInput: true, parentPositions: [] } },
    false,
    'Input nodes receive uploads and get no tasks.',
  ],
])('%s', (_case, facts, wouldRun, why) => {
  expect(previewRun({ ...idle, ...facts })).toEqual({ wouldRun, why });
});
