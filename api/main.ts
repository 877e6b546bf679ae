/** The API process: platform interface, authentication service (unless it stands alone) and web console. */
import { SettingsError } from '../domain/settings.ts';
import { compose } from './compose.ts';
import { startApi } from './start.ts';

try {
  const composed = await compose(process.env);
  const { log } = composed.services;
  const running = await startApi(composed);
  log.info({ port: running.port }, 'listening');
  const stop = async () => {
    log.info('stopping');
    await running.stop();
    await composed.close();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stop().catch((error) => {
        log.error({ err: error }, 'stop failed');
        process.exit(1);
      });
    });
  }
} catch (error) {
  console.error(error instanceof SettingsError ? error.message : error);
  process.exit(1);
}
