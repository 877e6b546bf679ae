export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Writes one line with its ids. Must not throw. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** JSON lines on standard error, from a level on. */
export function jsonLines(least: LogLevel = 'info'): Log {
  return (level, message, fields = {}) => {
    if (order.indexOf(level) < order.indexOf(least)) return;
    console.error(JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }));
  };
}
