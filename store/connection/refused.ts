/** Work that is rolled back by a refusal, which its caller returns as a result. */

/** Thrown inside a transaction, so that everything in it is rolled back. */
export class Refused<Why extends string> extends Error {
  readonly why: Why;

  constructor(why: Why) {
    super(why);
    this.why = why;
  }
}

/**
 * Returns a {@link Refused} that `work` throws as a result.
 * @typeParam Why every reason for which `work` refuses
 */
export async function refusable<T, Why extends string>(
  work: () => Promise<T>,
): Promise<T | { readonly kind: 'refused'; readonly why: Why }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) return { kind: 'refused', why: error.why };
    throw error;
  }
}
