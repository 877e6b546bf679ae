import { p, raw } from '@mikro-orm/core';

/** By the database's clock, as all times that are compared. Read back after each write. */
export const now = () => raw('clock_timestamp()') as unknown as Date;

export const secondsFromNow = (seconds: number) =>
  raw('clock_timestamp() + make_interval(secs => ?)', [seconds]) as unknown as Date;

const time = () => p.datetime().defaultRaw('clock_timestamp()');

export const createdAt = time();
/** Code that changes a row sets `updatedAt`. */
export const times = { createdAt, updatedAt: time() };
