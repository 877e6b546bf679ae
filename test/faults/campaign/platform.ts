/** The platform of a campaign: servers behind gates, and one or two of each process, as `npm start` runs them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { makeDataFolder, readOrMakeKeys } from '../../../local/data-folder.ts';
import { roleAddresses } from '../../../local/database-roles.ts';
import { migrate } from '../../../local/migrate.ts';
import { freePort } from '../../../local/ports.ts';
import { removeData, type Stack, startStack } from '../../../local/stack.ts';
import { Database } from '../../../store/connection/database.ts';
import { compileCache, workflowCache } from '../../support/caches.ts';
import { type Gate, openGate } from '../../support/network/gate.ts';
import { roles, Slot, type SlotRole } from './slot.ts';

export const administrator = { username: 'admin', password: 'administrator-of-the-campaign' };

/** Folders on separate disks, so that they can be full. */
const disks = ['postgres', 'objects', 'temp'] as const;
export type Disk = (typeof disks)[number];

export interface PlatformPlan {
  /** Empty or absent; removed at the end. */
  readonly dataDir: string;
  /** How many there are of each process. */
  readonly counts: Readonly<Record<SlotRole, number>>;
  /** The size of each disk. The disks are in memory. */
  readonly diskMegabytes: number;
  readonly log: (line: string) => void;
}

export class CampaignPlatform {
  readonly dataDir: string;
  readonly stack: Stack;
  readonly gates: { readonly database: Gate; readonly objectStore: Gate; readonly temporal: Gate };
  readonly slots: readonly Slot[];
  /** Past the gate, as the application's role: for checks. */
  readonly database: Database;
  /** As the server's superuser: for faults. */
  readonly superuserUrl: string;
  readonly operator: Client;
  readonly failpointDir: string;
  /** Undefined where this user cannot mount file systems. */
  readonly disks: ReadonlyMap<Disk, string> | undefined;

  private constructor(parts: Parts) {
    this.dataDir = parts.dataDir;
    this.stack = parts.stack;
    this.gates = parts.gates;
    this.slots = parts.slots;
    this.database = parts.database;
    this.superuserUrl = parts.superuserUrl;
    this.operator = parts.operator;
    this.failpointDir = parts.failpointDir;
    this.disks = parts.disks;
  }

  static async start(plan: PlatformPlan): Promise<CampaignPlatform> {
    const { dataDir } = plan;
    makeDataFolder(dataDir);
    // Made before the data, which need them.
    readOrMakeKeys(dataDir);
    const mounted = mountDisks(plan);
    const stack = await startStack({ dataDir, log: () => undefined, temporary: true });
    const superuserUrl = stack.environment.DATABASE_URL!;
    const gates = {
      database: await openGate(superuserUrl),
      objectStore: await openGate(stack.environment.S3_ENDPOINT!),
      temporal: await openGate(`http://${stack.environment.TEMPORAL_ADDRESS}`),
    };
    const failpointDir = join(dataDir, 'failpoints');
    mkdirSync(failpointDir);
    const environment = { ...environmentOf(stack, gates), FAILPOINT_DIR: failpointDir };
    const owner = { ...environment, DATABASE_URL: roleAddresses(superuserUrl).owner };
    await migrate(owner, join(dataDir, 'logs', 'migrate.log'), administrator.password);
    const slots = await makeSlots({ ...plan, environment });
    const parts = { dataDir, stack, gates, slots, superuserUrl, failpointDir, disks: mounted };
    const database = await Database.open({
      databaseUrl: roleAddresses(superuserUrl).application,
      poolSize: 4,
    });
    const connection = await Connection.connect({ address: stack.environment.TEMPORAL_ADDRESS! });
    const platform = new CampaignPlatform({ ...parts, database, operator: new Client({ connection }) });
    try {
      await Promise.all(slots.map((slot) => slot.start()));
    } catch (error) {
      await platform.stop();
      throw error;
    }
    return platform;
  }

  of(role: SlotRole): readonly Slot[] {
    return this.slots.filter((slot) => slot.role === role);
  }

  /** The logs of the API processes and workers. */
  logs(role: SlotRole): string {
    return this.of(role)
      .map(({ logFile }) => readFileSync(logFile, 'utf8'))
      .join('');
  }

  async stop(): Promise<void> {
    await this.database.close();
    await this.operator.connection.close();
    await Promise.all(this.slots.map((slot) => slot.close()));
    await Promise.all(Object.values(this.gates).map((gate) => gate.close()));
    await this.stack.stop();
    for (const folder of this.disks?.values() ?? []) execFileSync('umount', ['-l', folder]);
    await removeData(this.dataDir);
  }
}

interface Parts {
  readonly dataDir: string;
  readonly stack: Stack;
  readonly gates: CampaignPlatform['gates'];
  readonly slots: readonly Slot[];
  readonly database: Database;
  readonly superuserUrl: string;
  readonly operator: Client;
  readonly failpointDir: string;
  readonly disks: CampaignPlatform['disks'];
}

function environmentOf(stack: Stack, gates: CampaignPlatform['gates']): Record<string, string> {
  const through = (address: string) => {
    const url = new URL(address);
    url.port = String(gates.database.port);
    return url.href;
  };
  return {
    PATH: process.env.PATH ?? '',
    ...stack.environment,
    DATABASE_URL: through(stack.roles!.application),
    REPORT_DATABASE_URL: through(stack.roles!.report),
    S3_ENDPOINT: gates.objectStore.url,
    TEMPORAL_ADDRESS: `127.0.0.1:${gates.temporal.port}`,
    WORKFLOW_CACHE_DIR: workflowCache,
    // The processes are started often.
    NODE_COMPILE_CACHE: compileCache,
    SERIES_CACHE_DIR: join(stack.dataDir, 'series-cache'),
    REGISTER_DEFAULT_DATA_SOURCE: 'true',
    TEMP_DIR: join(stack.dataDir, 'temp'),
    // The disks are small ones.
    BUILTIN_TEMP_RESERVE_MB: '16',
    RESPONSE_CHECKS: 'strict',
    HOST: '127.0.0.1',
    // Histories of runs with few calls are judged fast.
    INCREMENTAL_MAX_INPUTS: '10',
    SHUTDOWN_DELAY_SECONDS: '1',
  };
}

async function makeSlots(options: PlatformPlan & { environment: Record<string, string> }): Promise<Slot[]> {
  const { environment, log, counts } = options;
  const slots: Slot[] = [];
  for (let at = 1; at <= Math.max(...Object.values(counts)); at++) {
    const dataDir = join(options.dataDir, `processes-${at}`);
    const port = await freePort();
    const own = { ...environment, PORT: String(port), DATA_DIR: dataDir };
    for (const role of roles.filter((one) => at <= counts[one]))
      slots.push(
        new Slot(role, `${role} ${at}`, {
          environment: own,
          dataDir,
          address: `http://127.0.0.1:${port}`,
          log,
        }),
      );
  }
  return slots;
}

function mountDisks({ dataDir, diskMegabytes }: PlatformPlan): Map<Disk, string> | undefined {
  const mounted = new Map<Disk, string>();
  // The processes use them also where nothing can be mounted.
  for (const name of disks) mkdirSync(join(dataDir, name), { recursive: true });
  try {
    for (const name of disks) {
      const folder = join(dataDir, name);
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMegabytes}m,mode=711`, 'tmpfs', folder], {
        stdio: 'ignore',
      });
      mounted.set(name, folder);
    }
    return mounted;
  } catch {
    for (const folder of mounted.values()) execFileSync('umount', [folder]);
    return undefined;
  }
}
