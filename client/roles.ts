import type { User } from './types.ts';

/** Every role of the interface: one that is missing here is an error of types. */
const known: Readonly<Record<User['role'], true>> = {
  Administrator: true,
  Instructor: true,
  Trainee: true,
  Developer: true,
};

/** The roles of accounts, in the order in which they are offered. */
export const roles = Object.keys(known) as User['role'][];
