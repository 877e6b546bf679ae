/** How a runner is started: options first, then the environment, then defaults. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { jsonLines, type Log, type LogLevel } from '../log.ts';
import { uncaptured } from '../logs/console-capture.ts';
import type { Runner } from './runner.ts';

export interface StartOptions {
  /** The platform's base address; default `SDP_URL`. */
  readonly url?: string;
  /** A runner token (`hrt_...`), or for development an access token; default `SDP_RUNNER_TOKEN`. */
  readonly token?: string;
  /** Tasks at the same time; default `SDP_RUNNER_CONCURRENCY`, else 1. */
  readonly concurrency?: number;
  /**
   * 1 to 120 characters of `A-Za-z0-9._:-`, used by no other process: a claim releases the task that the same id holds.
   * Default: `SDP_RUNNER_INSTANCE`, else made of the runner's name, host, process and a random part. With several tasks
   * at once each gets a suffix `.1`, `.2` and so on.
   */
  readonly instanceId?: string;
  /** How long a claim waits for a task, in seconds, 0 to 60; default `SDP_RUNNER_WAIT_SECONDS`, else 30. */
  readonly waitSeconds?: number;
  /**
   * At the end: how long running tasks may continue before they are aborted and released, in seconds; default
   * `SDP_RUNNER_GRACE_SECONDS`, else 15. After that they get eight seconds more to end.
   */
  readonly graceSeconds?: number;
  /** Size of a part of outputs above 16 MB, in bytes, 5 to 100 MB; default 8 MiB. */
  readonly partBytes?: number;
  /** Memory for the parts of one output that are being sent, in bytes; default 32 MiB. */
  readonly bufferBytes?: number;
  /** Added to the names of the runner's node templates; default `SDP_RUNNER_TEMPLATE_SUFFIX`. For development. */
  readonly templateSuffix?: string;
  /** The destination of log lines; default: JSON lines on standard error from `SDP_RUNNER_LOG` (default `info`) on. */
  readonly log?: Log;
}

export interface Settings {
  readonly url: URL;
  readonly token: string;
  readonly instanceIds: readonly string[];
  readonly waitSeconds: number;
  readonly graceSeconds: number;
  readonly partBytes: number;
  readonly bufferBytes: number;
  readonly templateSuffix: string;
  readonly log: Log;
}

/** Missing or wrong settings, one sentence each, for the person who starts a runner. */
export class SettingsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

const instanceForm = /^[A-Za-z0-9._:-]{1,120}$/;
const suffixForm = /^(-[a-z0-9]+)*$/;
const mebibytes = 1024 * 1024;

/** @throws SettingsError */
export function readSettings(
  runner: Runner,
  options: StartOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Settings {
  const problems: string[] = [];
  const number = (
    name: 'concurrency' | 'waitSeconds' | 'graceSeconds',
    variable: string,
    { initial, max }: { readonly initial: number; readonly max: number },
  ) => {
    const text = environment[variable];
    const value = options[name] ?? (text === undefined || text === '' ? initial : Number(text));
    if (!(value >= 0 && value <= max))
      problems.push(`${name} (${variable}) must be a number from 0 to ${max}.`);
    return value;
  };
  const url = readUrl(options.url ?? environment.SDP_URL, problems);
  const token = (options.token ?? environment.SDP_RUNNER_TOKEN ?? '').trim();
  if (!/^[\x21-\x7e]+$/.test(token)) problems.push('Set SDP_RUNNER_TOKEN to a runner token.');
  const concurrency = number('concurrency', 'SDP_RUNNER_CONCURRENCY', { initial: 1, max: 1_000 });
  if (!Number.isInteger(concurrency) || concurrency < 1) problems.push('concurrency must be 1 or more.');
  const instanceId = options.instanceId ?? (environment.SDP_RUNNER_INSTANCE || ownInstanceId(runner));
  if (!instanceForm.test(instanceId)) {
    problems.push('instanceId (SDP_RUNNER_INSTANCE) must hold 1 to 120 characters of A-Za-z0-9._:-.');
  }
  const templateSuffix = options.templateSuffix ?? environment.SDP_RUNNER_TEMPLATE_SUFFIX ?? '';
  if (!suffixForm.test(templateSuffix)) {
    problems.push('templateSuffix (SDP_RUNNER_TEMPLATE_SUFFIX) must be like -petra.');
  }
  const settings = {
    templateSuffix,
    waitSeconds: Math.floor(number('waitSeconds', 'SDP_RUNNER_WAIT_SECONDS', { initial: 30, max: 60 })),
    graceSeconds: number('graceSeconds', 'SDP_RUNNER_GRACE_SECONDS', { initial: 15, max: 86_400 }),
    partBytes: options.partBytes ?? 8 * mebibytes,
    bufferBytes: options.bufferBytes ?? 32 * mebibytes,
  };
  if (problems.length > 0 || url === undefined) throw new SettingsError(problems);
  const print = options.log ?? jsonLines(levelOf(environment.SDP_RUNNER_LOG));
  // Lines of the kit do not belong to the run during which they are printed.
  const log: Log = (...line) => uncaptured(() => print(...line));
  return { url, token, instanceIds: instanceIds(instanceId, concurrency), ...settings, log };
}

function readUrl(text: string | undefined, problems: string[]): URL | undefined {
  try {
    const url = new URL(text ?? '');
    if (/^https?:$/.test(url.protocol)) return url;
  } catch {
    // Reported below.
  }
  problems.push("Set SDP_URL to the platform's base address, for example http://127.0.0.1:8080.");
  return undefined;
}

function levelOf(text: string | undefined): LogLevel {
  const level = text?.toLowerCase();
  if (level === 'warning') return 'warn';
  return level === 'debug' || level === 'warn' || level === 'error' ? level : 'info';
}

/** Unique, also for the second start of a container with the same host name and pid. */
function ownInstanceId(runner: Runner): string {
  const host = hostname()
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 30);
  return `${runner.name.slice(0, 50)}:${host}:${process.pid}:${randomBytes(4).toString('hex')}`;
}

function instanceIds(instanceId: string, concurrency: number): string[] {
  if (concurrency === 1) return [instanceId];
  return Array.from({ length: concurrency }, (_, index) => `${instanceId}.${index + 1}`);
}
