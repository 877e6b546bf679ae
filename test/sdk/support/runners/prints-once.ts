/** Prints one line in each task. */
import { defineRunner } from '../../../../sdk/index.ts';

export default defineRunner({
  templates: ['contract'],
  run() {
    console.log('printed by a deployed runner');
  },
});
