/** What the doctor finds of a part, and how it asks one. */

const patienceMs = 5_000;

export interface Finding {
  readonly part: string;
  readonly state: 'ok' | 'warning' | 'wrong' | 'skipped';
  readonly finding: string;
  /** What to do about it. */
  readonly advice: string;
}

export const ok = (part: string, finding: string): Finding => ({ part, state: 'ok', finding, advice: '' });
export const fault = (part: string, finding: string, advice: string): Finding => {
  return { part, state: 'wrong', finding, advice };
};
export const warning = (part: string, finding: string, advice: string): Finding => {
  return { part, state: 'warning', finding, advice };
};
export const skipped = (part: string, finding: string): Finding => {
  return { part, state: 'skipped', finding, advice: '' };
};

export interface Probed {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly startedAtMs: number;
  readonly tookMs: number;
}

/** Undefined when nothing answers in time. */
export async function probe(
  address: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Probed | undefined> {
  return await ask(address, headers).catch(() => undefined);
}

/** @throws what `fetch` throws */
export async function ask(address: string, headers: Readonly<Record<string, string>> = {}): Promise<Probed> {
  const startedAtMs = Date.now();
  const response = await fetch(address, { headers, signal: AbortSignal.timeout(patienceMs) });
  const text = await response.text();
  const { status } = response;
  return { status, headers: response.headers, text, startedAtMs, tookMs: Date.now() - startedAtMs };
}
