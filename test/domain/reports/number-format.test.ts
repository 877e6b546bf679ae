import { expect, test } from 'vitest';
import { numberFormatFault } from '../../../domain/reports/number-format.ts';

test('every kind of Excel number format is accepted', () => {
  for (const format of [
    '',
    'General',
    '0.00',
    '#,##0.00;[Red]-#,##0.00;"none";@',
    '0.0 "km/h"',
    '0.0\\m',
    '# ?/16',
    '0%',
    '0.00E+00',
    '[>=1000]0.0,"k";0',
    '_-* #,##0.00 €_-',
    '[$€-407] #,##0',
    '[Color 12]0.0°',
    'yyyy-mm-dd hh:mm:ss.000',
    'dd/mm/yyyy h:mm AM/PM',
    'yyyy-mm-dd"T"hh:mm',
    '[h]:mm:ss',
    '[mm]:ss.0',
    'dddd, d. mmmm yyyy;@',
  ])
    expect([format, numberFormatFault(format)]).toEqual([format, undefined]);
});

test('a format that Excel would take out of the file is refused with its position', () => {
  const quotes = 'text stands in double quotes';
  for (const [format, position, reason] of [
    ['0.0 km/h', 4, `'k' is not part of a format; ${quotes}`],
    ['%.2f', 3, `'f' is not part of a format; ${quotes}`],
    ['0.00 m', 5, `'m' mixes a time with digits; ${quotes}`],
    ['hh:mm 00', 6, `'0' mixes a time with digits; ${quotes}`],
    ['0.0 "km', 4, 'the double quote is not closed'],
    ['[[[', 0, 'the square bracket holds no colour, condition, currency or elapsed time'],
    ['[pink]0', 0, 'the square bracket holds no colour, condition, currency or elapsed time'],
    ['0]', 1, `']' is not part of a format; ${quotes}`],
    ['0\\', 1, `'\\' is not part of a format; ${quotes}`],
    ['0;0;0;@;0', 7, 'a format has at most four sections'],
  ] as const)
    expect([format, numberFormatFault(format)]).toEqual([format, { position, reason }]);
});
