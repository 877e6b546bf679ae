/** `sdp watch-folder`: the agent of a capture machine. */
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { isTransient } from '../../client/back-off.ts';
import { type AddCommand, type Cli, examples, wholeNumber } from '../cli.ts';
import { placeOf } from '../connection.ts';
import { contentTypeOf } from '../content-type.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { Journal } from '../folder/journal.ts';
import type { FoundFile } from '../folder/scan.ts';
import { type Acknowledged, retryUntilDone, watchFolder } from '../folder/watch.ts';
import { PlatformClient } from '../platform-client.ts';
import { Progress } from '../progress.ts';
import { ingestFile, uploadFile } from '../transfers.ts';
import { findNode } from './upload.ts';

interface WatchFolderOptions {
  readonly session?: string;
  readonly node?: string;
  readonly ingest?: string;
  readonly settle: number;
  readonly limitRate?: number;
  readonly pattern?: RegExp;
  readonly moveTo?: string;
  readonly mark?: boolean;
  readonly once?: boolean;
}
type Send = (file: FoundFile, metadata: string | undefined) => Promise<Acknowledged>;

export const addWatchFolder: AddCommand = (program, cli) => {
  program
    .command('watch-folder')
    .description(
      'Sends the files of a folder to a session or a managed ingest as they are completed, oldest first. It retries ' +
        'for as long as it takes, and after a restart goes on where it was: each file is sent once.',
    )
    .argument('<folder>')
    .option('--session <id>', 'the session, or the id of a node instance')
    .option('--node <name>', 'the node, if the session has several input nodes')
    .option('--ingest <urlPath>', 'path of a managed ingest; SDP_INGEST_SECRET is its secret')
    .option(
      '--settle <seconds>',
      'seconds without a change after which a file is complete',
      wholeNumber(1, 3_600),
      5,
    )
    .option('--limit-rate <rate>', 'most bytes a second, as in 500K or 2M', rate)
    .option('--pattern <regex>', 'metadata from the name: its named groups', expression)
    .option('--move-to <folder>', 'moves acknowledged files there')
    .option('--mark', 'writes NAME.sent beside each acknowledged file')
    .option('--once', 'ends when all files are sent or refused')
    .addHelpText(
      'after',
      `${examples(
        'watch-folder /captures --session 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 --move-to /captures/sent',
        "watch-folder /captures --ingest devices/rig-3 --limit-rate 2M --pattern '(?<driver>[A-Z]+)-(?<lap>[0-9]+)'",
      )}\n\nA file NAME.meta.json beside a file is a JSON object of its metadata. What was sent is in .sdp-sent.jsonl.`,
    )
    .action((folder: string, options: WatchFolderOptions) => watch(cli, folder, options));
};

async function watch(cli: Cli, folder: string, options: WatchFolderOptions): Promise<void> {
  const { session, ingest } = options;
  if ((session === undefined) === (ingest === undefined))
    throw new UsageError('Name either --session or --ingest.');
  if (ingest !== undefined && options.node !== undefined)
    throw new UsageError('--node belongs to --session: a managed ingest has its own node.');
  if (!(await stat(folder).catch(() => undefined))?.isDirectory())
    throw new Error(`Folder not found: ${folder}.`);
  await mustBeElsewhere(folder, options.moveTo);
  const progress = new Progress();
  const say = (line: string) => progress.say(line);
  const send =
    ingest === undefined
      ? // After a loss of power the agent may start before its line, or the platform.
        await retryUntilDone({ say, mayPass: isTransient }, () => toNode(cli, session!, options, progress))
      : toIngest((await placeOf(cli.url)).address, ingest, options, progress);
  const refused = await watchFolder(
    {
      folder: resolve(folder),
      settleMs: options.settle * 1000,
      pattern: options.pattern,
      moveTo: options.moveTo === undefined ? undefined : resolve(options.moveTo),
      mark: options.mark === true,
      once: options.once === true,
      // It sends files for years, and their bars must not stay.
      send: (file, metadata) => send(file, metadata).finally(() => progress.drop(file.path)),
      say,
    },
    await Journal.open(resolve(folder)),
  );
  if (refused > 0) process.exitCode = exitCodes.failed;
}

/** Moved files would be found again, under other names. */
async function mustBeElsewhere(folder: string, moveTo: string | undefined): Promise<void> {
  if (moveTo === undefined) return;
  const target = await realpath(moveTo).catch(() => resolve(moveTo));
  if (target === (await realpath(folder))) throw new UsageError('--move-to must name another folder.');
}

async function toNode(
  cli: Cli,
  session: string,
  { node, limitRate }: WatchFolderOptions,
  progress: Progress,
): Promise<Send> {
  const platform = await cli.connect();
  platform.bytesPerSecond = limitRate;
  const nodeInstanceId = await findNode(platform, session, node);
  return async ({ path }, metadata) => {
    const request = { nodeInstanceId, file: path, contentType: contentTypeOf(path), metadata, retries: 0 };
    const { identifier, outputId } = await uploadFile(platform, request, progress);
    return { identifier, outputId };
  };
}

function toIngest(
  address: string,
  urlPath: string,
  { limitRate }: WatchFolderOptions,
  progress: Progress,
): Send {
  const platform = new PlatformClient(address);
  platform.bytesPerSecond = limitRate;
  return async ({ path }, metadata) => {
    const request = { urlPath, file: path, contentType: contentTypeOf(path), metadata };
    const { identifier, nodeOutputId } = await ingestFile(platform, request, (sent, total) =>
      progress.update(path, sent, total),
    );
    return { identifier, outputId: nodeOutputId };
  };
}

function rate(value: string): number {
  const [, number, unit = ''] = /^(\d+)([KMG]?)$/i.exec(value) ?? [];
  const factor = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }[unit.toUpperCase()];
  if (number === undefined || factor === undefined || Number(number) === 0)
    throw new InvalidArgumentError('It must be a number of bytes, as in 500K or 2M.');
  return Number(number) * factor;
}

function expression(value: string): RegExp {
  try {
    return new RegExp(value);
  } catch {
    throw new InvalidArgumentError('It must be a regular expression.');
  }
}
