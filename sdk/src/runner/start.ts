/** A running runner. */
import { Connection } from '../calls/connection.ts';
import type { WhoamiWire } from '../calls/wire.ts';
import { messageOf } from '../errors.ts';
import { Heartbeats } from '../heartbeats/heartbeats.ts';
import type { OutputLimits } from '../outputs/multi-part.ts';
import { readSettings, type Settings, type StartOptions } from './options.ts';
import type { Runner } from './runner.ts';
import { Slot } from './slot.ts';

const kitVersion = '0.1.0';
/** After the grace: time for aborted tasks to end and to be reported. */
const abortMs = 8_000;
const signOffMs = 2_000;

export interface RunningRunner {
  /** One for each task at the same time. */
  readonly instanceIds: readonly string[];
  /** Resolves when the runner has stopped; rejects with an ApiError when the platform refuses it for good. */
  readonly ended: Promise<void>;
  /**
   * Stops claiming, lets running tasks continue for the grace time, then aborts and releases the unfinished ones.
   * Resolves as `ended` does. Safe to call again.
   */
  stop(): Promise<void>;
}

/**
 * Starts a runner in this process: asks the platform who it is, starts the heartbeat thread and claims tasks. It waits
 * while the platform cannot be reached.
 * @param options `signal` stops the runner as `stop` does
 * @throws SettingsError; ApiError when the token is refused; the signal's reason when it comes before the start is over
 */
export async function startRunner(
  given: Runner,
  options: StartOptions & { readonly signal?: AbortSignal } = {},
): Promise<RunningRunner> {
  const settings = readSettings(given, options, process.env);
  const runner = { ...given, templates: given.templates.map((name) => name + settings.templateSuffix) };
  const userAgent = `${runner.name}/${runner.version} sdp-runner/${kitVersion} node/${process.versions.node}`;
  const connection = new Connection({ ...settings, userAgent });
  const heartbeats = new Heartbeats(
    {
      base: connection.base,
      headers: { authorization: `Bearer ${settings.token}`, 'user-agent': userAgent },
    },
    settings.log,
  );
  try {
    const path = '/whoami';
    const who = await connection.call<WhoamiWire>({ method: 'GET', path, signal: options.signal });
    await heartbeats.start();
    const { expiresAt } = who.body;
    const limits = outputLimits(who.body, settings);
    return work({ runner, settings, connection, heartbeats, limits, expiresAt }, options.signal);
  } catch (error) {
    await heartbeats.close();
    connection.close();
    throw error;
  }
}

interface Parts {
  readonly runner: Runner;
  readonly settings: Settings;
  readonly connection: Connection;
  readonly heartbeats: Heartbeats;
  readonly limits: OutputLimits;
  /** When the token ends; null for one of an account. */
  readonly expiresAt: string | null;
}

function work(parts: Parts, signal: AbortSignal | undefined): RunningRunner {
  const { settings, runner, heartbeats, connection } = parts;
  const { log, instanceIds, graceSeconds } = settings;
  const stopping = new AbortController();
  const aborting = new AbortController();
  const leaving = new AbortController();
  const signals = { stopping: stopping.signal, aborting: aborting.signal, leaving: leaving.signal };
  const slots = instanceIds.map((instanceId) => new Slot({ ...parts, ...signals }, instanceId));
  const fields = { templates: runner.templates, instanceIds, tokenExpiresAt: parts.expiresAt };
  log('info', `${runner.name} ${runner.version} claims tasks`, fields);

  const allEnded = Promise.allSettled(
    slots.map((slot) =>
      slot.work().catch((error) => {
        // A refusal of one slot applies to all.
        log('error', `claims are refused: ${messageOf(error)}`);
        stopping.abort();
        throw error;
      }),
    ),
  );
  const timers: NodeJS.Timeout[] = [];
  const onStopping = () => {
    const graceMs = graceSeconds * 1_000;
    const reason = new Error('The runner was stopped before the platform answered.');
    log('info', `${runner.name} stops claiming tasks`, { graceSeconds });
    timers.push(setTimeout(() => aborting.abort(), graceMs));
    timers.push(setTimeout(() => leaving.abort(reason), graceMs + abortMs));
  };
  stopping.signal.addEventListener('abort', onStopping, { once: true });
  const ended = allEnded.then(async (results) => {
    for (const timer of timers) clearTimeout(timer);
    signal?.removeEventListener('abort', onCallerStops);
    await heartbeats.close();
    await Promise.all(instanceIds.map((instanceId) => signOff(connection, instanceId)));
    connection.close();
    log('info', `${runner.name} has stopped`);
    const refused = results.find((result) => result.status === 'rejected');
    if (refused !== undefined) throw refused.reason;
  });
  const stop = async () => {
    stopping.abort();
    await ended;
  };
  ended.catch(() => undefined);
  const onCallerStops = () => stopping.abort();
  if (signal?.aborted) onCallerStops();
  signal?.addEventListener('abort', onCallerStops, { once: true });
  return { instanceIds, ended, stop };
}

/** Reports the end of an instance, so that operators see it at once. An older platform without this call ignores it. */
async function signOff(connection: Connection, instanceId: string): Promise<void> {
  const path = `/instances/${encodeURIComponent(instanceId)}`;
  const signal = AbortSignal.timeout(signOffMs);
  await connection.call({ method: 'DELETE', path, patience: 'never', signal }).catch(() => undefined);
}

/** The platform's limits combined with the runner's settings. */
function outputLimits({ limits }: WhoamiWire, settings: Settings): OutputLimits {
  const { minPartBytes, maxPartBytes } = limits.upload;
  return {
    singleBytes: limits.maxOutputBytes,
    partBytes: Math.min(maxPartBytes, Math.max(minPartBytes, Math.floor(settings.partBytes))),
    bufferBytes: settings.bufferBytes,
  };
}
