import { spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { PlainError } from './plain-error.ts';
import { checkout } from './settings.ts';

/** The first account; `password` only when one was generated, and it is not shown again. */
export interface FirstAdministrator {
  username: string;
  password?: string;
}

const SCRIPTS = ['store/migrate.ts', 'auth/migrate.ts'];
const TAIL_LINES = 20;

/**
 * Brings the platform's and the authentication service's tables up to date; with a separate authentication service
 * (`AUTH_URL`) only the platform's. Returns the first administrator when this created one. Throws PlainError with the
 * end of a script's output when it fails.
 */
export async function migrate(
  environment: Record<string, string>,
  logFile: string,
  adminPassword: string | undefined,
): Promise<FirstAdministrator | undefined> {
  let administrator: FirstAdministrator | undefined;
  const isAuthElsewhere = (environment.AUTH_URL ?? '') !== '';
  for (const script of SCRIPTS) {
    if (isAuthElsewhere && script.startsWith('auth/')) continue;
    const isPassword = script.startsWith('auth/') && adminPassword !== undefined;
    const env = isPassword ? { ...environment, ADMIN_PASSWORD: adminPassword } : environment;
    administrator = (await runScript(script, env, logFile)) ?? administrator;
  }
  return administrator;
}

async function runScript(
  script: string,
  env: Record<string, string>,
  logFile: string,
): Promise<FirstAdministrator | undefined> {
  const path = join(checkout, script);
  if (!existsSync(path)) throw new PlainError(`${script} is missing from this checkout.`);
  const log = createWriteStream(logFile, { flags: 'a', mode: 0o600 });
  // Waiting for its end below reports a failure, also an earlier one.
  log.on('error', () => undefined);
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let administrator: FirstAdministrator | undefined;
  const tail: string[] = [];
  const keep = (line: string) => {
    const found = administratorIn(line);
    // A line with the password goes to the person and nowhere else.
    if (found !== undefined) administrator = found;
    else {
      log.write(`${line}\n`);
      tail.push(line);
      if (tail.length > TAIL_LINES) tail.shift();
    }
  };
  createInterface({ input: child.stdout }).on('line', keep);
  createInterface({ input: child.stderr }).on('line', keep);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  log.end();
  await finished(log);
  if (code !== 0) throw new PlainError(`${script} ended with code ${code}:\n${tail.join('\n')}`);
  return administrator;
}

function administratorIn(line: string): FirstAdministrator | undefined {
  if (!line.startsWith('{"firstAdministrator"')) return undefined;
  const { firstAdministrator } = JSON.parse(line) as { firstAdministrator: FirstAdministrator };
  return firstAdministrator;
}
