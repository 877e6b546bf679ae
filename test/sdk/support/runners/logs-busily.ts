/** Prints a line every `LINES_MS` and blocks the event loop. */
import { writeSync } from 'node:fs';
import { defineRunner } from '../../../../sdk/index.ts';

export default defineRunner({
  templates: ['contract'],
  run(task) {
    for (let line = 1; ; line += 1) {
      const untilMs = performance.now() + Number(process.env.LINES_MS);
      while (performance.now() < untilMs);
      task.log.info(`line ${line}`);
      // To the file that the test counts, also when this process is killed.
      writeSync(1, `line ${line}\n`);
    }
  },
});
