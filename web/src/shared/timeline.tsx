import { useState } from 'preact/hooks';
import type { TimeSpan } from '../dashboard/model.ts';
import { clampSpan, panSpan, zoomSpan } from '../dashboard/time.ts';
import { plural } from '../format.ts';
import { IconButton } from '../ui/buttons.tsx';
import { Icon } from '../ui/icon.tsx';
import type { Participant, SharedWindow } from './model.ts';
import { barOf, personLabel, placeOf, wholeSpan } from './model.ts';
import { momentText, spanText, tickLabel, ticksOf } from './ticks.ts';

const maxTicks = 8;

/**
 * Windows of shared sessions on one time axis, each with a line for every participant. The drawing is also given as
 * text; the axis is moved by buttons, and by the keys of a dashboard's charts.
 */
export function Timeline(props: {
  windows: SharedWindow[];
  /** Rows that show their participants from the start. */
  open?: boolean;
  /** Null: everything. */
  span: TimeSpan | null;
  onSpan: (span: TimeSpan | null) => void;
  /** Whether rows lead to their sessions. */
  links?: boolean;
}) {
  const whole = wholeSpan(props.windows);
  if (whole === null) return null;
  const span = props.span === null ? whole : clampSpan(props.span, whole);
  const set = (next: TimeSpan) => {
    const isWhole = next.fromMs <= whole.fromMs && next.toMs >= whole.toMs;
    props.onSpan(isWhole ? null : next);
  };
  const moves: Moves = {
    zoom: (factor) => set(zoomSpan(span, factor, (span.fromMs + span.toMs) / 2, whole)),
    pan: (part) => set(panSpan(span, part, whole)),
    reset: () => props.onSpan(null),
  };
  return (
    <section class="timeline" aria-label="Timeline">
      <TimelineHead span={span} zoomed={props.span !== null} moves={moves} />
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys, so it must be reachable by them
        tabIndex={0}
        aria-label="Windows. Arrow keys move the axis, plus and minus zoom, Escape shows everything."
        class="timeline-body"
        onKeyDown={(event) => {
          if (event.target === event.currentTarget && byKey(event.key, moves)) event.preventDefault();
        }}
      >
        <Axis span={span} />
        <ul class="timeline-rows">
          {props.windows.map((one) => (
            <WindowRow
              key={one.sessionId}
              window={one}
              span={span}
              open={props.open === true}
              link={props.links !== false}
            />
          ))}
        </ul>
      </section>
    </section>
  );
}

interface Moves {
  zoom: (factor: number) => void;
  pan: (part: number) => void;
  reset: () => void;
}

/** True when the key moves the axis. */
function byKey(key: string, moves: Moves): boolean {
  const work: Record<string, () => void> = {
    ArrowLeft: () => moves.pan(-0.25),
    ArrowRight: () => moves.pan(0.25),
    '+': () => moves.zoom(0.5),
    '=': () => moves.zoom(0.5),
    '-': () => moves.zoom(2),
    Escape: () => moves.reset(),
    '0': () => moves.reset(),
  };
  work[key]?.();
  return work[key] !== undefined;
}

function TimelineHead(props: { span: TimeSpan; zoomed: boolean; moves: Moves }) {
  const { moves, zoomed } = props;
  const tools = [
    { icon: 'left', label: 'Earlier', disabled: !zoomed, onClick: () => moves.pan(-0.5) },
    { icon: 'right', label: 'Later', disabled: !zoomed, onClick: () => moves.pan(0.5) },
    { icon: 'plus', label: 'Zoom in', disabled: false, onClick: () => moves.zoom(0.5) },
    { icon: 'minus', label: 'Zoom out', disabled: !zoomed, onClick: () => moves.zoom(2) },
  ] as const;
  return (
    <div class="timeline-head">
      <span class="timeline-span" aria-live="polite">
        {spanText(props.span)}
      </span>
      <div class="actions" role="toolbar" aria-label="Time axis">
        {tools.map((tool) => (
          <IconButton key={tool.label} kind="tool" {...tool} />
        ))}
        <button type="button" class="button button-small" disabled={!zoomed} onClick={moves.reset}>
          <Icon name="reset" />
          Reset zoom
        </button>
      </div>
    </div>
  );
}

