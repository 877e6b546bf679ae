/** Reads a layout that was not checked by the platform. Pure: tested without a browser. */
import {
  kindNames,
  type LayoutForm,
  maxCharacters,
  minChannels,
  type PanelForm,
  type PanelKind,
} from './model.ts';

/** As the platform limits them. */
export const most = { panels: 50, channels: 64, derived: 16, characters: 1000 };

type Fields = Readonly<Record<string, unknown>>;

/** @throws {TypeError} for what is no layout */
export function checkedForm(value: unknown): LayoutForm {
  const form = fields(value);
  if (form.version !== 1) throw new TypeError('It is of another version.');
  return {
    version: 1,
    x: textOrNull(form.x),
    split: textOrNull(form.split),
    derived: list(form.derived, most.derived).map((one) => {
      const { name, unit, expression } = fields(one);
      return { name: text(name), unit: textOrNull(unit), expression: text(expression) };
    }),
    panels: list(form.panels, most.panels).map(panelOf),
  };
}

function panelOf(value: unknown): PanelForm {
  const { kind, title, channels, output, text: words, width, height } = fields(value);
  const names = list(channels, most.channels).map((name) => text(name));
  if (!Object.hasOwn(kindNames, text(kind)) || names.length < minChannels(kind as PanelKind))
    throw new TypeError('It has an unknown panel.');
  return {
    kind: kind as PanelKind,
    title: text(title),
    channels: names,
    output: output === undefined ? '' : text(output),
    text: words === undefined ? '' : text(words, maxCharacters),
    width: whole(width, 1, 12),
    height: whole(height, 80, 2000),
  };
}

function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new TypeError('It is no object.');
  return value as Fields;
}

function list(value: unknown, longest: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length > longest) throw new TypeError('It is no list, or too long.');
  return value;
}

function text(value: unknown, longest = most.characters): string {
  if (typeof value !== 'string' || value.length > longest) throw new TypeError('It is no text.');
  return value;
}

const textOrNull = (value: unknown) => (value === null || value === undefined ? null : text(value));

function whole(value: unknown, least: number, greatest: number): number {
  const isWithin = Number.isInteger(value) && (value as number) >= least && (value as number) <= greatest;
  if (!isWithin) throw new TypeError('It is no size.');
  return value as number;
}
