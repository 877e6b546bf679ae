import { useState } from 'preact/hooks';
import type { Session } from '../api.ts';
import type { TimeSpan } from '../dashboard/model.ts';
import { sharedWindow } from './model.ts';
import { Timeline } from './timeline.tsx';
import '../styles/session/timeline.css';

/** One shared session's window with the captures of its participants. */
export function SessionWindowPart({ session }: { session: Session }) {
  const [span, setSpan] = useState<TimeSpan | null>(null);
  const window = sharedWindow(session);
  if (window === null) return null;
  return (
    <details class="window-part" open={window.participants.length <= 12}>
      <summary>Window and participants</summary>
      <Timeline windows={[window]} open links={false} span={span} onSpan={setSpan} />
    </details>
  );
}