function Axis({ span }: { span: TimeSpan }) {
  const { stepMs, times } = ticksOf(span, maxTicks);
  return (
    <div class="timeline-axis" aria-hidden="true">
      <div class="timeline-lane">
        {times.map((time) => (
          <span key={time} class="timeline-tick" style={{ left: `${placeOf(time, span)}%` }}>
            {tickLabel(time, stepMs)}
          </span>
        ))}
      </div>
    </div>
  );
}

function WindowRow(props: { window: SharedWindow; span: TimeSpan; open: boolean; link: boolean }) {
  const { window: one, span } = props;
  const [open, setOpen] = useState(props.open);
  const facts = [
    one.status,
    plural(one.participants.length, 'participant', 'participants'),
    one.machineGroup === null ? null : `machine group ${one.machineGroup}`,
  ];
  return (
    <li class={`timeline-row timeline-${one.status}`}>
      <div class="timeline-text">
        {props.link ? <a href={`/sessions/${one.sessionId}`}>{one.name}</a> : <strong>{one.name}</strong>}
        <div class="faint">{facts.filter((fact) => fact !== null).join(' · ')}</div>
        <div class="visually-hidden">
          Window from {momentText(one.startMs)} to {momentText(one.endMs)}
          {one.closedMs === null ? '' : `, closed at ${momentText(one.closedMs)}`}
        </div>
        {one.participants.length > 0 && (
          <button
            type="button"
            class="link-button timeline-more"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {open ? 'Hide participants' : 'Show participants'}
            <span class="visually-hidden"> of {one.name}</span>
          </button>
        )}
      </div>
      <WindowLane window={one} span={span} />
      {open && (
        <ul class="timeline-people" aria-label={`Participants of ${one.name}`}>
          {one.participants.map((participant) => (
            <PersonRow
              key={participant.id}
              participant={participant}
              seconds={one.windowSeconds}
              span={span}
            />
          ))}
        </ul>
      )}
    </li>
  );
}

/** The window as a bar, with marks where its participants began and where it was closed. */
function WindowLane({ window: one, span }: { window: SharedWindow; span: TimeSpan }) {
  const bar = barOf(one.startMs, one.endMs, span);
  const closed = placeOf(one.closedMs, span);
  return (
    <div class="timeline-lane" aria-hidden="true">
      <Grid span={span} />
      {bar !== null && (
        <span
          class="timeline-bar"
          style={{ left: `${bar.left}%`, width: `${bar.width}%` }}
          title={spanText({ fromMs: one.startMs, toMs: one.endMs })}
        />
      )}
      {one.participants.map((participant) => {
        const at = placeOf(participant.startMs, span);
        return at === null ? null : (
          <span key={participant.id} class="timeline-mark" style={{ left: `${at}%` }} />
        );
      })}
      {closed !== null && <span class="timeline-end" style={{ left: `${closed}%` }} title="Closed" />}
      {bar === null && <span class="timeline-away">{one.endMs <= span.fromMs ? '◀' : '▶'}</span>}
    </div>
  );
}

function PersonRow(props: { participant: Participant; seconds: number; span: TimeSpan }) {
  const { participant, span } = props;
  const { startMs, joinedMs } = participant;
  const bar = startMs === null ? null : barOf(startMs, startMs + props.seconds * 1000, span);
  const joined = placeOf(joinedMs, span);
  return (
    <li class="timeline-person">
      <div class="timeline-text">
        <span class="timeline-name" title={participant.id}>
          {personLabel(participant)}
        </span>
        <div class="faint">{startMs === null ? 'no capture time' : `from ${momentText(startMs)}`}</div>
        {joinedMs !== null && <div class="faint">joined {momentText(joinedMs)}</div>}
      </div>
      <div class="timeline-lane" aria-hidden="true">
        <Grid span={span} />
        {bar !== null && (
          <span
            class="timeline-bar timeline-bar-person"
            style={{ left: `${bar.left}%`, width: `${bar.width}%` }}
          />
        )}
        {joined !== null && <span class="timeline-mark" style={{ left: `${joined}%` }} title="Joined" />}
      </div>
    </li>
  );
}

function Grid({ span }: { span: TimeSpan }) {
  return (
    <>
      {ticksOf(span, maxTicks).times.map((time) => (
        <span key={time} class="timeline-line" style={{ left: `${placeOf(time, span)}%` }} />
      ))}
    </>
  );
}
