/** A runner of an incremental node that dies, is cut off and loses answers at every step, compared with the model. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Database } from '../../../store/connection/database.ts';
import { endOverdueClaims } from '../../../store/runs/expire-leases.ts';
import { reconcileSession } from '../../../store/runs/reconcile-session.ts';
import { type Answer, ask } from '../../support/api.ts';
import type { Graph } from '../../support/graph.ts';
import { type End, Ends, ends, type Fault } from './incremental-faults.ts';
import { type IncrementalModel, nameOf, type Version } from './incremental-model.ts';

export interface Stage {
  readonly url: string;
  readonly token: string;
  readonly database: Database;
  readonly graph: Graph;
  readonly template: string;
  readonly model: IncrementalModel;
  readonly maxInputsPerTask: number;
  /** Whether outputs have the runner's own identifiers; a repeated write without one is like a second write. */
  readonly isNaming: boolean;
}

export interface Work {
  readonly faults: readonly Fault[];
  /** Consumes at most so many inputs of the task, and reports `hasMore`. */
  readonly takes: number;
}

class Death extends Error {}

let instances = 0;

/** Works on the node's next task, if it has one, until it is done or something happens. */
export async function workOnce(stage: Stage, work: Work): Promise<void> {
  const runner = new FaultyRunner(stage, work);
  try {
    await runner.work();
  } catch (error) {
    if (error instanceof Ends) await runner.end(error.end);
    else if (!(error instanceof Death)) throw error;
  }
  await timePasses(stage);
}

/** Ends the leases of dead runners, and makes waiting work due. */
async function timePasses({ database, graph, model }: Stage): Promise<void> {
  const ofSession = 'ended_at is null and run_id in (select id from node_run where session_id = $1)';
  const held = await database.query(
    `update node_claim set lease_until = clock_timestamp() - interval '1 second' where ${ofSession} returning 1`,
    [graph.sessionId],
  );
  if (held.length > 0) {
    await endOverdueClaims(database, 100, () => 0);
    expect(await database.query(`select 1 from node_claim where ${ofSession}`, [graph.sessionId])).toEqual(
      [],
    );
    model.lost();
  }
  await database.query(
    `update node_run set due_at = clock_timestamp() where session_id = $1 and state = 'waiting'`,
    [graph.sessionId],
  );
  await reconcileSession(database, graph.sessionId);
}

class FaultyRunner {
  private readonly stage: Stage;
  private readonly takes: number;
  private readonly faults: Fault[];
  private readonly instanceId = `incremental-${instances++}`;
  private taskId: string | undefined;
  private runId: string | undefined;

  constructor(stage: Stage, work: Work) {
    this.stage = stage;
    this.takes = work.takes;
    this.faults = [...work.faults];
  }

  async work(): Promise<void> {
    const { model, maxInputsPerTask, template } = this.stage;
    const { instanceId } = this;
    if (model.open === null) {
      expect((await this.send('POST', '/tasks/claim', { instanceId, templates: [template] })).status).toBe(
        204,
      );
      return;
    }
    const { attempts, reason } = model.open;
    let listed: Version[] = [];
    // A claim whose answer was lost or cut is undone or ended without counting.
    const task = await this.step(
      200,
      async (signal) => {
        for (;;) {
          const json = { instanceId, templates: [template], waitSeconds: 5 };
          const answer = await this.send('POST', '/tasks/claim', json, {}, signal);
          // A cut claim that takes effect only now replaces a later one that waits.
          if (answer.status !== 204 || signal.aborted) return answer;
        }
      },
      {
        done: () => {
          listed = model.claimed();
        },
      },
    );
    this.taskId = task.body.taskId;
    this.runId = task.body.runId;
    expect(task.body).toMatchObject({
      attempt: attempts,
      reason: attempts > 1 ? 'retry' : reason,
      incremental: { watermark: model.mark.outputId, pendingInputs: listed.length, maxInputsPerTask },
    });
    const versions = listed.slice(0, maxInputsPerTask);
    expect(await this.inputs()).toEqual(versions.map(nameOf));
    for (const version of versions.slice(0, this.takes)) await this.consume(version);
    await this.complete();
  }

  /** Ends the task, if it is held. */
  async end({ call, json, note }: End): Promise<void> {
    if (this.taskId === undefined) return;
    const answer = await this.send('PUT', `/tasks/${this.taskId}/${call}`, json);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    note(this.stage.model);
  }

