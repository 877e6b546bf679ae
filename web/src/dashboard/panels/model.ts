/** The panels of a layout over the channels of a dashboard. Pure: tested without a browser. */
import type { ChannelSeries, NewLayout } from '../../../../client/types.ts';
import { sampleAt } from '../chart/curve.ts';
import type { Channel, Panel } from '../model.ts';

/** As the platform stores it, with defaults filled in. */
type Whole<Form> = { [Name in keyof Form]-?: Exclude<Form[Name], undefined> };
type Given = NewLayout['layout'];
export type PanelForm = Whole<Given['panels'][number]>;
export type LayoutForm = Omit<Whole<Given>, 'panels'> & { readonly panels: readonly PanelForm[] };
export type PanelKind = PanelForm['kind'];

export const kindNames: Readonly<Record<PanelKind, string>> = {
  lines: 'Lines',
  xy: 'XY',
  histogram: 'Histogram',
  track: 'Track',
  table: 'Table at the cursor',
  media: 'Picture or video',
  text: 'Text',
};

/** The platform has filled in defaults, except those of outputs and texts. */
export function readForm(layout: object): LayoutForm {
  const form = layout as LayoutForm;
  return {
    ...form,
    panels: form.panels.map((panel) => ({ ...panel, output: panel.output ?? '', text: panel.text ?? '' })),
  };
}

/** The most characters of a text panel, counted as the platform does except for characters of two units. */
export const maxCharacters = 4000;

export const hasChannels = (kind: PanelKind) => kind !== 'media' && kind !== 'text';

/** Channels of a panel. */
export const minChannels = (kind: PanelKind) =>
  !hasChannels(kind) ? 0 : kind === 'xy' || kind === 'track' ? 2 : 1;

/** As the platform takes it. */
export const storedForm = (form: LayoutForm): Given => ({
  ...form,
  panels: form.panels.map(({ output, text, ...panel }) => ({
    ...panel,
    ...(output === '' ? {} : { output }),
    ...(text === '' ? {} : { text }),
  })),
});

export function newPanel(kind: PanelKind, channels: string[]): PanelForm {
  return {
    kind,
    title: '',
    channels,
    output: '',
    text: '',
    width: kind === 'lines' ? 12 : 6,
    height: kind === 'text' ? 160 : 240,
  };
}

/** What a dashboard shows already, as a layout. */
export function formOf(panels: readonly Panel[]): LayoutForm {
  return {
    version: 1,
    x: null,
    split: null,
    derived: [],
    panels: panels.map(({ title, channels }) => ({
      ...newPanel('lines', [...new Set(channels.map(({ name }) => name))]),
      title,
    })),
  };
}

/** The channels that a name or key of a layout stands for; derived ones are made for this. */
export function channelsNamed(
  name: string,
  channels: readonly Channel[],
  derived: LayoutForm['derived'],
): Channel[] {
  const own = derived.find((one) => `=${one.name}` === name);
  const [like] = channels;
  if (own !== undefined && like !== undefined)
    return [{ ...like, key: name, id: name, name: own.name, unit: own.unit ?? '', kind: 'number' }];
  return channels.filter((channel) => channel.key === name || channel.name === name);
}

/** The keys of channels of some panels that are not derived. */
export function storedKeys({ panels }: Pick<LayoutForm, 'panels'>, channels: readonly Channel[]): string[] {
  const found = panels.flatMap((panel) =>
    panel.channels.flatMap((name) => channelsNamed(name, channels, [])),
  );
  return [...new Set(found.map(({ key }) => key))];
}

/** The derived channels that some panels draw. */
export const derivedOf = (
  { panels }: Pick<LayoutForm, 'panels'>,
  derived: LayoutForm['derived'],
): LayoutForm['derived'] =>
  derived.filter(({ name }) => panels.some(({ channels }) => channels.includes(`=${name}`)));

export interface Drawn {
  /** The keys of stored channels. */
  readonly keys: readonly string[];
  readonly derived: LayoutForm['derived'];
}

export const drawnBy = (form: LayoutForm, channels: readonly Channel[]): Drawn => ({
  keys: storedKeys(form, channels),
  derived: derivedOf(form, form.derived),
});

/** A title without one of its own: the names of its channels or outputs. */
export function titleOf(
  form: PanelForm,
  channels: readonly Channel[],
  derived: LayoutForm['derived'],
): string {
  if (form.kind === 'media') return form.title || form.output || 'Pictures and video';
  if (form.kind === 'text') return form.title || 'Notes';
  const members = form.channels.flatMap((name) => channelsNamed(name, channels, derived));
  return form.title || [...new Set(members.map(({ name }) => name))].join(', ') || form.channels.join(', ');
}

/** A panel of curves over time, as the charts take it. */
export function panelOf(form: PanelForm, index: number, members: Channel[]): Panel {
  const units = new Set(members.map(({ unit }) => unit));
  const names = [...new Set(members.map(({ name }) => name))];
  return {
    id: `layout-${index}`,
    title: form.title || names.join(', '),
    unit: units.size === 1 ? [...units][0]! : '',
    channels: members,
  };
}

/** `power (derived)` of `=power`: a channel of a layout as people read it. */
export const shownName = (name: string) => (name.startsWith('=') ? `${name.slice(1)} (derived)` : name);

export function withPanel(form: LayoutForm, index: number, change: Partial<PanelForm>): LayoutForm {
  return {
    ...form,
    panels: form.panels.map((panel, at) => (at === index ? { ...panel, ...change } : panel)),
  };
}

