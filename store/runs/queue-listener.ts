/**
 * Hears of queued tasks: one connection a process that LISTENs, and asks on the same connection now and then what
 * notifications may have missed. Waiting claims hold no connection of their own.
 */

import type { Database, Row } from '../connection/database.ts';
import { Listener } from '../connection/listener.ts';
import type { RunnerIdentity } from '../runners/holder.ts';
import { runnerChangedChannel } from '../runners/runner-instances.ts';
import { taskReadyChannel } from './queue-channel.ts';

export interface TaskReadyEvents {
  /** A task of this node template was queued, or may have been. */
  ready(template: string): void;
  /** Operators drained instances, or gave them tasks again. */
  runnersChanged(): void;
  /** The connection stands (again): what was queued before went unheard. */
  connected(): void;
  /** The connection is lost, or could not be made; it is tried again by itself. */
  lost(error: Error): void;
}

/** A claim that waits, with the sequence that it got on arrival. */
export interface WaitingClaim {
  readonly identity: RunnerIdentity;
  readonly claimSeq: number;
}

export interface ReadyCheck {
  /** Those of the asked templates that have a task queued. */
  readonly ready: readonly string[];
  /** Places (from 0) of those claims that a newer claim of the same instance has replaced. */
  readonly outdated: readonly number[];
  /** Places of those claims whose instance is drained. */
  readonly drained: readonly number[];
}

export class TaskReadyListener {
  readonly #listener: Listener;

  constructor(database: Database, { ready, runnersChanged, connected, lost }: TaskReadyEvents) {
    const channels = { [taskReadyChannel]: ready, [runnerChangedChannel]: runnersChanged };
    this.#listener = new Listener(database, channels, { connected, lost });
  }

  /** Connects and stays connected until `stop`. Safe to call again. */
  start(): void {
    this.#listener.start();
  }

  /** Closes the connection. */
  async stop(): Promise<void> {
    await this.#listener.stop();
  }

  /** What is ready now. */
  async check(templates: readonly string[], waiting: readonly WaitingClaim[]): Promise<ReadyCheck> {
    const [row] = await this.#listener.query<ReadyCheck & Row>(checkStatement, [
      templates,
      waiting.map(({ identity }) => identity.holder),
      waiting.map(({ identity }) => identity.instanceId),
      waiting.map(({ claimSeq }) => claimSeq),
    ]);
    return row!;
  }
}

const placesOf = (condition: string) => `
  array(
    select w.place - 1
      from unnest($2::text[], $3::text[], $4::bigint[]) with ordinality as w (holder, instance_id, claim_seq, place)
      join runner_instance i on i.holder = w.holder and i.instance_id = w.instance_id
     where ${condition})`;
const checkStatement = `
  select array(
           select t.name from unnest($1::text[]) as t (name)
            where exists (
              select from node_run r where r.state = 'queued' and not r.frozen and r.template_name = t.name)) as ready,
         ${placesOf('i.claim_seq > w.claim_seq')} as outdated, ${placesOf('i.drained')} as drained`;
