import type { Followed } from '../follow.ts';
import type { ShownSession } from '../shown-session.ts';
import type { SessionUploads } from '../upload/uploads.ts';

/** What each part of the session page gets. */
export interface TabProps {
  readonly session: ShownSession;
  /** Reads the session again: what is changed here is shown in all its parts. */
  readonly reload: () => void;
  readonly followed: Followed;
  readonly uploads: SessionUploads;
}
