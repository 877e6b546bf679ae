/** Every call of the runner with its answer, for the scenarios to judge. */
import type { Headers } from './forms.ts';

export type RouteId =
  | 'whoami'
  | 'claim'
  | 'heartbeat'
  | 'inputs'
  | 'inputData'
  | 'state'
  | 'outputs'
  | 'uploadStart'
  | 'uploadPart'
  | 'uploadComplete'
  | 'uploadAbort'
  | 'watermark'
  | 'logs'
  | 'rejection'
  | 'annotations'
  | 'complete'
  | 'fail'
  | 'release'
  | 'signOff'
  | 'unknown';

/** Times are those of `performance.now()`. */
export interface Call {
  readonly route: RouteId;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Headers;
  readonly atMs: number;
  readonly taskId: string | undefined;
  readonly instanceId: string | undefined;
  /** When its whole body had arrived. */
  bodyAtMs: number | undefined;
  bodyBytes: number;
  bodySha256: string | undefined;
  json: unknown;
  status: number | undefined;
  code: string | undefined;
  message: string | undefined;
  reply: unknown;
  /** When the whole answer was sent. */
  answeredAtMs: number | undefined;
  /** When the caller closed the connection instead. */
  goneAtMs: number | undefined;
  /** The fault that was injected. */
  fault: string | undefined;
  /** The task that the instance released by this claim, although it had received it. */
  released: string | undefined;
}

/** A runner that calls more often in one scenario is cut off. */
const maxCalls = 20_000;

export class Journal {
  readonly calls: Call[] = [];

  get isFull(): boolean {
    return this.calls.length >= maxCalls;
  }

  add(call: Call): void {
    this.calls.push(call);
  }

  /** Calls of these routes, oldest first. */
  of(...routes: readonly RouteId[]): Call[] {
    return this.calls.filter(({ route }) => routes.includes(route));
  }

  forTask(taskId: string): Call[] {
    return this.calls.filter((call) => call.taskId === taskId);
  }

  /** The calls that came after this one. */
  after(call: Call): Call[] {
    return this.calls.slice(this.calls.indexOf(call) + 1);
  }
}

/** The routes that change nothing for a task, and claims. */
export const readingRoutes: ReadonlySet<RouteId> = new Set([
  'whoami',
  'claim',
  'inputs',
  'inputData',
  'state',
]);
/** The routes by which a runner changes something for its task, heartbeats apart. */
export const writingRoutes: readonly RouteId[] = [
  'outputs',
  'uploadStart',
  'uploadPart',
  'uploadComplete',
  'watermark',
  'rejection',
  'annotations',
  'complete',
];
export const endingRoutes: readonly RouteId[] = ['complete', 'fail', 'release'];
export const outputRoutes: readonly RouteId[] = ['outputs', 'uploadComplete'];
/** Calls beside the work, in any order and at any time. */
export const sideRoutes: ReadonlySet<RouteId> = new Set(['heartbeat', 'logs']);

/** Whether two calls are about the same thing. A repeated read may come without `redirect=true`. */
export function isSameTarget(
  one: Pick<Call, 'route' | 'path'>,
  other: Pick<Call, 'route' | 'path'>,
): boolean {
  const target = ({ path }: Pick<Call, 'path'>) => path.replace(/\?redirect=true$/, '');
  return one.route === other.route && target(one) === target(other);
}

/** The task that an answer hands out: that of a claim, or of an end with `next`. */
export function handedOut({ route, reply }: Pick<Call, 'route' | 'reply'>): string | undefined {
  const { taskId, next } = (reply ?? {}) as {
    readonly taskId?: string;
    readonly next?: { readonly taskId?: string } | null;
  };
  return route === 'claim' ? taskId : next?.taskId;
}

/** `PUT complete -> 200 (its answer was lost)`, for people. */
export function describeCall(call: Call, startedAtMs: number): string {
  const seconds = ((call.atMs - startedAtMs) / 1_000).toFixed(2).padStart(7);
  const path = call.path
    .replace(/^\/api\/v2(\.0)?\/runner/, '')
    .replace(/\/tasks\/([0-9a-f]{8})[0-9a-f-]+/, '/tasks/$1');
  const answer =
    call.status === undefined ? 'no answer' : `${call.status}${call.code ? ` ${call.code}` : ''}`;
  const gone =
    call.goneAtMs === undefined || call.fault !== undefined ? '' : ' (the runner closed the connection)';
  const fault = call.fault === undefined ? '' : ` [${call.fault}]`;
  return `${seconds} s  ${call.method} ${path} -> ${answer}${gone}${fault}`;
}
