import type { Chapters } from './chapter.ts';
import { claimsChapters } from './claims.ts';
import { endsChapters } from './ends.ts';
import { inputsChapters } from './inputs.ts';
import { outputsChapters } from './outputs.ts';

export const chapters: Chapters = {
  ...claimsChapters,
  ...inputsChapters,
  ...outputsChapters,
  ...endsChapters,
};
