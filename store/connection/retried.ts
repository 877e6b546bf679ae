/** Transactions that the database asks to run again: serialisation failures, deadlocks and lock time-outs. */
import { isConflict } from '../../domain/network/database-fault.ts';

const maxTries = 6;

export async function retried<T>(once: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await once();
    } catch (error) {
      if (tries >= maxTries || !isConflict(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * 2 ** tries));
    }
  }
}
