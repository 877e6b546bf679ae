/** Forms of dates and times that DuckDB's own cast does not read, in the order in which they are preferred. */

const slashed = ['%Y/%m/%d', '%m/%d/%Y', '%d/%m/%Y', '%m/%d/%y', '%d/%m/%y'];
const pointed = ['%d.%m.%Y', '%d.%m.%y', '%Y.%m.%d'];
const dashed = ['%d-%m-%Y', '%m-%d-%Y', '%d-%b-%Y', '%d-%b-%y'];
const worded = ['%b %d %Y', '%b %d, %Y', '%d %b %Y', '%B %d %Y', '%B %d, %Y', '%d %B %Y'];
const clocks = [
  ' %H:%M:%S.%f',
  ' %H:%M:%S,%f',
  ' %H:%M:%S',
  ' %H:%M',
  ' %I:%M:%S.%f %p',
  ' %I:%M:%S %p',
  ' %I:%M %p',
  ', %H:%M:%S',
  ', %H:%M',
  '',
];

export const timeFormats: readonly string[] = [
  ...[...slashed, ...pointed, ...dashed, ...worded].flatMap((date) =>
    clocks.map((clock) => `${date}${clock}`),
  ),
  '%Y%m%dT%H%M%SZ',
  '%Y%m%dT%H%M%S',
  '%Y%m%d %H:%M:%S.%f',
  '%Y%m%d %H:%M:%S',
  '%Y-%m-%d %H:%M:%S,%f',
  '%Y-%m-%dT%H:%M:%S,%f',
  '%Y-%m-%dT%H:%M:%S,%fZ',
  '%Y-%m-%dT%H:%M',
  '%Y-%m-%dT%H:%MZ',
  '%Y-%m-%d %I:%M:%S %p',
  '%Y-%m-%d %H:%M:%S %z',
  '%Y-%m-%d %H:%M:%S.%f %z',
  '%a, %d %b %Y %H:%M:%S GMT',
  '%a, %d %b %Y %H:%M:%S %z',
  '%a %b %d %H:%M:%S %Y',
  '%b %Y',
  '%B %Y',
  '%Y-%m',
];

/** True when texts may be times: a cheap check before each form is tried. */
export function candidateTimes(values: readonly (string | null)[]): boolean {
  const step = Math.max(1, Math.floor(values.length / 20));
  for (let i = 0; i < values.length; i += step) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    if (value.length < 6 || value.length > 40 || !/\d/.test(value) || !/[-/.: ]|\dT\d/.test(value))
      return false;
  }
  return true;
}
