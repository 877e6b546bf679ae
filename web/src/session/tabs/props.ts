import type { Session } from '../../api.ts';
import type { Followed } from '../follow.ts';
import type { SessionUploads } from '../upload/uploads.ts';

/** What each part of the session page gets. */
export interface TabProps {
  readonly session: Session;
  readonly followed: Followed;
  readonly uploads: SessionUploads;
}
