/** What the database refuses, as results. The transaction is rolled back then. */
import { ForeignKeyConstraintViolationException, UniqueConstraintViolationException } from '@mikro-orm/core';

type Refusal = typeof UniqueConstraintViolationException | typeof ForeignKeyConstraintViolationException;

const refused =
  (kind: Refusal) =>
  <T>(result: T) =>
  (error: unknown): T => {
    if (error instanceof kind) return result;
    throw error;
  };

/** For `catch`: another one has the name, or the place. */
export const whenTaken = refused(UniqueConstraintViolationException);
/** For `catch`: something refers to it. */
export const whenReferred = refused(ForeignKeyConstraintViolationException);
