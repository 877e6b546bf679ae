/** The host's calls to the API, its only access to the platform. */
import {
  type HostPlan,
  type HostReport,
  type ProcessEnds,
  type ProcessStart,
  type ProcessStartReply,
  runnerHostPaths,
} from '../../domain/runners/runner-host.ts';

/** Two calls, and the wait between, are shorter than the lease of a process. */
const callMs = 5_000;

export class ApiCalls {
  readonly #url: string;
  readonly #key: string;

  /** @param url of the API, without a path */
  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** Each call rejects when the API is unavailable, refuses the key or fails. */
  async reconcile(report: HostReport): Promise<HostPlan> {
    return (await this.#post(runnerHostPaths.reconcile, report)) as HostPlan;
  }

  async start(start: ProcessStart): Promise<ProcessStartReply> {
    return (await this.#post(runnerHostPaths.start, start)) as ProcessStartReply;
  }

  async end(ends: ProcessEnds): Promise<void> {
    await this.#post(runnerHostPaths.end, ends);
  }

  /** @returns the JSON of the reply; undefined for 204 */
  async #post(path: string, json: object): Promise<unknown> {
    const response = await fetch(new URL(path, this.#url), {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      body: JSON.stringify(json),
      redirect: 'error',
      signal: AbortSignal.timeout(callMs),
    }).catch((cause: unknown) => {
      throw new Error(`the API cannot be reached at ${this.#url}`, { cause });
    });
    if (response.ok) return response.status === 204 ? undefined : await response.json();
    await response.body?.cancel();
    throw new Error(
      response.status === 401
        ? 'the API refuses this host: both need the same RUNNER_HOST_KEY'
        : `the API answered ${response.status} to ${path}`,
    );
  }
}
