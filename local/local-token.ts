/**
 * `local/local-token.ts DIR`: prints a token for the platform that `npm start` runs on this data folder, as one line of
 * JSON. It uses the keys of that folder, which only its owner may read. Ends with code 1 when they cannot be read.
 */
import { join, resolve } from 'node:path';
import { makeLocalToken } from '../auth/local-token.ts';
import { readKeys } from './data-folder.ts';
import { roleAddresses } from './database-roles.ts';
import { rememberedPorts } from './ports.ts';
import { POSTGRES_DATABASE, POSTGRES_USER } from './postgres.ts';
import { isAlive, readIdentity } from './process-identity.ts';

async function main(dataDir: string): Promise<void> {
  const holder = readIdentity(join(dataDir, 'lock'));
  if (holder === undefined || !isAlive(holder))
    throw new Error('No platform is running with this data folder.');
  const { postgresPassword, tokenKey } = readKeys(dataDir);
  const { postgres } = rememberedPorts(dataDir);
  const superuserUrl = `postgresql://${POSTGRES_USER}:${postgresPassword}@127.0.0.1:${postgres}/${POSTGRES_DATABASE}`;
  const made = await makeLocalToken(roleAddresses(superuserUrl).application, tokenKey);
  if (made === null) throw new Error('There is no active Administrator.');
  process.stdout.write(`${JSON.stringify(made)}\n`);
}

main(resolve(process.argv[2] ?? '')).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
