/** `npm run campaign:faults`: every kind of fault alone, then random pairs; `-- --help` says what can be chosen. */
import { copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { onEnd } from '../../../local/parent.ts';
import { checkout } from '../../../local/settings.ts';
import { temporaryDataFolder } from '../../support/global-setup.ts';
import { Random } from '../../support/random.ts';
import type { FaultKind } from './fault.ts';
import { kinds } from './kinds.ts';
import { CampaignPlatform } from './platform.ts';
import { complaints, type Report } from './report.ts';
import { runCampaign } from './run.ts';
import { sizes } from './sizes.ts';
import { type RunFacts, tableOf, writeRows } from './table.ts';

const usage = `Usage: npm run campaign:faults -- [options]
  --seed N            repeats the campaign of this seed
  --kind KINDS        only these rounds: 1,2,3 or 4+12 (a pair) or pairs
  --pairs N           how many random pairs
  --size small|full   how long each round is; small: as in npm test
  --acknowledged N    a round ends after so many acknowledged uploads
  --faults N          and so many faults
  --processes 1|2     how many of each process
  --write             puts each row into docs/reliability.md when its round is over, and keeps the rows of other kinds`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    seed: { type: 'string' },
    kind: { type: 'string', multiple: true },
    pairs: { type: 'string' },
    size: { type: 'string', default: 'full' },
    acknowledged: { type: 'string' },
    faults: { type: 'string' },
    processes: { type: 'string', default: '2' },
    write: { type: 'boolean', default: false },
  },
});

/** Number of pairs when no kind is named. */
const pairsByDefault = 20;
const page = join(checkout, 'docs/reliability.md');

async function main(): Promise<number> {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  const chosen = rounds(seed);
  console.log(`Seed ${seed}. The same again: npm run campaign:faults -- --seed ${seed}`);
  quietTemporal();
  const processes = values.processes === '1' ? 1 : 2;
  const size = sizes[values.size === 'small' ? 'small' : 'full'];
  const platform = await CampaignPlatform.start({
    // PostgreSQL's user can enter it: else the database would be elsewhere, on a disk that is never full.
    dataDir: temporaryDataFolder(),
    counts: { API: processes, worker: processes, 'built-in worker': processes },
    diskMegabytes: 2_048,
    log: console.log,
  });
  onEnd(() => void platform.stop().finally(() => process.exit(1)));
  try {
    const facts = { seed, size: size.name, processes };
    const report = await campaignOn(platform, facts, chosen);
    console.log(`\n${tableOf(report.rows, facts)}\n`);
    console.log({ ...report, rows: report.rows.length });
    const found = complaints(report);
    for (const complaint of found) console.error(complaint);
    if (found.length > 0) console.error(`Logs of the processes: ${keepLogs(platform)}`);
    return found.length === 0 ? 0 : 1;
  } finally {
    await platform.stop();
  }
}

async function campaignOn(
  platform: CampaignPlatform,
  facts: RunFacts,
  chosen: ReadonlyArray<readonly FaultKind[]>,
): Promise<Report> {
  const size = sizes[facts.size === 'small' ? 'small' : 'full'];
  const acknowledged = Number(values.acknowledged ?? size.acknowledged);
  const faults = Number(values.faults ?? size.faults);
  const options = {
    platform,
    size: { ...size, acknowledged, faults },
    seed: facts.seed,
    log: (line: string) => console.log(`${new Date().toISOString()} ${line}`),
    ...(values.write ? { onRow: (row: Report['rows'][number]) => writeRows(page, [row], facts) } : {}),
  };
  return await runCampaign(options, chosen);
}

/** The data folder is removed at the end; the files that explain a finding stay. */
function keepLogs(platform: CampaignPlatform): string {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-campaign-logs-'));
  for (const { name, logFile } of platform.slots) copyFileSync(logFile, join(folder, `${name}.log`));
  return folder;
}

function rounds(seed: number): FaultKind[][] {
  const named = values.kind?.flatMap((text) => text.split(','));
  const alone = named?.filter((text) => text !== 'pairs').map((text) => text.split('+').map(kindOf));
  const isPaired = named === undefined || named.includes('pairs');
  const count = Number(values.pairs ?? (isPaired ? pairsByDefault : 0));
  return [...(alone ?? kinds.map((kind) => [kind])), ...pairs(new Random(seed).fork('pairs'), count)];
}

/** No pair twice. */
function pairs(random: Random, count: number): FaultKind[][] {
  const all = kinds.flatMap((first) =>
    kinds.filter(({ number }) => number > first.number).map((second) => [first, second]),
  );
  return Array.from({ length: count }, () => all.splice(random.whole(0, all.length - 1), 1)[0]!);
}

function kindOf(number: string): FaultKind {
  const kind = kinds.find((known) => known.number === Number(number));
  if (kind === undefined) throw new Error(`--kind ${number}: name numbers from 1 to ${kinds.length}.`);
  return kind;
}

/** Keeps Temporal's own lines out of the output, but for errors. */
function quietTemporal(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
    shutdownSignals: [],
  });
}

if (values.help) {
  console.log(`${usage}\nKinds:\n${kinds.map(({ number, name }) => `  ${number} ${name}`).join('\n')}`);
  process.exit(0);
}
process.exit(await main());
