import { formatDateTime, formatExactly } from '../format.ts';

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?$/;

/** A cell of a report as a page shows it: a time with its seconds and its zone, if it has one, anything else as it is. */
export const cellText = (text: string) =>
  moment.test(text) ? (text.endsWith('Z') ? formatExactly(text) : formatDateTime(text)) : text;
