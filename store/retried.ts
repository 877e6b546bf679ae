/** Transactions that the database asks to run again: serialisation failures, deadlocks and lock time-outs. */

/** PostgreSQL error codes after which the same transaction may succeed. */
const retryableCodes = new Set(['40P01', '40001', '55P03']);
const maxTries = 6;

export async function retried<T>(once: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await once();
    } catch (error) {
      if (tries >= maxTries || !retryableCodes.has((error as { code?: string }).code ?? '')) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * 2 ** tries));
    }
  }
}
