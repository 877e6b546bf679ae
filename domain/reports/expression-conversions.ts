/** Conversions that CEL has and the engine lacks: of times and durations, and of unsigned integers. */
import type { Environment } from '@marcbachmann/cel-js';
import type { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';

const time = 'google.protobuf.Timestamp';
const duration = 'google.protobuf.Duration';
const nanosOfSecond = 1_000_000_000n;

export function registerConversions(environment: Environment): void {
  environment.registerFunction(`timestamp(${time}): ${time}`, (value: Date) => value);
  environment.registerFunction(`duration(${duration}): ${duration}`, (value: Duration) => value);
  environment.registerFunction(`string(${time}): string`, timeText);
  environment.registerFunction(`string(${duration}): string`, durationText);
  environment.registerFunction(`int(${time}): int`, (value: Date) =>
    BigInt(Math.floor(value.getTime() / 1000)),
  );
  environment.registerFunction('int(uint): int', ({ value }: UnsignedInt) => value);
}

/** RFC 3339, with as many decimals of the second as it has. */
const timeText = (value: Date) => value.toISOString().replace(/\.?0+Z$/, 'Z');

/** Its seconds, with as many decimals as it has: `5405.5s`. */
export function durationText({ seconds, nanos }: Duration): string {
  const all = seconds * nanosOfSecond + BigInt(nanos);
  const size = all < 0n ? -all : all;
  const decimals = String(size % nanosOfSecond)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${all < 0n ? '-' : ''}${size / nanosOfSecond}${decimals === '' ? '' : `.${decimals}`}s`;
}
