import { formatDateTime } from '../format.ts';

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?$/;

/** A cell of a report as a page shows it: a time as all times, anything else as it is. */
export const cellText = (text: string) => (moment.test(text) ? formatDateTime(text) : text);
