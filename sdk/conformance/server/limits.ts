/** The numbers of the contract. A test compares them with the platform's own. */
const kibibytes = 1024;
const mebibytes = 1024 * kibibytes;

export const limits = {
  jsonBodyBytes: 1 * mebibytes,
  jsonDepthLevels: 64,
  nameCharacters: 255,
  descriptionCharacters: 4000,
  templateNames: 500,
  instanceCharacters: 128,
  claimWaitMaxSeconds: 60,
  leaseSeconds: 30,
  maxAttempts: 3,
  lostLeases: 3,
  stateBytes: 64 * kibibytes,
  stateDepthLevels: 20,
  inputsPageDefault: 100,
  inputsPageMax: 500,
  inputsPerTask: 100,
  outputBytes: 16 * mebibytes,
  outputIdentifierCharacters: 100,
  outputMetadataBytes: 4 * kibibytes,
  partMinBytes: 5 * mebibytes,
  partMaxBytes: 100 * mebibytes,
  parts: 10_000,
  maxId: Number.MAX_SAFE_INTEGER,
  logEntries: 500,
  logCallBytes: 256 * kibibytes,
  logMessageBytes: 8 * kibibytes,
  logFieldsBytes: 4 * kibibytes,
  logAttemptBytes: 16 * mebibytes,
  logTailBytes: 64 * kibibytes,
  nextWaitMaxSeconds: 30,
  annotationsPerCall: 500,
  annotationTags: 20,
  annotationTagCharacters: 64,
  endRememberedMs: 10 * 60_000,
} as const;

/** Three times a lease. */
export function heartbeatIntervalSeconds(leaseSeconds: number): number {
  return Math.max(1, Math.floor(leaseSeconds / 3));
}
