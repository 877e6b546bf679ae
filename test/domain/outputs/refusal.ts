import { Problem } from '../../../domain/errors.ts';

/** The key of the problem by which a reading refuses; null when it does not, the error's text for any other error. */
export function refusal(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    return error instanceof Problem ? error.key : String(error);
  }
}
