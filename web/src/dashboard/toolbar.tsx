import type { ComponentChildren, Ref } from 'preact';
import { useState } from 'preact/hooks';
import type { IconName } from '../ui/icon.tsx';
import { Icon } from '../ui/icon.tsx';
import type { Clock } from './address.ts';
import type { TimeKind, TimeSpan } from './model.ts';
import { formatSpan } from './time.ts';

export interface ToolbarProps {
  span: TimeSpan;
  full: TimeSpan;
  originMs: number;
  clock: Clock;
  kind: TimeKind;
  kinds: TimeKind[];
  busy: boolean;
  zoomed: boolean;
  cursorLabel: Ref<HTMLSpanElement>;
  onZoom: (factor: number) => void;
  onPan: (part: number) => void;
  onReset: () => void;
  onClock: (clock: Clock) => void;
  onKind: (kind: TimeKind) => void;
  /** Null when there are no machines to compare. */
  sideBySide: boolean | null;
  onSideBySide: (sideBySide: boolean) => void;
  /** Further tools. */
  children?: ComponentChildren;
}

/** The shared time axis: the range, the cursor, and the controls to move. Stays in sight while scrolling. */
export function Toolbar(props: ToolbarProps) {
  const length = props.full.toMs - props.full.fromMs;
  const atStart = props.span.fromMs <= props.full.fromMs;
  const atEnd = props.span.toMs >= props.full.toMs;
  return (
    <div class="toolbar" role="toolbar" aria-label="Time axis">
      <div class="toolbar-row">
        <div class="toolbar-range">
          <span class="toolbar-span">{formatSpan(props.span, props.clock, props.originMs)}</span>
          <span class="toolbar-cursor" ref={props.cursorLabel} aria-hidden="true" />
        </div>
        <div class="toolbar-tools">
          <ButtonSet>
            <Tool icon="left" label="Earlier" disabled={atStart} onClick={() => props.onPan(-0.5)} />
            <Tool icon="right" label="Later" disabled={atEnd} onClick={() => props.onPan(0.5)} />
            <Tool icon="plus" label="Zoom in" onClick={() => props.onZoom(0.5)} />
            <Tool icon="minus" label="Zoom out" disabled={!props.zoomed} onClick={() => props.onZoom(2)} />
          </ButtonSet>
          <button type="button" class="button button-small" disabled={!props.zoomed} onClick={props.onReset}>
            <Icon name="reset" />
            Reset zoom
          </button>
          {props.kinds.length > 1 && (
            <label class="toolbar-choice">
              <span class="visually-hidden">Recordings shown</span>
              <select
                class="select"
                value={props.kind}
                onChange={(event) =>
                  props.onKind(event.currentTarget.value === 'relative' ? 'relative' : 'absolute')
                }
              >
                <option value="absolute">Clock time recordings</option>
                <option value="relative">Elapsed time recordings</option>
              </select>
            </label>
          )}
          {props.kind === 'absolute' && (
            <label class="toolbar-choice">
              <span class="visually-hidden">Time format</span>
              <select
                class="select"
                value={props.clock}
                onChange={(event) => props.onClock(event.currentTarget.value as Clock)}
              >
                <option value="utc">UTC</option>
                <option value="local">Local time</option>
                <option value="elapsed">Elapsed</option>
              </select>
            </label>
          )}
          {props.sideBySide !== null && (
            <button
              type="button"
              class="button button-small"
              aria-pressed={props.sideBySide}
              onClick={() => props.onSideBySide(props.sideBySide !== true)}
            >
              <Icon name="columns" />
              Side by side
            </button>
          )}
          {props.children}
          <CopyLink />
        </div>
      </div>
      <svg class="overview" viewBox="0 0 1000 4" preserveAspectRatio="none" aria-hidden="true">
        <rect class="overview-all" width="1000" height="4" />
        <rect
          class="overview-part"
          x={((props.span.fromMs - props.full.fromMs) / length) * 1000}
          width={Math.max(3, ((props.span.toMs - props.span.fromMs) / length) * 1000)}
          height="4"
        />
      </svg>
      <div class={props.busy ? 'loading-bar loading-bar-on' : 'loading-bar'} />
    </div>
  );
}

function ButtonSet(props: { children: ComponentChildren }) {
  return <div class="button-set">{props.children}</div>;
}

function Tool(props: { icon: IconName; label: string; disabled?: boolean; onClick: () => void }) {
  return (
    <button
      type="button"
      class="button button-small button-tool"
      aria-label={props.label}
      title={props.label}
      disabled={props.disabled === true}
      onClick={props.onClick}
    >
      <Icon name={props.icon} />
    </button>
  );
}

/** The address holds the whole view. Browsers allow the clipboard only on https and on localhost. */
function CopyLink() {
  const [copied, setCopied] = useState(false);
  const clipboard = (navigator as { clipboard?: Clipboard }).clipboard;
  if (clipboard === undefined) return null;
  return (
    <button
      type="button"
      class="button button-small"
      onClick={() => {
        clipboard
          .writeText(window.location.href)
          .then(() => setCopied(true))
          .catch(() => setCopied(false));
        window.setTimeout(() => setCopied(false), 2000);
      }}
    >
      <Icon name={copied ? 'check' : 'link'} />
      <span role="status">{copied ? 'Copied' : 'Copy link'}</span>
    </button>
  );
}
