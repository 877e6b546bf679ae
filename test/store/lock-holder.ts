/** Works under a lock, without an end. Prints a line when it does. */
import { Database } from '../../store/connection/database.ts';
import { withLock } from '../../store/connection/healer-lock.ts';

const [key, silentMs] = process.argv.slice(2).map(Number);
const database = await Database.open({ databaseUrl: process.env.DATABASE_URL ?? '', poolSize: 2 });
const work = async () => {
  console.log('working');
  await new Promise(() => setInterval(() => undefined, 1_000));
};
await withLock(database, key!, work, silentMs);
