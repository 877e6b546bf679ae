/** What an operator reads when a server cannot start. */
import { SettingsError } from '../../domain/settings.ts';
import { MetricsPortTaken } from '../../telemetry/server.ts';

/** A sentence where the cause is known, else the error with its stack. */
export function startFailure(error: unknown): unknown {
  const { code, port } = error as { readonly code?: string; readonly port?: number };
  if (code === 'EADDRINUSE') return `PORT: ${port} is in use by another program.`;
  return error instanceof SettingsError || error instanceof MetricsPortTaken ? error.message : error;
}
