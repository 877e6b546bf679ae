/** Statistics and elapsed times as people read them. Pure: tested without a browser. */
import { formatValue } from '../format.ts';

/**
 * The mean, or 0 where it is no more than the rounding error of the sum: 1.4e-14 for values up to 40.
 * @param greatest the greatest size of the values
 */
export const withoutNoise = (mean: number, greatest: number) => (Math.abs(mean) < 1e-9 * greatest ? 0 : mean);

/** Enough to read; with more of them the extremes beside it would need a second line. */
const meanDigits = 4;

/** A mean with as few digits as leave it between the least and the greatest value: `1,013.3`, not 1,013 below 1,013.2. */
export function formatMean(mean: number, lowest: number, highest: number): string {
  const rounded = [meanDigits, meanDigits + 1].map((digits) => Number(mean.toPrecision(digits)));
  return formatValue(rounded.find((value) => value >= lowest && value <= highest) ?? mean);
}

/** A part, 0 to 1: only nothing is 0 %, and only everything is 100 %. */
export function formatShare(share: number): string {
  if (share > 0 && share < 0.01) return 'under 1 %';
  return share > 0.99 && share < 1 ? 'over 99 %' : `${Math.round(share * 100)} %`;
}

/** Time since a start as `m:ss`, `h:mm:ss` or `2 d 03:04:05`; decimals as fine as `stepMs` asks for. */
export function formatElapsed(ms: number, stepMs: number): string {
  const decimals = stepMs >= 1000 ? 0 : stepMs >= 100 ? 1 : stepMs >= 10 ? 2 : 3;
  const unit = 10 ** (3 - decimals);
  const rounded = Math.round(Math.abs(ms) / unit) * unit;
  const sign = ms < 0 && rounded > 0 ? '−' : '';
  const days = Math.floor(rounded / 86_400_000);
  const hours = Math.floor((rounded % 86_400_000) / 3_600_000);
  const minutes = Math.floor((rounded % 3_600_000) / 60_000);
  const seconds = ((rounded % 60_000) / 1000)
    .toFixed(decimals)
    .padStart(decimals === 0 ? 2 : 3 + decimals, '0');
  const pad = (value: number) => String(value).padStart(2, '0');
  if (days > 0) return `${sign}${days} d ${pad(hours)}:${pad(minutes)}:${seconds}`;
  if (hours > 0) return `${sign}${hours}:${pad(minutes)}:${seconds}`;
  return `${sign}${minutes}:${seconds}`;
}
