/** Faults inside the servers: sessions that hold locks, connections that are used up, stores that refuse writes. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { eventually } from '../../support/eventually.ts';
import { type Fault, type FaultContext, type FaultKind, feltByCalls, inTurn } from './fault.ts';

async function session(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Opens connections until the server refuses further ones. */
async function connectionsUsedUp(context: FaultContext): Promise<Fault> {
  const { platform } = context;
  const isFelt = feltByCalls(context);
  const taken: pg.Client[] = [];
  const { application } = platform.stack.roles!;
  let isTaking = true;
  const take = async () => {
    while (isTaking) {
      const client = await session(application).catch(() => undefined);
      // Connections that the platform closes are opened here too.
      if (client === undefined) await delay(100);
      else taken.push(client);
    }
  };
  const taking = Promise.all(Array.from({ length: 8 }, take));
  const heal = async () => {
    isTaking = false;
    await taking;
    await Promise.all(taken.map((client) => client.end().catch(() => undefined)));
  };
  return { heal, isFelt };
}

const tables = ['node_output', 'node_run', 'session', 'node_claim', 'pending_object'];

async function tableLocked(context: FaultContext): Promise<Fault> {
  const { platform, random } = context;
  const isFelt = feltByCalls(context);
  const client = await session(platform.superuserUrl);
  await client.query('begin');
  await client.query(`lock table ${random.oneOf(tables)} in access exclusive mode`);
  return { heal: () => client.end(), isFelt };
}

const refused = ['node_output', 'node_run', 'session'];

/** Some writes fail, as in a database under contention. */
async function forcedErrors({ platform, random }: FaultContext): Promise<Fault> {
  const code = random.oneOf(['40001', '40P01']);
  // A number of a sequence stays used when the transaction rolls back.
  await asSuperuser(platform, [
    'create sequence if not exists campaign_refusals',
    'grant usage on sequence campaign_refusals to public',
    `create or replace function campaign_refuses() returns trigger language plpgsql as $$
     begin
       if random() < 0.3 then
         perform nextval('campaign_refusals');
         raise exception 'refused by the campaign' using errcode = '${code}';
       end if;
       return new;
     end $$`,
    ...refused.map(
      (table) =>
        `create or replace trigger campaign_refuses before insert or update on ${table} for each row execute function campaign_refuses()`,
    ),
  ]);
  const heal = async () => {
    await asSuperuser(platform, [
      ...refused.map((table) => `drop trigger if exists campaign_refuses on ${table}`),
      'drop sequence if exists campaign_refusals',
    ]);
  };
  const isFelt = async () => {
    const [row] = await asSuperuser(platform, ['select is_called from campaign_refusals']);
    return row?.is_called === true;
  };
  return { heal, isFelt };
}

/** Waits until the server is back, which another fault may have stopped. */
async function asSuperuser(
  { superuserUrl }: FaultContext['platform'],
  statements: readonly string[],
): Promise<Array<Record<string, unknown>>> {
  return await eventually('statements of the superuser', async () => {
    const client = await session(superuserUrl);
    try {
      let rows: Array<Record<string, unknown>> = [];
      for (const statement of statements) ({ rows } = await client.query(statement));
      return rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  });
}

const databaseFaults = [connectionsUsedUp, tableLocked, forcedErrors];

export const databaseBusy: FaultKind = {
  number: 16,
  name: 'connections used up, a table locked, serialisation failures and deadlocks',
  inject: (context) => inTurn(databaseFaults, context)(context),
};

/** Another connection holds the write lock of Temporal's store: Temporal's writes fail, and are late. */
export const temporalStore: FaultKind = {
  number: 17,
  name: 'errors of Temporal’s store',
  async inject({ platform, random }) {
    const store = new DatabaseSync(join(platform.stack.dataDir, 'temporal.db'));
    store.exec('pragma busy_timeout = 0');
    const over = new AbortController();
    const holding = (async () => {
      while (!over.signal.aborted) {
        if (takesLock(store)) {
          await delay(random.between(200, 3_000), undefined, { signal: over.signal }).catch(() => undefined);
          store.exec('rollback');
        }
        await delay(random.between(5, 100));
      }
    })();
    const heal = async () => {
      over.abort();
      await holding;
      store.close();
    };
    return { heal, isFelt: logged(platform.stack.dataDir, 'temporal', /SQLITE_BUSY|database is locked/) };
  },
};

/** Felt when the server has logged such a line since. */
function logged(dataDir: string, server: string, line: RegExp): () => boolean {
  const file = join(dataDir, 'logs', `${server}.log`);
  const from = statSync(file).size;
  return () => line.test(readFileSync(file).subarray(from).toString());
}

function takesLock(store: DatabaseSync): boolean {
  try {
    store.exec('begin immediate');
    return true;
  } catch {
    return false;
  }
}
