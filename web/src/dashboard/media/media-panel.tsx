import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useResource } from '../../hooks.ts';
import { isAbort, textOf } from '../../http.ts';
import { newestOutputs } from '../../session/session-outputs.tsx';
import { IconButton } from '../../ui/buttons.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Placeholder } from '../../ui/notice.tsx';
import type { ChartGroup } from '../chart/group.ts';
import type { TimeSpan } from '../model.ts';
import { PanelSection } from '../panel-section.tsx';
import { KeptFiles } from './kept-files.ts';
import { type AxisKind, type Frame, frameAt, framesOf } from './model.ts';

/** A session that is captured picture by picture has many. */
const maxOutputs = 20_000;

/** Pictures and video of a session, in step with the cursor. */
export function MediaPanel(props: {
  title: string;
  place: string;
  sessionId: string;
  /** Only outputs with this in their name. */
  part: string;
  /** Where outputs without a time begin. */
  startMs: number;
  axis: AxisKind;
  height: number;
  group: ChartGroup;
  span: TimeSpan;
}) {
  const { title, sessionId, part, startMs, axis } = props;
  const outputs = useResource(sessionId, async (signal) => {
    return (await newestOutputs(sessionId, maxOutputs, {}, signal)).outputs;
  });
  const frames = useMemo(
    () => framesOf(outputs.data ?? [], part, startMs, axis),
    [outputs.data, part, startMs, axis],
  );
  return (
    <PanelSection title={title} place={props.place} busy={outputs.loading}>
      <Loaded of={outputs} failure="The outputs could not be read." rows={2} label="Loading the outputs">
        {() =>
          frames.length === 0 ? (
            <p class="faint plot-none">
              {part === ''
                ? 'This session has no pictures or video.'
                : `This session has no pictures or video with “${part}” in their name.`}
            </p>
          ) : (
            <Player {...props} frames={frames} />
          )
        }
      </Loaded>
    </PanelSection>
  );
}

interface Shown {
  readonly frame: Frame;
  /** Null where it cannot be shown. */
  readonly address: string | null;
  readonly problem: string;
}

function Player(props: {
  frames: readonly Frame[];
  axis: AxisKind;
  height: number;
  group: ChartGroup;
  span: TimeSpan;
}) {
  const { frames, height, group } = props;
  const { shown, show } = useFrame(frames, group);
  /** Rows pass in no known time. */
  const isTimed = props.axis !== 'rows';
  const video = useRef<HTMLVideoElement>(null);
  const atMs = shown?.frame.atMs ?? 0;
  const seek = (timeMs: number | null) => {
    const element = video.current;
    // One that plays moves the cursor, and is not moved by it.
    if (element === null || timeMs === null || !isTimed || !element.paused) return;
    const seconds = Math.max(0, (timeMs - atMs) / 1000);
    const at = Number.isFinite(element.duration) ? Math.min(seconds, element.duration) : seconds;
    if (Math.abs(element.currentTime - at) > 0.02) element.currentTime = at;
  };
  useEffect(() => group.listen(seek));
  if (shown === null) return <Placeholder rows={2} label="Loading the picture" />;
  const { frame, address } = shown;
  const style = { maxHeight: `${height}px` };
  return (
    <figure class="media">
      {address === null && <p class="faint plot-none">{shown.problem}</p>}
      {address !== null && frame.isVideo && (
        <video
          ref={video}
          key={address}
          src={address}
          style={style}
          aria-label={frame.title}
          controls
          muted
          playsInline
          onLoadedData={() => seek(group.cursorMs)}
          onTimeUpdate={(event) => {
            const { paused, currentTime } = event.currentTarget;
            if (!paused && isTimed) group.moveCursor(frame.atMs + currentTime * 1000, props.span);
          }}
        />
      )}
      {address !== null && !frame.isVideo && <img src={address} style={style} alt={frame.title} />}
      <Caption frames={frames} frame={frame} show={show} />
    </figure>
  );
}

function Caption(props: { frames: readonly Frame[]; frame: Frame; show: (frame: Frame) => void }) {
  const { frames, frame } = props;
  const place = frames.indexOf(frame);
  /** After the last one the first: a button that went dead would lose the focus. */
  const step = (label: string, icon: 'left' | 'right', by: number) => {
    const next = frames[(place + by + frames.length) % frames.length] ?? frame;
    return <IconButton label={label} icon={icon} onClick={() => props.show(next)} />;
  };
  return (
    <figcaption class="faint">
      {frame.title}
      {frames.length > 1 && (
        <>
          {` (${place + 1} of ${frames.length})`}
          {step('Previous picture', 'left', -1)}
          {step('Next picture', 'right', 1)}
        </>
      )}
    </figcaption>
  );
}

/**
 * What belongs to the cursor, or was chosen since the cursor reached it. While it is read, what was shown stays; what was left
 * meanwhile is not read.
 */
function useFrame(frames: readonly Frame[], group: ChartGroup) {
  const show = useRef((_frame: Frame) => {});
  const [shown, setShown] = useState<Shown | null>(null);
  useEffect(() => {
    const files = new KeptFiles();
    let wanted: Frame | null = null;
    let atCursor: Frame | null = null;
    let last: Frame | null = null;
    let isReading = false;
    let isEnded = false;
    const work = async () => {
      if (isReading) return;
      isReading = true;
      while (wanted !== null && wanted !== last) {
        last = wanted;
        const next = await shownOf(wanted, files);
        if (isEnded) return;
        setShown(next);
      }
      isReading = false;
    };
    show.current = (frame) => {
      wanted = frame;
      // A reading that was given up is of a panel that is gone.
      work().catch(() => undefined);
    };
    const follow = (timeMs: number | null) => {
      const found = frameAt(frames, timeMs);
      // Without a cursor what was shown last stays.
      if (found === null || found === atCursor || (timeMs === null && wanted !== null)) return;
      atCursor = found;
      show.current(found);
    };
    follow(group.cursorMs);
    const leave = group.listen(follow);
    return () => {
      isEnded = true;
      leave();
      files.end();
    };
  }, [frames, group]);
  return { shown, show: (frame: Frame) => show.current(frame) };
}

async function shownOf(frame: Frame, files: KeptFiles): Promise<Shown> {
  try {
    return { frame, address: await files.addressOf(frame), problem: '' };
  } catch (error) {
    if (isAbort(error)) throw error;
    return { frame, address: null, problem: textOf(error) };
  }
}
