/** Reading the inputs of a built-in run, page by page, and their bytes. */
import { createHash } from 'node:crypto';
import { originOf } from '../../domain/outputs/output-copy.ts';
import { sourceKeyOf } from '../../domain/outputs/source-key.ts';
import { startOf } from '../../domain/text.ts';
import { findDataSource } from '../../store/objects/data-sources.ts';
import { renewLease } from '../../store/runners/lease.ts';
import { type InputMode, listInputs, type TaskInput } from '../../store/runs/task-inputs.ts';
import type { ActivityServices } from '../services.ts';
import { type BuiltinRun, ClaimLostError } from './node.ts';

const pageSize = 200;

/** All inputs of a mode, oldest first; renews the lease at every page. */
export async function* taskInputs(
  run: BuiltinRun,
  services: ActivityServices,
  mode: InputMode,
): AsyncGenerator<TaskInput> {
  let afterPosition = 0;
  for (;;) {
    const task = await renewLease(services.database, run.caller);
    if (!task) throw new ClaimLostError('The task is no longer held.');
    const page = await listInputs(services.database, task, { mode, afterPosition, limit: pageSize });
    yield* page;
    if (page.length < pageSize) return;
    afterPosition = page.at(-1)!.position;
  }
}

/**
 * Stores the bytes of an input, as they were uploaded, in a file.
 * @throws Error when others came: the next attempt reads again, and no file is refused for what happened on the way
 */
export async function downloadInput(
  run: BuiltinRun,
  services: ActivityServices,
  input: TaskInput,
  path: string,
): Promise<void> {
  const dataSource = await findDataSource(services.database, input.dataSourceId);
  if (!dataSource) throw new Error(`Data source ${input.dataSourceId} no longer exists.`);
  const range =
    input.objectOffset === null
      ? undefined
      : { start: input.objectOffset, end: input.objectOffset + input.sizeBytes - 1 };
  const hash = createHash('sha256');
  await run.sources.use(dataSource, run.signal, ({ store, signal, onBytes }) => {
    const onChunk = (chunk: Buffer) => {
      hash.update(chunk);
      onBytes();
    };
    const { objectKey, sizeBytes } = input;
    return store.download(objectKey, path, { signal, sizeBytes, onChunk, ...(range && { range }) });
  });
  const sha256 = hash.digest('hex');
  if (input.sha256 === null || input.sha256 === sha256) return;
  throw new Error(
    `Input ${input.outputId} came with other bytes: their SHA-256 is ${sha256}, and the platform has ${input.sha256}.`,
  );
}

const maxNameCharacters = 255;

/** The upload's name for people: its file name when the uploader sent one, else its source key, else its identifier. */
export function shownName(input: TaskInput): string {
  const name = input.metadata?.fileName;
  return typeof name === 'string' && name.trim() !== ''
    ? startOf(name, maxNameCharacters)
    : (sourceKeyOf(input.metadata) ?? originOf(input).outputIdentifier);
}
