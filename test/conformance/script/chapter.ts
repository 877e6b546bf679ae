/** What chapters of the script have in common. */
import { type Caller, type Driver, type Offered, text } from '../driver.ts';

/** Calls that platform and kit must answer alike, by name, each with its own work. */
export type Chapters = Readonly<Record<string, (driver: Driver) => Promise<void>>>;

export const noOutput = { outcome: 'no-output' };
export const noTask = '00000000-0000-7000-8000-000000000000';

/** A task that a new runner holds, over so many inputs. */
export async function held(
  driver: Driver,
  inputs = 1,
  options: Parameters<Driver['side']['offer']>[1] = {},
): Promise<{
  readonly offered: Offered;
  readonly runner: Caller;
  readonly taskId: string;
  readonly ids: readonly number[];
}> {
  const texts = Array.from({ length: inputs }, (_none, at) => text(`input ${at}`));
  const offered = await driver.side.offer(texts, options);
  const runner = driver.runner();
  return { offered, runner, taskId: await runner.acquire(offered), ids: offered.inputIds };
}

export const incremental = { incremental: true };
