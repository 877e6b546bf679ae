import { Problem, type ProblemKey } from '../../domain/errors.ts';
import type { WriteRefusal } from '../../store/runs/write-task.ts';

const problems: Readonly<Record<WriteRefusal, ProblemKey>> = {
  'task-not-found': 'taskNotFound',
  'upload-not-found': 'uploadNotFound',
  'watermark-regression': 'watermarkRegression',
  'watermark-unknown-input': 'watermarkUnknownInput',
};

/** The problem to answer when the store refused a write. */
export function writeProblem(why: WriteRefusal): Problem {
  return new Problem(problems[why]);
}
