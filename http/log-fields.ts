/** The subject of a request, for its log lines and its span: only ids, no personal data. */

export type CallIds = {
  readonly sessionId?: string;
  readonly nodeInstanceId?: number | string;
  readonly nodeOutputId?: number | string;
  readonly taskId?: string;
  readonly runId?: string;
};

/** Collected while the request is answered. */
export class LogFields {
  #ids: CallIds = {};

  get ids(): CallIds {
    return this.#ids;
  }

  /** Adds what is known now. */
  note(ids: CallIds): void {
    this.#ids = { ...this.#ids, ...ids };
  }
}

const named = ['sessionId', 'nodeInstanceId', 'nodeOutputId', 'taskId', 'runId'] as const;
/** A number or a UUID; any other path segment is the caller's own text. */
const idForm = /^[0-9A-Fa-f-]{1,36}$/;

/** The ids in the path of a request; `{id}` below sessions is the session's. */
export function idsInPath(path: string, params: Readonly<Record<string, string | undefined>>): CallIds {
  const ids: Record<string, string> = {};
  for (const name of named) {
    const value = params[name];
    if (value !== undefined && idForm.test(value)) ids[name] = value;
  }
  const { id } = params;
  if (id !== undefined && idForm.test(id) && /\/sessions?\/\{id\}/.test(path)) ids.sessionId = id;
  return ids;
}
