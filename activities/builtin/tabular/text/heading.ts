/** What a heading says: a name and a unit. */
import { startOf } from '../../../../domain/text.ts';

export interface Heading {
  name: string;
  unit: string | null;
}

/** Words in parentheses that are not units. */
const noUnits = new Set(
  'adj adjusted avg average calc corr est est. filt filtered front gross ideal index left main max maximum mean meas median min minimum net new no old ratio raw rear ref right set std sum target test total true x y z'.split(
    ' ',
  ),
);
const longUnits =
  /^(?:seconds?|minutes?|hours?|days?|met(?:er|re)s?|degrees?|percent|celsius|fahrenheit|kelvin|volts?|amps?|amperes?|watts?|newtons?|pascals?|joules?|hertz|radians?|lit(?:er|re)s?|grams?|miles?|feet|inch(?:es)?|counts?|milliseconds?|microseconds?|nanoseconds?)$/i;

/** Name and unit of a heading such as `speed [m/s]` or `speed (m/s)`. */
export function readHeading(heading: string): Heading {
  const text = heading.replace(/\p{C}+/gu, ' ').trim();
  const bracket = /^(.*\S)\s*\[\s*([^[\]]{0,24})\]$/su.exec(text);
  // `accel[0]` names a part, not a unit.
  if (bracket !== null && !/^\s*\d+\s*$/.test(bracket[2] as string)) {
    return { name: bracket[1] as string, unit: readUnit(bracket[2] as string) };
  }
  const [, before = '', within = ''] = /^(.*)\(([^()]*)\)$/su.exec(text) ?? [];
  const [name, inner] = [before.trimEnd(), within.trim()];
  if (name !== '' && inner.length <= 16 && isUnit(inner)) return { name, unit: readUnit(inner) };
  return { name: text, unit: null };
}

/** A unit as written in brackets or in a line of units; null for none (`-`, blank). */
export function readUnit(text: string): string | null {
  const trimmed = text.trim();
  const unit = startOf(/^[[(].*[\])]$/.test(trimmed) ? trimmed.slice(1, -1).trim() : trimmed, 24);
  return unit === '' || /^[-–—]+$/.test(unit) ? null : unit;
}

function isUnit(text: string): boolean {
  if (noUnits.has(text.toLowerCase()) || /\s/.test(text) || /^\d+$/.test(text)) return false;
  return /^\p{L}{1,5}$/u.test(text) || /[^\p{L}]/u.test(text) || longUnits.test(text);
}
