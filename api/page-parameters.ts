/** Page and size of a list, as its query parameters. */
import { limits } from '../domain/limits.ts';
import { integerParameter } from '../http/schemas.ts';

/** @param what the list has: `Sessions` */
export const pageParameters = (what: string) => ({
  page: integerParameter({ min: 1, initial: 1, message: 'page must be 1 or greater.' }).meta({
    description: 'Page number, from 1.',
  }),
  pageSize: integerParameter({
    min: 1,
    max: limits.sessionPageSizeMax,
    initial: limits.sessionPageSizeDefault,
    message: `pageSize must be between 1 and ${limits.sessionPageSizeMax}.`,
  }).meta({ description: `${what} per page.` }),
});
