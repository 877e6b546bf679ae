import type { Context } from '@temporalio/activity';
import { expect, test } from 'vitest';
import { mustRelease } from '../../activities/keep-alive.ts';

test.each([
  ['goes on while nothing ends it', { isCancelled: false, isUnknown: false, isStopping: false }, false],
  ['is released when Temporal cancels it', { isCancelled: true, isUnknown: false, isStopping: false }, true],
  ['goes on when its workflow is gone', { isCancelled: true, isUnknown: true, isStopping: false }, false],
  ['is then released when its worker stops', { isCancelled: true, isUnknown: true, isStopping: true }, true],
])('a built-in run %s', (_name, { isCancelled, isUnknown, isStopping }, isReleased) => {
  const context = {
    cancellationSignal: { aborted: isCancelled },
    cancellationDetails: { notFound: isUnknown },
  } as unknown as Context;
  expect(mustRelease(context, { aborted: isStopping } as AbortSignal)).toBe(isReleased);
});
