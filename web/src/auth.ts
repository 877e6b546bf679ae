/**
 * The sign-in of this tab.
 *
 * The access token is in sessionStorage (this tab, until it is closed), the refresh token of "keep me signed in" in
 * localStorage. A refresh token is replaced at each use and using a replaced one ends its whole family, so only one tab
 * at a time may use it: renewals run under a lock that all tabs of the console share.
 */

import { ApiClient } from '../../client/api-client.ts';
import { ApiError } from '../../client/errors.ts';
import type { SignedIn, User } from '../../client/types.ts';

interface SignIn {
  accessToken: string;
  expiresAt: string;
  user: User;
}

export interface AuthState {
  /** `restoring` while a stored refresh token is being tried; `expired` until somebody signs in again. */
  phase: 'restoring' | 'signed-out' | 'signed-in' | 'expired';
  /** While `phase` is `expired`, the person whose page stays. */
  signIn: SignIn | null;
  /** The reason for showing the sign-in form, if any. */
  notice: string | null;
}

const signInKey = 'sdp.sign-in';
const refreshKey = 'sdp.refresh-token';
/** Tells the other tabs who signed out. */
const signedOutKey = 'sdp.signed-out';
const renewBeforeExpiryMs = 60_000;

/** The person of each token of this tab: the answer to a call may come after the next sign-in. */
const owners = new Map<string, string>();
let state: AuthState = initialState();
const listeners = new Set<(state: AuthState) => void>();
/** A client without a token, for signing in. */
const service = new ApiClient({
  address: '',
  bearer: { token: () => null },
  init: { credentials: 'omit' },
});
let renewal: Promise<string | null> | null = null;
/** Who is signed in, while that is read anew. */
let reading: Promise<boolean> | null = null;
/** The calls of a page whose sign-in has expired: they go on when the same person signs in again. */
let waiting: (() => void)[] = [];

export function authState(): AuthState {
  return state;
}

/** Calls `listener` at each change until the returned function is called. */
export function onAuthChange(listener: (state: AuthState) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** At the start of the console: tries a stored refresh token, or reads who is signed in anew. */
export async function restoreSignIn(): Promise<void> {
  await readPerson();
  if (state.phase !== 'restoring') return;
  if ((await renewAccess()) === null) setState({ phase: 'signed-out', signIn: null, notice: state.notice });
}

/** Reads who is signed in: the role may be another one by now. False when the platform takes the token no longer. */
export function readPerson(): Promise<boolean> {
  reading ??= readPersonOf(state.signIn).finally(() => {
    reading = null;
  });
  return reading;
}

async function readPersonOf(signIn: SignIn | null): Promise<boolean> {
  if (signIn === null) return false;
  const headers = { authorization: `Bearer ${signIn.accessToken}` };
  const params = { userId: signIn.user.userId };
  try {
    const user = await service.call('GET /api/authorization/users/{userId}', { headers, params });
    const isPresent = state.phase === 'signed-in' && state.signIn === signIn;
    // Every part of the page that knows the person renders again.
    if (isPresent && JSON.stringify(user) !== JSON.stringify(signIn.user)) store({ ...signIn, user });
    return true;
  } catch (error) {
    return !(error instanceof ApiError && error.status === 401);
  }
}

/** Tries to sign in: null on success, else the message for the person. */
export async function signInWith(
  username: string,
  password: string,
  rememberMe: boolean,
): Promise<string | null> {
  try {
    keep(await service.call('POST /api/authorization/token', { body: { username, password, rememberMe } }));
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) {
      return 'The platform does not answer. Check the connection, then retry.';
    }
    if (error.status === 401) return 'Wrong username or password.';
    if (error.status === 429) return tooManyTries(error.retryAfterMs);
    return `Sign-in failed (status ${error.status}).`;
  }
}

/** The access token to send, renewed first when it is about to expire; null without a sign-in. */
export async function accessToken(): Promise<string | null> {
  if (state.phase === 'expired') await signedInAgain();
  const signIn = state.signIn;
  if (signIn === null) return null;
  const endsSoon = Date.parse(signIn.expiresAt) - Date.now() < renewBeforeExpiryMs;
  if (!endsSoon || readStored(localStorage, refreshKey) === null) return signIn.accessToken;
  return (await renewAccess()) ?? signIn.accessToken;
}

/** Renews the access token with the stored refresh token. Null when there is none or it is no longer valid. */
function renewAccess(): Promise<string | null> {
  renewal ??= withRenewalLock(renewOnce).finally(() => {
    renewal = null;
  });
  return renewal;
}

/**
 * After a 401, to this token where it is known: true when there is another one, also one for which the person had to sign
 * in again. False for a token that is still good: then the role is another one by now, and so is the page.
 */
