/** Slows down guessing (decisions 3): counts failures for a username from an address, and for an address. */
import { Problem } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { keyedDigest } from '../http/token-secret.ts';
import type { Runner, Statement } from './database.ts';
import { withHashingPlace } from './passwords.ts';
import { usernameKey } from './user-keys.ts';

export type FailureKeys = { readonly pair: Buffer; readonly address: Buffer };
type Count = { readonly key: Buffer; readonly failures: number; readonly seconds: number };

const readStatement: Statement = {
  name: 'failure_read',
  text: `select key, failures, ceil(extract(epoch from window_ends_at - clock_timestamp()))::int as seconds
    from auth.sign_in_failures where key = any($1) and window_ends_at > clock_timestamp()`,
};
const addStatement: Statement = {
  name: 'failure_add',
  text: `insert into auth.sign_in_failures as f (key, failures, window_ends_at)
    select key, 1, clock_timestamp() + $2::interval from unnest($1::bytea[]) as key order by key
    on conflict (key) do update set
      failures = case when f.window_ends_at > clock_timestamp() then f.failures + 1 else 1 end,
      window_ends_at = case when f.window_ends_at > clock_timestamp() then f.window_ends_at
        else excluded.window_ends_at end
    returning key, failures, ceil(extract(epoch from window_ends_at - clock_timestamp()))::int as seconds`,
};
const clearStatement: Statement = {
  name: 'failure_clear',
  text: 'delete from auth.sign_in_failures where key = $1',
};

/** The address that guesses, and the username. Only keyed digests of both are stored. */
export function failureKeysOf(key: string, username: string, address: string): FailureKeys {
  return {
    pair: keyedDigest(key, `pair\0${usernameKey(username)}\0${address}`),
    address: keyedDigest(key, `address\0${address}`),
  };
}

/**
 * Checks a password in one of the places for hashes. A wrong one is counted; a right one forgets the failures of this
 * username from this address.
 * @param isRight its check; not called where the limits are passed already
 * @throws Problem `tooManyRequests` with `Retry-After` when the limits are passed, also by this password
 */
export async function checkGuess(
  runner: Runner,
  guesser: FailureKeys,
  isRight: () => Promise<boolean>,
): Promise<boolean> {
  await refuseAfterFailures(runner, guesser);
  // Not the share of a name alone, which strangers would use up for its owner.
  const passed = await withHashingPlace(guesser.pair.toString('base64'), async () => {
    // Again, after the wait in the queue: a burst must not pass the limit while it waits.
    await refuseAfterFailures(runner, guesser);
    const matches = await isRight();
    if (!matches) await countFailure(runner, guesser);
    return matches;
  });
  if (passed) await runner.query(clearStatement, [guesser.pair]);
  return passed;
}

async function refuseAfterFailures(runner: Runner, guesser: FailureKeys): Promise<void> {
  refuseAbove(guesser, await runner.query<Count>(readStatement, [[guesser.pair, guesser.address]]));
}

async function countFailure(runner: Runner, guesser: FailureKeys): Promise<void> {
  const window = `${limits.signInFailureWindowSeconds} seconds`;
  refuseAbove(guesser, await runner.query<Count>(addStatement, [[guesser.pair, guesser.address], window]));
}

function refuseAbove(guesser: FailureKeys, counts: readonly Count[]): void {
  const above = counts.filter(
    (count) =>
      count.failures >
      (count.key.equals(guesser.pair)
        ? limits.signInFailuresPerUsernameAndAddress
        : limits.signInFailuresPerAddress),
  );
  if (above.length === 0) return;
  const seconds = Math.max(1, ...above.map((count) => count.seconds));
  throw new Problem('tooManyRequests', { headers: { 'retry-after': String(seconds) } });
}
