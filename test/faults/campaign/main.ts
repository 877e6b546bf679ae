/**
 * `npm run campaign:faults`: every kind of fault alone, then random pairs. `-- --seed N` repeats one, `--kind 7` or
 * `--kind 4+12` chooses rounds (more than one may be named), `--pairs N` says how many pairs, `--size small|full` and
 * `--acknowledged N` how long a round is, `--processes 1|2` how many of each process, `--write` puts the table into
 * docs/reliability.md.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { onEnd } from '../../../local/parent.ts';
import { checkout } from '../../../local/settings.ts';
import type { FaultKind } from './fault.ts';
import { kinds } from './kinds.ts';
import { CampaignPlatform } from './platform.ts';
import { quietTemporal } from './quiet.ts';
import { Random } from './random.ts';
import { Campaign, type Report, sizes } from './run.ts';
import { complaints, tableOf, writeSection } from './table.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    kind: { type: 'string', multiple: true },
    pairs: { type: 'string' },
    size: { type: 'string', default: 'full' },
    acknowledged: { type: 'string' },
    processes: { type: 'string', default: '2' },
    write: { type: 'boolean', default: false },
  },
});

/** Pairs where no kind is named. */
const pairsByDefault = 20;

async function main(): Promise<number> {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`Seed ${seed}. The same again: npm run campaign:faults -- --seed ${seed}`);
  quietTemporal();
  const count = values.processes === '1' ? 1 : 2;
  const platform = await CampaignPlatform.start({
    dataDir: mkdtempSync(join(tmpdir(), 'sdp-faults-')),
    counts: { API: count, worker: count, 'built-in worker': count },
    diskMegabytes: 2_048,
    log: console.log,
  });
  onEnd(() => void platform.stop().finally(() => process.exit(1)));
  try {
    const report = await campaignOn(platform, seed);
    console.log(`\n${tableOf(report.rows)}\n`);
    console.log({ ...report, rows: report.rows.length });
    for (const complaint of complaints(report)) console.error(complaint);
    if (values.write) writeSection(join(checkout, 'docs/reliability.md'), report, count);
    return complaints(report).length === 0 ? 0 : 1;
  } finally {
    await platform.stop();
  }
}

async function campaignOn(platform: CampaignPlatform, seed: number): Promise<Report> {
  const size = sizes[values.size === 'small' ? 'small' : 'full'];
  const acknowledged = Number(values.acknowledged ?? size.acknowledged);
  const campaign = await Campaign.over(platform, {
    size: { ...size, acknowledged },
    seed,
    log: (line) => console.log(`${new Date().toISOString()} ${line}`),
  });
  return await campaign.run(rounds(seed));
}

function rounds(seed: number): FaultKind[][] {
  const numbered = (text: string) => text.split('+').map(kindOf);
  const chosen = values.kind?.map(numbered) ?? kinds.map((kind) => [kind]);
  const random = new Random(seed).fork('pairs');
  const count = Number(values.pairs ?? (values.kind === undefined ? pairsByDefault : 0));
  const pairs = Array.from({ length: count }, () => {
    const first = random.oneOf(kinds);
    return [first, random.oneOf(kinds.filter((kind) => kind !== first))];
  });
  return [...chosen, ...pairs];
}

function kindOf(number: string): FaultKind {
  const kind = kinds.find((known) => known.number === Number(number));
  if (kind === undefined) throw new Error(`--kind ${number}: name a number from 1 to ${kinds.length}.`);
  return kind;
}

process.exit(await main());
