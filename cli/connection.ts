/** The platform that a command calls, and the token that it uses. */
import { ApiError } from '../client/errors.ts';
import type { SignedIn as SignInReply } from '../client/types.ts';
import { readCredentials, renewTokens, type SignedIn } from './credentials.ts';
import { UsageError } from './errors.ts';
import { findPlatform, type Running } from './find-platform.ts';
import { type CommandBearer, PlatformClient } from './platform-client.ts';

/** A token that expires within this time is renewed before it is used. */
const renewAheadMs = 60_000;

const signInRemedy = 'The sign-in has ended. Sign in again with `sdp login`.';
const variableRemedy = 'The token of SDP_TOKEN has expired, was revoked, or is not complete.';

export interface Place extends Running {
  /** The source of the address, for people. */
  readonly from: string;
}

/** `--url` or `SDP_URL`, else the platform of the last sign-in, else the one that `npm start` runs here. */
export async function placeOf(url: string | undefined): Promise<Place> {
  if (url) return { address: addressOf(url), from: '--url or SDP_URL' };
  const { current } = await readCredentials();
  if (current !== null) return { address: current, from: 'the last sign-in' };
  return { ...(await findPlatform(undefined)), from: 'npm start in this checkout' };
}

/** The address in the form under which tokens are stored. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) throw new UsageError(`'${url}' is not an address. Example: http://127.0.0.1:8080.`);
  const { protocol, origin, pathname, username, search } = new URL(url);
  if (!/^https?:$/.test(protocol)) throw new UsageError(`The address must start with http:// or https://.`);
  if (username !== '' || search !== '') throw new UsageError('The address may have only a host and a path.');
  return origin + pathname.replace(/\/+$/, '');
}

/** @throws Error with a sentence for the person when there is no platform or no token */
export async function connect(url: string | undefined): Promise<PlatformClient> {
  const { address } = await placeOf(url);
  const bearer = await bearerFor(address);
  if (bearer === undefined) {
    throw new Error('Not signed in. Sign in with `sdp login`, or set SDP_TOKEN.');
  }
  return new PlatformClient(address, bearer);
}

/** `SDP_TOKEN`, else the token that `sdp login` stored for this address; undefined without either. */
export async function bearerFor(
  address: string,
  options: { readonly ignoreEnvironment?: boolean } = {},
): Promise<CommandBearer | undefined> {
  // A line of a file may have ended in a carriage return.
  const given = process.env.SDP_TOKEN?.trim();
  if (given && options.ignoreEnvironment !== true) {
    if (!/^[\x21-\x7e]+$/.test(given)) throw new Error('SDP_TOKEN has characters that no token has.');
    return { token: () => given, remedy: variableRemedy };
  }
  let signedIn = (await readCredentials()).platforms[address];
  if (signedIn === undefined) return undefined;
  const renew = async () => {
    if (signedIn === undefined) return false;
    const renewed = await renewTokens(address, signedIn, (token) => fetchTokens(address, token));
    if (renewed === undefined) return false;
    signedIn = renewed;
    return true;
  };
  const seemsOver = Date.parse(signedIn.expiresAt) - Date.now() < renewAheadMs;
  const bearer = { token: () => signedIn?.accessToken, renew, remedy: signInRemedy };
  if (!seemsOver || (await renew())) return bearer;
  // The clock here may be wrong: the platform decides.
  const over = `The sign-in of ${signedIn.username} has expired. Sign in again with \`sdp login\`.`;
  return {
    ...bearer,
    renew: async () => {
      throw new Error(over);
    },
  };
}

export function signedInOf({ user, ...tokens }: SignInReply): SignedIn {
  const { accessToken, expiresAt, refreshToken, refreshExpiresAt } = tokens;
  return { username: user.username, accessToken, expiresAt, refreshToken, refreshExpiresAt };
}

async function fetchTokens(address: string, refreshToken: string): Promise<SignedIn | undefined> {
  try {
    const platform = new PlatformClient(address);
    return signedInOf(await platform.call('POST /api/authorization/refresh', { body: { refreshToken } }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return undefined;
    throw error;
  }
}
