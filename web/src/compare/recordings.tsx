import { useRef } from 'preact/hooks';
import { Swatch } from '../dashboard/chart/head.tsx';
import type { TimeSpan } from '../dashboard/model.ts';
import { IconButton } from '../ui/buttons.tsx';
import { Icon } from '../ui/icon.tsx';
import type { Recording } from './model.ts';

/** A chip for each recording: whether it is drawn, its colour, and its offset, to type or to drag. */
export function Recordings(props: {
  recordings: readonly Recording[];
  shown: readonly Recording[];
  offsets: ReadonlyMap<string, number>;
  span: TimeSpan;
  onHidden: (ids: string[]) => void;
  onOffset: (id: string, ms: number) => void;
  onRemove: (dashboardId: number) => void;
}) {
  const { recordings, shown } = props;
  const isShown = new Set(shown.map(({ id }) => id));
  return (
    <ul class="recordings" aria-label="Recordings">
      {recordings.map((recording) => (
        <RecordingChip
          key={recording.id}
          recording={recording}
          isShown={isShown.has(recording.id)}
          ms={props.offsets.get(recording.id) ?? 0}
          span={props.span}
          onShown={(on) => {
            const stays = ({ id }: Recording) => (id === recording.id ? on : isShown.has(id));
            props.onHidden(recordings.filter((one) => !stays(one)).map(({ id }) => id));
          }}
          onOffset={(ms) => props.onOffset(recording.id, ms)}
          onRemove={() => props.onRemove(recording.dashboardId)}
        />
      ))}
    </ul>
  );
}

function RecordingChip(props: {
  recording: Recording;
  isShown: boolean;
  /** The time by which it is moved. */
  ms: number;
  span: TimeSpan;
  onShown: (on: boolean) => void;
  onOffset: (ms: number) => void;
  onRemove: () => void;
}) {
  const { id, title, colour, sessionId, hasRowNumbers } = props.recording;
  return (
    <li class="recording" data-recording={id}>
      <label class="recording-name">
        <input
          type="checkbox"
          checked={props.isShown}
          onChange={(event) => props.onShown(event.currentTarget.checked)}
        />
        <Swatch index={colour} />
        <span>{title}</span>
      </label>
      <Offset
        title={title}
        unit={hasRowNumbers ? rowUnit : secondUnit}
        ms={props.ms}
        span={props.span}
        onOffset={props.onOffset}
      />
      <a
        class="button button-icon"
        href={`/sessions/${sessionId}`}
        aria-label={`Session of ${title}`}
        title="Open the session"
      >
        <Icon name="sessions" />
      </a>
      <IconButton
        icon="cross"
        label={`Remove ${title}`}
        title="Remove from the comparison"
        onClick={props.onRemove}
      />
    </li>
  );
}

interface Unit {
  readonly name: string;
  readonly sign: string;
  readonly ms: number;
  readonly step: string;
}

const secondUnit: Unit = { name: 'seconds', sign: 's', ms: 1000, step: '0.1' };
const rowUnit: Unit = { name: 'rows', sign: 'rows', ms: 1, step: '1' };

/** Seconds or rows by which a recording is moved. The handle moves it as far as it is dragged. */
function Offset(props: {
  title: string;
  unit: Unit;
  ms: number;
  span: TimeSpan;
  onOffset: (ms: number) => void;
}) {
  const drag = useRef<{ x: number; ms: number; msPerPixel: number } | null>(null);
  const begin = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const width = document.querySelector('.chart .u-over')?.clientWidth ?? 0;
    if (event.button !== 0 || width === 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = {
      x: event.clientX,
      ms: props.ms,
      msPerPixel: (props.span.toMs - props.span.fromMs) / width,
    };
  };
  return (
    <span class="recording-offset">
      <span
        class="recording-handle"
        title="Drag to move this recording in time"
        aria-hidden="true"
        onPointerDown={begin}
        onPointerMove={(event) => {
          if (drag.current === null) return;
          const { x, ms, msPerPixel } = drag.current;
          props.onOffset(Math.round(ms + (event.clientX - x) * msPerPixel));
        }}
        onPointerUp={() => {
          drag.current = null;
        }}
        onPointerCancel={() => {
          drag.current = null;
        }}
      >
        ⇔
      </span>
      <OffsetField title={props.title} unit={props.unit} ms={props.ms} onOffset={props.onOffset} />
      <span class="faint">{props.unit.sign}</span>
    </span>
  );
}

function OffsetField(props: { title: string; unit: Unit; ms: number; onOffset: (ms: number) => void }) {
  const { unit } = props;
  return (
    <input
      type="number"
      step={unit.step}
      class="offset-field"
      aria-label={`Offset of ${props.title} in ${unit.name}`}
      value={props.ms / unit.ms}
      onChange={(event) => {
        const count = event.currentTarget.valueAsNumber;
        props.onOffset(Number.isFinite(count) ? Math.round(count * unit.ms) : 0);
      }}
    />
  );
}
