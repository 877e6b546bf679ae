/**
 * Places at which a process can be told to die at once, to show that nothing is lost or doubled between two stores.
 * `FAILPOINT=<name>` arms one; without it a failpoint costs a comparison.
 */
export type Failpoint =
  /** The bytes of an upload are stored, its row is not written. */
  | 'upload-stored'
  /** The upload's transaction has committed, nobody was told. */
  | 'upload-committed'
  /** An upload stands in its project's queue, it was not acknowledged. */
  | 'upload-queued'
  /** Queued uploads are packed into an object that nothing refers to yet. */
  | 'ingest-packed'
  /** Queued uploads are published, nobody was told. */
  | 'ingest-published'
  /** A claim has committed, its reply was not written. */
  | 'claimed'
  /** The bytes of a task's output are stored, its row is not written. */
  | 'task-output-stored'
  /** A task's output has committed. */
  | 'task-output-committed'
  /** The end of a task has committed, nobody was told. */
  | 'end-committed';

const armed = process.env.FAILPOINT;

/** Kills this process, as `kill -9` would, when the point is armed. */
export function failpoint(point: Failpoint): void {
  if (armed === point) process.kill(process.pid, 'SIGKILL');
}
