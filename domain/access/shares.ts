/** What one process does at once, in total and for one caller, so that no caller can use all of it. */
import { limits } from '../limits.ts';

export type ShareBounds = { readonly inAll: number; readonly perCaller: number };
export type ShareName =
  | 'sessionEvents'
  | 'runLogs'
  | 'claims'
  | 'uploads'
  | 'ingests'
  | 'series'
  | 'exports'
  | 'reports';

export const shareBounds: Readonly<Record<ShareName, ShareBounds>> = {
  sessionEvents: {
    inAll: limits.sessionEventListeners,
    perCaller: limits.sessionEventListenersPerCaller,
  },
  runLogs: { inAll: limits.logFollowers, perCaller: limits.logFollowersPerCaller },
  claims: { inAll: limits.waitingClaims, perCaller: limits.waitingClaimsPerCaller },
  uploads: { inAll: limits.uploadsAtOnce, perCaller: limits.uploadsAtOncePerCaller },
  // Without an account: a caller is a network address.
  ingests: { inAll: limits.ingestsAtOnce, perCaller: limits.ingestsAtOncePerAddress },
  series: { inAll: limits.seriesAtOnce, perCaller: limits.seriesAtOncePerCaller },
  exports: { inAll: limits.exportsAtOnce, perCaller: limits.exportsAtOncePerCaller },
  reports: { inAll: limits.reportsAtOnce, perCaller: limits.reportsAtOncePerCaller },
};