  /** All pages of what the task lists. */
  private async inputs(): Promise<string[]> {
    const names: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const path = `/tasks/${this.taskId}/inputs?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`;
      const { body }: Answer = await this.step(200, (signal) =>
        this.send('GET', path, undefined, {}, signal),
      );
      names.push(...body.inputs.map(nameOf));
      cursor = body.nextCursor;
      if (cursor === null) return names;
    }
  }

  /**
   * Writes the outputs of an input and moves the watermark past it. Their number, and whether the last of them, a
   * separate call or a rejection moves it, depend on the input and the run: each attempt does the same.
   */
  private async consume(version: Version): Promise<void> {
    const { model } = this.stage;
    const count = 1 + (version.position % 3);
    const isAlone = version.position % 2 === 0;
    if ((version.position + model.runs) % 5 === 0) return this.reject(version);
    for (let number = 1; number <= count; number += 1) {
      await this.write(version, number, number === count && !isAlone);
    }
    if (!isAlone) return;
    const path = `/tasks/${this.taskId}/watermark`;
    const json = { inputId: version.outputId };
    await this.step(200, (signal) => this.send('PUT', path, json, {}, signal), {
      done: () => model.consumedOne(version),
    });
  }

  /** An output that is staged before is published with the rejection. */
  private async reject(version: Version): Promise<void> {
    const { model } = this.stage;
    if (version.position % 2 === 0) await this.write(version, 1, false);
    const path = `/tasks/${this.taskId}/rejections/${version.outputId}`;
    const json = { category: 'validation', reason: 'Broken.' };
    await this.step(200, (signal) => this.send('PUT', path, json, {}, signal), {
      done: () => model.consumedOne(version, true),
    });
  }

  private async write(version: Version, number: number, moves: boolean): Promise<void> {
    const { isNaming, model } = this.stage;
    const output = `${nameOf(version)}.${number}`;
    const headers: Record<string, string> = {
      ...(moves && { 'x-platform-watermark': String(version.outputId) }),
      'x-platform-output-metadata': JSON.stringify({ of: output }),
      // A reprocess appends to the existing outputs; its runs process each input once.
      ...(isNaming && {
        'x-platform-output-identifier': `${output}.${model.runs}.${model.consumptions.length}`,
      }),
    };
    const path = `/tasks/${this.taskId}/outputs`;
    await this.step([200, 201], (signal) => this.send('POST', path, output, headers, signal), {
      isRepeatable: isNaming,
      done: () => {
        model.wrote(output);
        if (moves) model.consumedOne(version);
      },
    });
  }

  private async complete(): Promise<void> {
    const { model } = this.stage;
    const path = `/tasks/${this.taskId}`;
    const { body } = await this.step(200, (signal) =>
      this.send('GET', `${path}/inputs`, undefined, {}, signal),
    );
    const pendingInputs = model.pending().length;
    expect(body.incremental).toMatchObject({ watermark: model.mark.outputId, pendingInputs });
    const hasMore = pendingInputs > 0;
    const outcome = model.open!.wrote ? 'completed' : 'no-output';
    const ended = await this.step(
      200,
      (signal) => this.send('PUT', `${path}/complete`, { outcome, hasMore }, {}, signal),
      { done: (answer) => model.completed(answer.body.followUp) },
    );
    this.taskId = undefined;
    // A runner that stops before the end has consumed inputs of the task, unless it consumed none.
    expect(ended.body.followUp).toBe(hasMore && this.takes > 0);
  }

  /** One call with its fault; `done` is called once when the call is done. */
  private async step(
    statuses: number | readonly number[],
    call: (signal: AbortSignal) => Promise<Answer>,
    options: { readonly isRepeatable?: boolean; readonly done?: (answer: Answer) => void } = {},
  ): Promise<Answer> {
    const next = this.faults.shift() ?? 'none';
    const isRepeat = next === 'lost' || next === 'cut';
    const fault = isRepeat && options.isRepeatable === false ? 'none' : next;
    if (fault === 'dies-before') throw new Death();
    if (fault === 'cancelled' && this.taskId !== undefined) await this.cancel();
    const end = ends[fault];
    if (end !== undefined) throw new Ends(end);
    if (fault === 'cut') {
      const cut = new AbortController();
      const sent = call(cut.signal).catch(() => undefined);
      await delay(Math.random() * 8);
      cut.abort();
      await sent;
    }
    if (fault === 'lost') await call(AbortSignal.timeout(30_000));
    const answer = await call(AbortSignal.timeout(30_000));
    expect([statuses].flat(), JSON.stringify(answer.body)).toContain(answer.status);
    options.done?.(answer);
    if (fault === 'dies-after') throw new Death();
    return answer;
  }

  /** As an operator, while the runner holds the run. */
  private async cancel(): Promise<void> {
    const { url, token } = this.stage;
    const answer = await ask(url, 'POST', `/api/v2/admin/node-runs/${this.runId}/cancel`, { token });
    expect(answer).toMatchObject({ status: 202, body: { state: 'held', cancelRequested: true } });
  }

  private async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Answer> {
    const { url, token } = this.stage;
    const isBytes = typeof body === 'string';
    const response = await fetch(`${url}/api/v2/runner${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'x-platform-runner-instance': this.instanceId,
        ...(body !== undefined && { 'content-type': isBytes ? 'text/plain' : 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isBytes ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? '' : JSON.parse(text) };
  }
}
