/** Refusals of the database as results. The transaction is rolled back then. */
import { ForeignKeyConstraintViolationException, UniqueConstraintViolationException } from '@mikro-orm/core';

type Refusal = typeof UniqueConstraintViolationException | typeof ForeignKeyConstraintViolationException;

const refused =
  (kind: Refusal) =>
  <T>(result: T) =>
  (error: unknown): T => {
    if (error instanceof kind) return result;
    throw error;
  };

/** For `catch`: the name or place is taken. */
export const onUniqueViolation = refused(UniqueConstraintViolationException);
/** For `catch`: it is still referred to. */
export const onForeignKeyViolation = refused(ForeignKeyConstraintViolationException);
