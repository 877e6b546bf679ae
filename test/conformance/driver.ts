/**
 * One script of calls, sent to the platform and to the kit's server. It notes what must be equal: status, code,
 * and the reply with ids and times replaced by names.
 */
import { gzipSync } from 'node:zlib';

export interface Offered {
  readonly template: string;
  /** Ids of the parent's outputs, oldest first. */
  readonly inputIds: readonly number[];
}

/** What the script needs from the server under test. */
export interface Side {
  readonly url: string;
  readonly token: string;
  /** A node with these inputs, of its own node template, ready to be claimed. */
  offer(
    inputs: readonly OfferedInput[],
    options?: { readonly incremental?: boolean; readonly maxAttempts?: number },
  ): Promise<Offered>;
  /** One more output of the parent. */
  publish(offered: Offered, input: OfferedInput): Promise<number>;
  loseLease(taskId: string): Promise<void>;
  cancel(taskId: string): Promise<void>;
  /** Claims that wait for a task. */
  waitingClaims(): number;
  /** The name of a template that is registered and not to be claimed. */
  foreignTemplate(): string;
}

export interface OfferedInput {
  readonly bytes: Buffer;
  readonly contentType?: string;
  readonly contentEncoding?: 'gzip';
  readonly identifier?: string;
}

/** A call's outcome, comparable between sides. */
export type Note = readonly [what: string, status: number, reply: unknown];

// biome-ignore lint/suspicious/noExplicitAny: what a server sends is compared whole with what another sends.
type Json = any;

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

/** Replaces ids, task ids and times by names in the order in which they were met. */
class Names {
  readonly #known = new Map<string, string>();

  name(kind: string, value: string | number): string {
    const key = `${kind}:${value}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const count = [...this.#known.keys()].filter((each) => each.startsWith(`${kind}:`)).length;
    const name = `<${kind} ${count + 1}>`;
    this.#known.set(key, name);
    return name;
  }

  plain(value: Json, field = ''): Json {
    if (Array.isArray(value)) return value.map((item) => this.plain(item, field));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.plain(item, key)]));
    if (typeof value === 'number' && /^(outputId|inputId|watermark)$/.test(field))
      return this.name('output', value);
    if (typeof value === 'number' && /^(projectId|nodeInstanceId)$/.test(field)) return `<${field}>`;
    if (field === 'nodeName') return '<nodeName>';
    if (typeof value !== 'string') return value;
    if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return '<time>';
    const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
    return value.replace(uuids, (uuid) => this.name('uuid', uuid));
  }
}

/** Values that always differ: names around the node, and the sentences of refusals. */
const ofSurroundings = [
  'sessionName',
  'nodeName',
  'nodeTemplate',
  'runnerType',
  'configuration',
  'parents',
  'sessionId',
  'projectId',
  // The kit's claims always have one; the platform's where it traces.
  'traceparent',
];

/** A reply, and the task that it hands out, without what depends on place and time. */
function withoutSurroundings(body: Json): Json {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const kept = Object.entries(body).filter(([key]) => !ofSurroundings.includes(key));
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key === 'next' ? withoutSurroundings(value) : value]),
  );
}

export class Driver {
  readonly notes: Note[] = [];
  readonly side: Side;
  readonly #names = new Names();
  #runners = 0;

  constructor(side: Side) {
    this.side = side;
  }

  note(what: string, { status, headers, body }: Answered): void {
    if (!headers.has('x-request-id')) throw new Error(`${what}: the answer has no X-Request-Id.`);
    if (status >= 400) {
      const { status: word, code, message } = body;
      this.notes.push([what, status, { status: word, code, message: typeof message }]);
      return;
    }
    const kept = withoutSurroundings(body);
    this.notes.push([what, status, this.#names.plain(kept)]);
  }

  runner(instanceId?: string): Caller {
    this.#runners += 1;
    return new Caller(this, instanceId ?? `driver-${process.pid}-${this.#runners}-${Date.now()}`);
  }
}

/** An instance of a runner; every call is noted. */
export class Caller {
  readonly instanceId: string;
  readonly #driver: Driver;

  constructor(driver: Driver, instanceId: string) {
    this.#driver = driver;
    this.instanceId = instanceId;
  }

  /** Any call below `/api/v2/runner`. `null` as a header leaves it out. */
  async send(
    what: string,
    method: string,
    path: string,
    body?: Uint8Array | string,
    headers: Readonly<Record<string, string | null>> = {},
  ): Promise<Answered> {
    const sent: Record<string, string> = {};
    const all = {
      authorization: `Bearer ${this.#driver.side.token}`,
      'x-platform-runner-instance': this.instanceId,
      ...headers,
    };
    for (const [name, value] of Object.entries(all)) if (value !== null) sent[name] = value;
    const response = await fetch(`${this.#driver.side.url}/api/v2/runner${path}`, {
      method,
      headers: sent,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const answered = {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    };
    this.#driver.note(what, answered);
    return answered;
  }

  async json(what: string, method: string, path: string, json?: unknown): Promise<Answered> {
    const body = json === undefined ? undefined : JSON.stringify(json);
    return await this.send(
      what,
      method,
      path,
      body,
      body === undefined ? {} : { 'content-type': 'application/json' },
    );
  }

  /** Claims a task of the offer, which must be there. */
  async acquire({ template }: Offered, what = 'claim'): Promise<string> {
    const { instanceId } = this;
    const body = { instanceId, templates: [template], waitSeconds: 10 };
    const answered = await this.json(what, 'POST', '/tasks/claim', body);
    if (answered.status !== 200)
      throw new Error(`claim: ${answered.status} ${JSON.stringify(answered.body)}`);
    return answered.body.taskId;
  }

  /** `PUT /tasks/{taskId}/{how}` */
  async put(taskId: string, how: string, json?: unknown, what = how): Promise<Answered> {
    return await this.json(what, 'PUT', `/tasks/${taskId}/${how}`, json);
  }

  async write(
    taskId: string,
    bytes: string | Uint8Array,
    headers: Readonly<Record<string, string | null>> = {},
    what = 'outputs',
  ): Promise<Answered> {
    return await this.send(what, 'POST', `/tasks/${taskId}/outputs`, bytes, headers);
  }
}

export const text = (value: string): OfferedInput => ({
  bytes: Buffer.from(value),
  contentType: 'text/plain',
});
export const packed = (value: string): OfferedInput => ({
  bytes: gzipSync(value),
  contentType: 'text/plain',
  contentEncoding: 'gzip',
});
