/** Writing an output of a built-in run: bytes to storage first, the row second, as every runner does. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { newObjectKey } from '../../store/objects/object-store.ts';
import { outputDataSource } from '../../store/outputs/output-target.ts';
import { type WrittenOutput, writeTaskOutput } from '../../store/runs/task-outputs.ts';
import { traced } from '../../telemetry/trace.ts';
import type { ActivityServices } from '../services.ts';
import { DataSourceFault } from './data-sources.ts';
import { type BuiltinRun, ClaimLostError, InvalidInputError } from './node.ts';

/** A store answers a single request of this size quickly; it may have to assemble larger objects. */
const requestBytes = 8 * 1024 ** 2;

export interface BuiltinOutput {
  readonly outputIdentifier: string;
  readonly contentType: string;
  readonly metadata: Record<string, unknown> | null;
  /** A file of the run's folder, or the bytes. */
  readonly content: { readonly path: string } | { readonly bytes: Buffer };
  /** Moves the watermark to this input, which publishes the output at once; else it is staged until the run completes. */
  readonly watermarkInputId?: number;
}

/** @returns the output's id */
export function writeOutput(
  run: BuiltinRun,
  services: ActivityServices,
  output: BuiltinOutput,
): Promise<number> {
  return traced('write output', {}, () => storeOutput(run, services, output));
}

async function storeOutput(
  run: BuiltinRun,
  services: ActivityServices,
  output: BuiltinOutput,
): Promise<number> {
  const dataSource = await outputDataSource(services.database, run.task.nodeInstanceId);
  if (!dataSource) throw new InvalidInputError('The data source named for this node is not registered.');
  const objectKey = newObjectKey('outputs');
  const declaredBytes = await sizeOf(output.content);
  const write = async () => {
    const stored = await run.sources.use(dataSource, run.signal, ({ store, signal, onBytes, onAllSent }) => {
      return putContent(output.content, (body) => {
        if (declaredBytes > requestBytes) body.once('end', onAllSent);
        return store.put(objectKey, body, { declaredBytes, signal, onBytes });
      });
    });
    const { content: _content, watermarkInputId, ...said } = output;
    const upload = { ...stored, ...said, dataSourceId: dataSource.id, objectKey, contentEncoding: null };
    const { database } = services;
    const written = await writeTaskOutput(database, run.caller, upload, watermarkInputId);
    if (written.kind === 'refused') throw new ClaimLostError(`The output was refused: ${written.why}.`);
    return written;
  };
  // An existing output refers to its own object; this one has no row and is discarded.
  const isUsed = ({ kind }: WrittenOutput) => kind === 'created';
  // A source that does not answer would delay this run again: the sweeper removes the object later.
  const isLeft = (error: unknown) => error instanceof DataSourceFault && error.kind === 'away';
  const { output: row } = await services.pending.hold({ objectKey, dataSource }, write, isUsed, isLeft);
  return row.id;
}

async function sizeOf(content: BuiltinOutput['content']): Promise<number> {
  return 'bytes' in content ? content.bytes.length : (await stat(content.path)).size;
}

/** Opens the content for one put, and closes its descriptor and handles its errors afterwards. */
async function putContent<T>(
  content: BuiltinOutput['content'],
  put: (body: Readable) => Promise<T>,
): Promise<T> {
  const body =
    'bytes' in content
      ? Readable.from([content.bytes])
      : createReadStream(content.path, { highWaterMark: 1 << 20 });
  // The reader of the content gets its failure; an earlier error needs a listener.
  body.on('error', () => undefined);
  try {
    return await put(body);
  } finally {
    body.destroy();
  }
}
