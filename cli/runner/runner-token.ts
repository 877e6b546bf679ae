/** The author's runner tokens: made once for each platform and runner, and kept in a file that only the author may read. */
import { ApiError } from '../../client/errors.ts';
import { readSecrets, secretFile, writeSecrets } from '../credentials.ts';
import { PlatformClient } from '../platform-client.ts';

/** A token that ends sooner is replaced: it must last for a day's work. */
const minHours = 12;
/** It ends by itself when its author writes no runner any more. */
const lifetimeHours = 7 * 24;

interface StoredToken {
  readonly token: string;
  readonly expiresAt: string;
}

/**
 * `SDP_RUNNER_TOKEN`, else the kept token while the platform accepts it, else a new one.
 * @throws Error with a sentence for the author when `SDP_RUNNER_TOKEN` is refused
 */
export async function runnerToken(
  platform: PlatformClient,
  username: string,
  runnerTypes: readonly string[],
): Promise<string> {
  const { SDP_RUNNER_TOKEN: given } = process.env;
  if (given) {
    if (await reaches(platform.address, given, runnerTypes)) return given;
    throw new Error(
      `${platform.address} refuses SDP_RUNNER_TOKEN for ${runnerTypes.join(', ')}. Without the variable a token is made.`,
    );
  }
  const file = secretFile('runner-tokens.json');
  const key = [platform.address, username, ...runnerTypes].join(' ');
  const all = await readSecrets<Readonly<Record<string, StoredToken>>>(file);
  const kept = all[key];
  const isLong = kept !== undefined && Date.parse(kept.expiresAt) - Date.now() > minHours * 3_600_000;
  if (isLong && (await reaches(platform.address, kept.token, runnerTypes))) return kept.token;
  const body = { runnerTypes, label: 'sdp runner dev', ttlHours: lifetimeHours };
  const { token, expiresAt } = await platform.call('POST /api/v2/admin/runner-tokens', { body });
  await writeSecrets(file, { ...all, [key]: { token, expiresAt } });
  return token;
}

/** Whether the platform accepts the token for these runner types. */
async function reaches(address: string, token: string, runnerTypes: readonly string[]): Promise<boolean> {
  try {
    const who = await new PlatformClient(address, { token: () => token }).call('GET /api/v2/runner/whoami');
    return who.kind === 'account' || runnerTypes.every((name) => who.runnerTypes.includes(name));
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return false;
    throw error;
  }
}
