/** All kinds of fault that a campaign injects, in the order of their numbers. */
import type { FaultKind } from './fault.ts';
import { repeated, replayed, rolling } from './faults-calls.ts';
import { diskFull } from './faults-disks.ts';
import { clock, halfOpen, resources } from './faults-machine.ts';
import {
  apiKilled,
  databaseRestarted,
  objectStoreKilled,
  standing,
  temporalKilled,
  workerKilled,
} from './faults-processes.ts';
import { databaseBusy, temporalStore } from './faults-stores.ts';
import { answerLost, cutAfter, reset, sliced, slow } from './faults-wire.ts';

export const kinds: readonly FaultKind[] = [
  apiKilled,
  workerKilled,
  standing,
  temporalKilled,
  databaseRestarted,
  objectStoreKilled,
  answerLost,
  reset,
  slow,
  cutAfter,
  sliced,
  halfOpen,
  diskFull,
  clock,
  resources,
  databaseBusy,
  temporalStore,
  repeated,
  rolling,
  replayed,
];
