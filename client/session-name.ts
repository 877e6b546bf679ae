const maxTemplatePart = 200;

/**
 * The name of a session that was given none: `Lap analysis, 14 Mar 2026, 09:30`.
 * @param template as the program shows it
 * @param time when it is made, as the program shows times
 */
export const defaultSessionName = (template: string, time: string) =>
  `${template.slice(0, maxTemplatePart)}, ${time}`;
