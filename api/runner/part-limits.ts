/** The limits of an upload in parts, as whoami and the start of an upload return them. */
import { limits } from '../../domain/limits.ts';

export const partLimits = {
  minPartBytes: limits.uploadPartMinBytes,
  maxPartBytes: limits.uploadPartMaxBytes,
  maxParts: limits.uploadParts,
} as const;
