import { useEffect, useRef, useState } from 'preact/hooks';
import { IconButton } from '../../ui/buttons.tsx';
import type { ChartGroup } from '../chart/group.ts';
import type { TimeSpan } from '../model.ts';

const ofTime = {
  speeds: [0.25, 1, 4, 16, 64].map((speed) => ({ speed, label: `${speed}×` })),
  first: 1,
  step: 100,
  stepped: '0.1 s',
};
/** A row has the place of a millisecond. */
const ofRows = {
  speeds: [1, 10, 100, 1000].map((rows) => ({
    speed: rows / 1000,
    label: rows === 1 ? '1 row/s' : `${rows} rows/s`,
  })),
  first: 0.01,
  step: 1,
  stepped: '1 row',
};

/** Moves the cursor as time passes, at a speed, or by a step. */
export function Playback(props: { group: ChartGroup; span: TimeSpan; hasRows: boolean }) {
  const of = props.hasRows ? ofRows : ofTime;
  const [chosen, setSpeed] = useState<number | null>(null);
  const speed = of.speeds.find((one) => one.speed === chosen)?.speed ?? of.first;
  const { isPlaying, setIsPlaying, step } = usePlayback(props.group, props.span, speed);
  return (
    <span class="playback">
      <span class="button-set">
        <IconButton
          kind="tool"
          label="Step back"
          title={`${of.stepped} back`}
          icon="left"
          onClick={() => step(-of.step)}
        />
        <button
          type="button"
          class="button button-small"
          aria-pressed={isPlaying}
          onClick={() => setIsPlaying(!isPlaying)}
        >
          {isPlaying ? 'Pause' : 'Play'}
        </button>
        <IconButton
          kind="tool"
          label="Step on"
          title={`${of.stepped} on`}
          icon="right"
          onClick={() => step(of.step)}
        />
      </span>
      <select
        class="select"
        aria-label="Playback speed"
        value={String(speed)}
        onChange={(event) => setSpeed(Number(event.currentTarget.value))}
      >
        {of.speeds.map((one) => (
          <option key={one.speed} value={String(one.speed)}>
            {one.label}
          </option>
        ))}
      </select>
    </span>
  );
}

/** The cursor of a group of charts within a span, moved in each frame while it plays. */
function usePlayback(group: ChartGroup, span: TimeSpan, speed: number) {
  const [isPlaying, setIsPlaying] = useState(false);
  const live = useRef({ span, speed });
  live.current = { span, speed };
  /** The exact time: charts round it to a pixel, which steps and frames are shorter than. */
  const head = useRef<number | null>(null);
  const from = () => {
    const { fromMs, toMs } = live.current.span;
    const shown = group.cursorMs ?? head.current ?? fromMs;
    const isOwn = head.current !== null && Math.abs(shown - head.current) < (toMs - fromMs) / 200;
    return isOwn && head.current !== null ? head.current : shown;
  };
  const move = (timeMs: number) => {
    const { fromMs, toMs } = live.current.span;
    head.current = Math.min(toMs, Math.max(fromMs, timeMs));
    group.moveCursor(head.current, live.current.span);
  };
  const step = (by: number) => move(from() + by);
  useEffect(() => {
    if (!isPlaying) return;
    let last = performance.now();
    const { fromMs, toMs } = live.current.span;
    const at = from();
    head.current = at >= toMs ? fromMs : at;
    let frame = 0;
    const advance = (now: number) => {
      const next = (head.current ?? fromMs) + (now - last) * live.current.speed;
      last = now;
      move(next);
      if (next >= live.current.span.toMs) setIsPlaying(false);
      else frame = requestAnimationFrame(advance);
    };
    frame = requestAnimationFrame(advance);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, group]);
  return { isPlaying, setIsPlaying, step };
}
