/**
 * Who is signed in.
 *
 * The access token stands in sessionStorage (this tab, until it is closed), the refresh token of "keep me signed
 * in" in localStorage. A refresh token is replaced at each use and using a replaced one ends its whole family, so
 * only one tab at a time may use it: renewals run under a lock that all tabs of the console share.
 */

export interface SignedInUser {
  userId: string;
  username: string;
  firstName: string;
  lastName: string;
  email: string;
  role: string;
  forceChangePasswordNextSignin?: boolean;
}

export interface SignIn {
  accessToken: string;
  expiresAt: string;
  user: SignedInUser;
}

interface TokenReply extends SignIn {
  refreshToken: string | null;
  refreshExpiresAt: string | null;
}

export interface AuthState {
  /** `restoring` while a kept refresh token is being tried. */
  phase: 'restoring' | 'signed-out' | 'signed-in';
  signIn: SignIn | null;
  /** Why the sign-in form is shown, when there is something to say. */
  notice: string | null;
}

const signInKey = 'sdp.sign-in';
const refreshKey = 'sdp.refresh-token';
const renewBeforeExpiryMs = 60_000;

let state: AuthState = initialState();
const listeners = new Set<(state: AuthState) => void>();
let renewal: Promise<string | null> | null = null;

export function authState(): AuthState {
  return state;
}

/** Calls `listener` at each change until the returned function is called. */
export function onAuthChange(listener: (state: AuthState) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Tries a kept refresh token at the start of the console; does nothing when this tab is signed in. */
export async function restoreSignIn(): Promise<void> {
  if (state.phase !== 'restoring') return;
  if ((await renewAccess()) === null) setState({ phase: 'signed-out', signIn: null, notice: state.notice });
}

/** The outcome of a try to sign in: null when it worked, else what to tell the person. */
export async function signInWith(
  username: string,
  password: string,
  rememberMe: boolean,
): Promise<string | null> {
  let response: Response;
  try {
    response = await post('/api/authorization/token', { username, password, rememberMe });
  } catch {
    return 'The platform does not answer. Check the connection, then try again.';
  }
  if (response.status === 401) return 'The username or the password is wrong.';
  if (response.status === 429) return tooManyTries(response.headers.get('Retry-After'));
  if (!response.ok) return `Signing in is not possible at the moment (status ${response.status}).`;
  keep((await response.json()) as TokenReply);
  return null;
}

/** The access token to send, renewed first when it is about to end; null when nobody is signed in. */
export async function accessToken(): Promise<string | null> {
  const signIn = state.signIn;
  if (signIn === null) return null;
  const endsSoon = Date.parse(signIn.expiresAt) - Date.now() < renewBeforeExpiryMs;
  if (!endsSoon || readStored(localStorage, refreshKey) === null) return signIn.accessToken;
  return (await renewAccess()) ?? signIn.accessToken;
}

/** Renews the access token by the kept refresh token. Null when there is none or it is no longer good. */
export function renewAccess(): Promise<string | null> {
  renewal ??= withRenewalLock(renewOnce).finally(() => {
    renewal = null;
  });
  return renewal;
}

/** Forgets the sign-in of this tab and shows the form with `notice`. */
export function endSignIn(notice: string | null): void {
  removeStored(sessionStorage, signInKey);
  setState({ phase: 'signed-out', signIn: null, notice });
}

/** Ends the token on the platform as well, which takes the kept refresh token with it. */
export async function signOut(): Promise<void> {
  const token = state.signIn?.accessToken;
  removeStored(localStorage, refreshKey);
  endSignIn('You are signed out.');
  if (token === undefined) return;
  try {
    await post('/api/authorization/logout', {}, token);
  } catch {
    // The token is forgotten here in any case and ends by itself after its eight hours.
  }
}

async function renewOnce(): Promise<string | null> {
  // Read inside the lock: another tab may have replaced the token while this one waited.
  const refreshToken = readStored(localStorage, refreshKey);
  if (refreshToken === null) return null;
  let response: Response;
  try {
    response = await post('/api/authorization/refresh', { refreshToken });
  } catch {
    return null;
  }
  if (response.ok) return keep((await response.json()) as TokenReply).accessToken;
  if (response.status === 401 || response.status === 400) removeStored(localStorage, refreshKey);
  return null;
}

function keep(reply: TokenReply): SignIn {
  const signIn: SignIn = { accessToken: reply.accessToken, expiresAt: reply.expiresAt, user: reply.user };
  writeStored(sessionStorage, signInKey, JSON.stringify(signIn));
  if (reply.refreshToken === null) removeStored(localStorage, refreshKey);
  else writeStored(localStorage, refreshKey, reply.refreshToken);
  setState({ phase: 'signed-in', signIn, notice: null });
  return signIn;
}

function initialState(): AuthState {
  const stored = readStored(sessionStorage, signInKey);
  if (stored !== null) {
    try {
      return { phase: 'signed-in', signIn: JSON.parse(stored) as SignIn, notice: null };
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

function post(path: string, body: unknown, token?: string): Promise<Response> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (token !== undefined) headers.Authorization = `Bearer ${token}`;
  return fetch(path, { method: 'POST', headers, body: JSON.stringify(body), credentials: 'omit' });
}

function tooManyTries(retryAfter: string | null): string {
  const minutes = Math.max(1, Math.ceil(Number(retryAfter ?? 60) / 60));
  return `Too many failed tries. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
}

/** Web locks exist only on https and on the machine itself; elsewhere one tab at a time is the usual case. */
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