/** Without a derived channel, and without the panels that would have too few channels then. */
export function withoutDerived(form: LayoutForm, name: string): LayoutForm {
  const key = `=${name}`;
  const panels = form.panels
    .map((panel) => ({ ...panel, channels: panel.channels.filter((channel) => channel !== key) }))
    .filter(({ kind, channels }) => channels.length >= minChannels(kind));
  const derived = form.derived.filter((one) => one.name !== name);
  return { ...form, derived, panels, x: form.x === key ? null : form.x };
}

/** The panel at one place is moved to another. */
export function placed(form: LayoutForm, from: number, to: number): LayoutForm {
  const panels = [...form.panels];
  const [panel] = panels.splice(from, 1);
  if (panel !== undefined) panels.splice(to, 0, panel);
  return { ...form, panels };
}

/** Two panels of curves as one. */
export function merged(form: LayoutForm, index: number): LayoutForm {
  const [panel, next] = form.panels.slice(index, index + 2);
  if (panel === undefined || next === undefined) return form;
  const one = { ...panel, title: '', channels: [...new Set([...panel.channels, ...next.channels])] };
  return { ...form, panels: [...form.panels.slice(0, index), one, ...form.panels.slice(index + 2)] };
}

/** A panel for each of its channels. */
export function separated(form: LayoutForm, index: number): LayoutForm {
  return {
    ...form,
    panels: form.panels.flatMap((panel, at) =>
      at === index
        ? panel.channels.map((channel) => ({ ...panel, title: '', channels: [channel] }))
        : [panel],
    ),
  };
}

export interface Trace {
  readonly name: string;
  readonly xs: readonly number[];
  readonly ys: readonly (number | null)[];
  readonly times: readonly number[];
}

const numberOf = (value: unknown): number | null => {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
};

/** One channel over another of another recording, by the time: only where that recording has a value. */
export function pair(
  across: { readonly series: ChannelSeries; readonly channel: Channel },
  up: ChannelSeries,
  name: string,
): Trace {
  const xs: number[] = [];
  const ys: (number | null)[] = [];
  const times: number[] = [];
  for (const [place, time] of up.times.entries()) {
    const x = numberOf(sampleAt(across.series, across.channel, time));
    if (x === null) continue;
    xs.push(x);
    ys.push(numberOf(up.values[place]));
    times.push(time);
  }
  return { name, xs, ys, times };
}

/** One channel over another of the same rows. */
export function pairRows(across: ChannelSeries, up: ChannelSeries, name: string): Trace {
  const drawn = across.values.map(numberOf);
  const kept = [...drawn.keys()].filter((row) => drawn[row] !== null);
  const pick = <Item>(items: readonly Item[]) => kept.map((row) => items[row] as Item);
  return { name, xs: pick(drawn as number[]), ys: pick(up.values.map(numberOf)), times: pick(up.times) };
}

/**
 * A series with `x` or of one trace, over it or over the time since the trace began.
 * @param split the channel with a trace for each of its values: `lap 2`, of several channels `speed, lap 2`
 */
export function traceOf(series: ChannelSeries, split: string | null, isOnly: boolean, unitMs: number): Trace {
  const start = series.trace === undefined ? 0 : Date.parse(series.trace.from);
  const part = series.trace === undefined ? '' : `${split ?? ''} ${String(series.trace.value)}`.trim();
  const name = part === '' ? series.name : isOnly ? part : `${series.name}, ${part}`;
  const xs = series.x ?? series.times.map((time) => (time - start) / unitMs);
  return { name, xs, ys: series.values.map(numberOf), times: series.times };
}

export interface Scale {
  readonly min: number;
  readonly max: number;
}

/** The range of some numbers; one number gets air around it. Null without any. */
export function scaleOf(lists: readonly (readonly (number | null)[])[]): Scale | null {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const list of lists) {
    for (const value of list) {
      if (value === null) continue;
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  if (min > max) return null;
  return min === max ? { min: min - 0.5, max: max + 0.5 } : { min, max };
}

const bins = 16;

/**
 * Derived channels that are 1 where a value is beyond an edge between two bins: their means, counted over every row, are the
 * shares above the edges. Each names the channel once: all expressions of a question have a bound together.
 */
export function edgeQuestion(channel: string, derived: LayoutForm['derived'], { min, max }: Scale) {
  const own = derived.find((one) => `=${one.name}` === channel);
  const named = own === undefined ? `"${channel.replaceAll('"', '""')}"` : `(${own.expression})`;
  return Array.from({ length: bins - 1 }, (_, index) => {
    const edge = min + ((max - min) * (index + 1)) / bins;
    return { name: `edge ${index}`, unit: null, expression: `${named} >= (${edge})` };
  });
}

/** The share of each bin, of the shares above the edges between them. */
export function binShares(above: readonly number[]): number[] {
  const beyond = [1, ...above, 0];
  return beyond.slice(1).map((share, index) => Math.max(0, beyond[index]! - share));
}

/** Latitude and longitude among the channels, as recordings name them; none when one is missing. */
export function placeChannels(names: readonly string[]): string[] {
  const found = [/^(gps[ _.]?)?lat(itude)?$/i, /^(gps[ _.]?)?(lon|lng|long|longitude)$/i].map((pattern) =>
    names.find((name) => pattern.test(name)),
  );
  return found.every((name) => name !== undefined) ? found : [];
}
