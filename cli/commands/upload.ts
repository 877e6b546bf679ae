/** `sdp upload`: files into a node, several at once, each with its own bar. */
import { stat } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { isTransient } from '../../client/back-off.ts';
import { inParallel } from '../../client/in-parallel.ts';
import { type AddCommand, examples, wholeNumber } from '../cli.ts';
import { contentTypeOf, mediaType } from '../content-type.ts';
import { exitCodes, printError, UsageError } from '../errors.ts';
import { whenInterrupted } from '../interrupted.ts';
import { bytes } from '../output.ts';
import type { PlatformClient } from '../platform-client.ts';
import { Progress } from '../progress.ts';
import { type Uploaded, uploadFile } from '../transfers.ts';

interface UploadOptions {
  readonly node?: string;
  readonly contentType?: string;
  readonly metadata?: string;
  readonly identifier?: string;
  readonly parallel: number;
  readonly retries: number;
}

export const addUpload: AddCommand = (program, cli) => {
  program
    .command('upload')
    .description(
      'Uploads files to a node. A failed file is retried under the same identifier, derived from its name and ' +
        'bytes, and an existing output of the same type and metadata is not sent again: the command can be repeated.',
    )
    .argument('<target>', 'id of a session (its input node) or of a node instance')
    .argument('<files...>')
    .option('--node <name>', 'the node, if the session has several input nodes')
    .option('--content-type <type>', 'media type (default: by the file name)', mediaType)
    .option('--metadata <json>', 'a JSON object stored with each output', jsonObject)
    .option('--identifier <text>', 'identifier of the output, for a single file')
    .option('--parallel <number>', 'parallel uploads', wholeNumber(1, 16), 4)
    .option('--retries <number>', 'retries of a failed file', wholeNumber(0, 100), 5)
    .addHelpText(
      'after',
      examples(
        'upload 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 recording.csv',
        'upload 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 --node telemetry lap-*.csv',
        'upload 101 --parallel 8 laps/*.parquet',
      ),
    )
    .action(async (target: string, files: string[], options: UploadOptions) => {
      if (options.identifier !== undefined && files.length > 1) {
        throw new UsageError('--identifier names one output and needs a single file.');
      }
      await Promise.all(files.map(mustBeFile));
      const platform = await cli.connect();
      const nodeInstanceId = await findNode(platform, target, options.node);
      const { done, failures } = await uploadAll(platform, nodeInstanceId, files, {
        ...options,
        isJson: cli.isJson,
      });
      if (cli.isJson) cli.print({ nodeInstanceId, uploads: done }, () => '');
      if (failures.length === 0) return;
      process.exitCode = exitCodes.failed;
      // Then each failure is one JSON document.
      if (cli.isJson) return;
      // A refusal would be repeated.
      const advice = failures.some(isTransient) ? ' Repeat the command to send only these.' : '';
      console.error(`${failures.length} of ${files.length} files failed.${advice}`);
    });
};

async function uploadAll(
  platform: PlatformClient,
  nodeInstanceId: number,
  files: readonly string[],
  { contentType, metadata, identifier, parallel, retries, isJson }: UploadOptions & { isJson: boolean },
): Promise<{ done: readonly Uploaded[]; failures: readonly unknown[] }> {
  const progress = new Progress(isJson);
  const done: Uploaded[] = [];
  const failures: unknown[] = [];
  const all = [...new Set(files)];
  const forget = whenInterrupted(() =>
    progress.say(
      `Interrupted: ${done.length} of ${all.length} files are stored. Repeat the command to send the rest.`,
    ),
  );
  await inParallel(all, parallel, async (file) => {
    const request = { nodeInstanceId, file, metadata, identifier, retries };
    try {
      const type = contentType ?? contentTypeOf(file);
      const uploaded = await uploadFile(platform, { ...request, contentType: type }, progress);
      done.push(uploaded);
      progress.end(file, `${file}: ${sentenceOf(uploaded)}`);
    } catch (error) {
      progress.end(file, `${file}: failed`);
      printError(error, isJson, platform.bearer.remedy);
      failures.push(error);
    }
  });
  forget();
  return { done, failures };
}

function sentenceOf({ outcome, outputId, sizeBytes, resumedAtBytes }: Uploaded): string {
  if (outcome === 'there') return `already stored as output ${outputId}`;
  const resumed = resumedAtBytes === 0 ? '' : `, resumed at ${bytes(resumedAtBytes)}`;
  if (outcome === 'queued') return `stored, published from the queue (${bytes(sizeBytes)}${resumed})`;
  return `output ${outputId} (${bytes(sizeBytes)}${resumed})`;
}

/** @throws Error with a sentence for the person */
export async function mustBeFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory())
    throw new Error(`${file} is a folder. Name its files, or use \`sdp watch-folder\`.`);
  if (found?.isFile() !== true) throw new Error(`File not found: ${file}.`);
}

/** Finds the node instance by its id, by its name in the session, or as the session's only input node. */
export async function findNode(
  platform: PlatformClient,
  target: string,
  name: string | undefined,
): Promise<number> {
  if (/^[1-9]\d{0,15}$/.test(target)) {
    if (name === undefined) return Number(target);
    throw new UsageError(`--node chooses a node of a session, and ${target} is the id of a node instance.`);
  }
  if (!/^[0-9a-f-]{36}$/i.test(target)) {
    throw new UsageError(`'${target}' is neither the id of a session nor of a node instance.`);
  }
  const { nodeInstances } = await platform.call('GET /api/v2/sessions/{id}', { params: { id: target } });
  const fitting = nodeInstances.filter((node) =>
    name === undefined ? node.parentIds.length === 0 : node.name === name,
  );
  if (fitting.length === 1) return fitting[0]!.id;
  const namesOf = (nodes: typeof nodeInstances) => nodes.map((node) => node.name).join(', ');
  throw new UsageError(
    name === undefined
      ? `The session has ${fitting.length} input nodes: name one with --node (${namesOf(fitting)}).`
      : `The session has no node ${name}. It has ${namesOf(nodeInstances)}.`,
  );
}

function jsonObject(value: string): string {
  try {
    const parsed: unknown = JSON.parse(value);
    // On one line: a header holds no line breaks.
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return JSON.stringify(parsed);
  } catch {
    // Reported below.
  }
  throw new InvalidArgumentError('It must be a JSON object.');
}
