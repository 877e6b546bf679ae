import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** They take a minute and more: begun last, one of them would run alone at the end. */
const longest = [
  'faults/fault-kinds',
  'faults/processes/resumable-uploads',
  'faults/processes/resumable-ingests',
  'faults/failpoints',
  'python/package',
  'sdk/cpp-example',
  'docs/commands',
  'api/generated/generated',
  'cli/watch-folder-trouble',
  'api/series/vega',
  'workflows/session-run',
  'conformance/cpp-example',
  'scale/several',
  'web/appearance',
  'conformance/examples',
  'conformance/made-runners',
  'activities/infrastructure',
  'cli/operating',
  'privacy/canaries',
  'workflows/shared-session-window',
];

/** The longest files first, on a fresh clone too, which knows no times of an earlier run; the others in vitest's order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const index = longest.findIndex((file) => moduleId.endsWith(`/test/${file}.test.ts`));
      return index < 0 ? longest.length : index;
    };
    return (await super.sort(files)).sort((one, other) => place(one) - place(other));
  }
}