export async function renewSignIn(refused?: string | null): Promise<boolean> {
  const { phase, signIn } = state;
  const owner = owners.get(refused ?? '');
  if (signIn !== null && owner !== undefined) {
    if (owner !== signIn.user.userId) return await neverGoesOn;
    if (phase === 'signed-in' && refused !== signIn.accessToken) return true;
  }
  if (phase === 'signed-in' && (await readPerson())) return false;
  if ((await renewAccess()) !== null) return true;
  if (state.signIn === null) return false;
  expireSignIn();
  await signedInAgain();
  return true;
}

/** The calls of a person in whose place another one has signed in. */
const neverGoesOn = new Promise<never>(() => undefined);
const signedInAgain = () => new Promise<void>((resolve) => waiting.push(resolve));

/** Shows the form over the page, which keeps what was typed. */
function expireSignIn(): void {
  if (state.phase !== 'signed-in') return;
  removeStored(sessionStorage, signInKey);
  const notice = 'Your sign-in has expired. Sign in again to return to this page.';
  setState({ ...state, phase: 'expired', notice });
}

/** Forgets the sign-in of this tab and shows the form with `notice`. */
export function endSignIn(notice: string | null): void {
  removeStored(sessionStorage, signInKey);
  setState({ phase: 'signed-out', signIn: null, notice });
}

/** Ends the token on the platform as well, and the stored refresh token with it. */
export async function signOut(): Promise<void> {
  const token = state.signIn?.accessToken;
  if (state.signIn !== null && readStored(localStorage, refreshKey) !== null) {
    writeStored(localStorage, signedOutKey, state.signIn.user.userId);
    removeStored(localStorage, signedOutKey);
  }
  removeStored(localStorage, refreshKey);
  endSignIn('You are signed out.');
  if (token === undefined) return;
  try {
    const headers = { authorization: `Bearer ${token}` };
    await service.call('POST /api/authorization/logout', { headers });
  } catch {
    // The token is removed here in any case and expires after eight hours.
  }
}

// A kept sign-in is that of all tabs, and its end that of all their tokens.
addEventListener('storage', ({ key, newValue }) => {
  if (key === signedOutKey && newValue === state.signIn?.user.userId)
    endSignIn('You signed out in another tab.');
});

async function renewOnce(): Promise<string | null> {
  // Read inside the lock: another tab may have replaced the token while this one waited.
  const refreshToken = readStored(localStorage, refreshKey);
  if (refreshToken === null) return null;
  try {
    return keep(await service.call('POST /api/authorization/refresh', { body: { refreshToken } }))
      .accessToken;
  } catch (error) {
    const isOver = error instanceof ApiError && (error.status === 401 || error.status === 400);
    if (isOver) removeStored(localStorage, refreshKey);
    return null;
  }
}

function keep(reply: SignedIn): SignIn {
  const signIn: SignIn = { accessToken: reply.accessToken, expiresAt: reply.expiresAt, user: reply.user };
  if (reply.refreshToken === null) removeStored(localStorage, refreshKey);
  else writeStored(localStorage, refreshKey, reply.refreshToken);
  owners.set(signIn.accessToken, signIn.user.userId);
  // The waiting calls of another person never go on.
  const again = state.signIn?.user.userId === signIn.user.userId ? waiting : [];
  waiting = [];
  store(signIn);
  for (const resume of again) resume();
  return signIn;
}

function store(signIn: SignIn): void {
  writeStored(sessionStorage, signInKey, JSON.stringify(signIn));
  setState({ phase: 'signed-in', signIn, notice: null });
}

function initialState(): AuthState {
  const stored = readStored(sessionStorage, signInKey);
  if (stored !== null) {
    try {
      const signIn: SignIn = JSON.parse(stored);
      owners.set(signIn.accessToken, signIn.user.userId);
      return { phase: 'signed-in', signIn, notice: null };
    } catch {
      removeStored(sessionStorage, signInKey);
    }
  }
  const canRestore = readStored(localStorage, refreshKey) !== null;
  return { phase: canRestore ? 'restoring' : 'signed-out', signIn: null, notice: null };
}

function setState(next: AuthState): void {
  state = next;
  for (const listener of listeners) listener(next);
}

function tooManyTries(retryAfterMs: number | null): string {
  const minutes = Math.max(1, Math.ceil((retryAfterMs ?? 60_000) / 60_000));
  return `Too many failed attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
}

/** Web locks exist only on https and on the machine itself; elsewhere usually only one tab is open. */
function withRenewalLock<T>(work: () => Promise<T>): Promise<T> {
  const locks = (navigator as { locks?: LockManager }).locks;
  if (locks === undefined) return work();
  return locks.request('sdp.renewal', work) as Promise<T>;
}

// Storage can be switched off by the person's settings; then a sign-in lasts as long as the page.
function readStored(storage: Storage, key: string): string | null {
  try {
    return storage.getItem(key);
  } catch {
    return null;
  }
}

function writeStored(storage: Storage, key: string, value: string): void {
  try {
    storage.setItem(key, value);
  } catch {
    // See above.
  }
}

function removeStored(storage: Storage, key: string): void {
  try {
    storage.removeItem(key);
  } catch {
    // See above.
  }
}
