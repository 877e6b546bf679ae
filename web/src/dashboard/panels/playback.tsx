import { useEffect, useRef, useState } from 'preact/hooks';
import { IconButton } from '../../ui/buttons.tsx';
import type { ChartGroup } from '../chart/group.ts';
import type { TimeSpan } from '../model.ts';

const speeds = [0.25, 1, 4, 16, 64];
const stepMs = 100;

/** Moves the cursor as time passes, at a speed, or by a step. */
export function Playback(props: { group: ChartGroup; span: TimeSpan }) {
  const [speed, setSpeed] = useState(1);
  const { isPlaying, setIsPlaying, step } = usePlayback(props.group, props.span, speed);
  return (
    <span class="playback">
      <span class="button-set">
        <IconButton
          kind="tool"
          label="Step back"
          title="0.1 s back"
          icon="left"
          onClick={() => step(-stepMs)}
        />
        <button
          type="button"
          class="button button-small"
          aria-pressed={isPlaying}
          onClick={() => setIsPlaying(!isPlaying)}
        >
          {isPlaying ? 'Pause' : 'Play'}
        </button>
        <IconButton kind="tool" label="Step on" title="0.1 s on" icon="right" onClick={() => step(stepMs)} />
      </span>
      <select
        class="select"
        aria-label="Playback speed"
        value={String(speed)}
        onChange={(event) => setSpeed(Number(event.currentTarget.value))}
      >
        {speeds.map((one) => (
          <option key={one} value={String(one)}>{`${one}×`}</option>
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
