import type { ComponentChildren } from 'preact';
import { IconButton } from '../ui/buttons.tsx';
import { useCopy } from '../ui/copy-button.tsx';
import { Icon } from '../ui/icon.tsx';
import type { ChosenClock } from './address.ts';
import type { TimeKind } from './model.ts';
import { formatSpan } from './time.ts';
import type { TimeAxis } from './time-axis.ts';

interface ToolbarProps {
  axis: TimeAxis;
  /** Values are being read. */
  busy: boolean;
  kind: TimeKind;
  kinds: readonly TimeKind[];
  /** Null when there are no machines to compare. */
  sideBySide: boolean | null;
  /** Further tools. */
  children?: ComponentChildren;
}

/** The shared time axis: the range, the cursor, and the controls to move. Stays in sight while scrolling. */
export function Toolbar(props: ToolbarProps) {
  const { span, full, originMs, clock, cursorLabel } = props.axis;
  const length = full.toMs - full.fromMs;
  return (
    <div class="toolbar" role="toolbar" aria-label="Time axis">
      <div class="toolbar-row">
        <div class="toolbar-range">
          <span class="toolbar-span">{formatSpan(span, clock, originMs)}</span>
          <span class="toolbar-cursor" ref={cursorLabel} aria-hidden="true" />
        </div>
        <div class="toolbar-tools">
          <Moves axis={props.axis} />
          {props.kinds.length > 1 && <KindChoice {...props} />}
          {props.kind === 'absolute' && <ClockChoice axis={props.axis} />}
          {props.sideBySide !== null && (
            <button
              type="button"
              class="button button-small"
              aria-pressed={props.sideBySide}
              onClick={() =>
                props.axis.change(
                  { sideBySide: props.sideBySide !== true, machines: null, beside: [] },
                  false,
                )
              }
            >
              <Icon name="columns" />
              Side by side
            </button>
          )}
          {props.children}
          <CopyLink />
        </div>
      </div>
      <svg class="time-strip" viewBox="0 0 1000 4" preserveAspectRatio="none" aria-hidden="true">
        <rect class="time-strip-all" width="1000" height="4" />
        <rect
          class="time-strip-part"
          x={((span.fromMs - full.fromMs) / length) * 1000}
          width={Math.max(3, ((span.toMs - span.fromMs) / length) * 1000)}
          height="4"
        />
      </svg>
      <div class={props.busy ? 'loading-bar loading-bar-on' : 'loading-bar'} />
    </div>
  );
}

function Moves({ axis }: { axis: TimeAxis }) {
  const { span, full, isZoomed, moves } = axis;
  const zoom = (factor: number) => moves.zoom(factor, (span.fromMs + span.toMs) / 2);
  return (
    <>
      <div class="button-set">
        <IconButton
          kind="tool"
          icon="left"
          label="Earlier"
          disabled={span.fromMs <= full.fromMs}
          onClick={() => moves.pan(-0.5)}
        />
        <IconButton
          kind="tool"
          icon="right"
          label="Later"
          disabled={span.toMs >= full.toMs}
          onClick={() => moves.pan(0.5)}
        />
        <IconButton kind="tool" icon="plus" label="Zoom in" onClick={() => zoom(0.5)} />
        <IconButton kind="tool" icon="minus" label="Zoom out" disabled={!isZoomed} onClick={() => zoom(2)} />
      </div>
      <button type="button" class="button button-small" disabled={!isZoomed} onClick={moves.reset}>
        <Icon name="reset" />
        Reset zoom
      </button>
    </>
  );
}

function KindChoice({ axis, kind }: ToolbarProps) {
  return (
    <label class="toolbar-choice">
      <span class="visually-hidden">Recordings shown</span>
      <select
        class="select"
        value={kind}
        onChange={({ currentTarget }) =>
          axis.change(
            { kind: currentTarget.value === 'relative' ? 'relative' : 'absolute', span: null },
            false,
          )
        }
      >
        <option value="absolute">Clock time recordings</option>
        <option value="relative">Elapsed time recordings</option>
      </select>
    </label>
  );
}

function ClockChoice({ axis }: { axis: TimeAxis }) {
  return (
    <label class="toolbar-choice">
      <span class="visually-hidden">Time format</span>
      <select
        class="select"
        value={axis.clock}
        onChange={({ currentTarget }) => axis.change({ clock: currentTarget.value as ChosenClock }, true)}
      >
        <option value="utc">UTC</option>
        <option value="local">Local time</option>
        <option value="elapsed">Elapsed</option>
      </select>
    </label>
  );
}

/** The address holds the whole view. Browsers allow the clipboard only on https and on localhost. */
function CopyLink() {
  const { message, icon, copy } = useCopy();
  if ((navigator as { clipboard?: Clipboard }).clipboard === undefined) return null;
  return (
    <button type="button" class="button button-small" onClick={() => void copy(window.location.href)}>
      <Icon name={icon === 'copy' ? 'link' : icon} />
      <span aria-live="polite">{message || 'Copy link'}</span>
    </button>
  );
}
