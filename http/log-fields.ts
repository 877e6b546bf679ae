/** What a request was about, for its log lines and its span: ids alone, nothing of a person. */

export type CallIds = {
  readonly sessionId?: string;
  readonly nodeInstanceId?: number | string;
  readonly nodeOutputId?: number | string;
  readonly taskId?: string;
  readonly runId?: string;
};

/** Filled while the request is answered. */
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
/** A number or a UUID; whatever else stands in a path is the caller's own words. */
const idForm = /^[0-9A-Fa-f-]{1,36}$/;

/** The ids that stand in the path of a request; `{id}` below sessions is the session's. */
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
