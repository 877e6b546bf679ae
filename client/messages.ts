/**
 * Refusals that clients recognise by their text, since most routes send no code; made from the platform's catalogue of
 * errors. Do not edit: `npm run generate:client` writes this file anew.
 */

/** The token is missing, has expired, was revoked, or is not complete. */
export const refusedTokenMessage = 'A valid bearer token is required.';

/** The refusal of a repeat whose first answer showed a secret once. */
export const spentKeyMessage =
  'The request with this Idempotency-Key was done, and its secret was shown once.';
