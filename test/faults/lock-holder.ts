/** Holds an advisory lock, by its transaction or by its connection, until it is killed. Prints its local port. */
import { Database } from '../../store/connection/database.ts';

const [kind, key] = process.argv.slice(2);
const database = await Database.open({ databaseUrl: process.env.DATABASE_URL ?? '', poolSize: 1 });
const client = await database.pool.connect();
if (kind === 'transaction') await client.query('begin');
await client.query(`select pg_advisory${kind === 'transaction' ? '_xact' : ''}_lock($1)`, [Number(key)]);
const { rows } = await client.query('select inet_client_port() as port');
console.log(rows[0].port);
setInterval(() => undefined, 1_000);
