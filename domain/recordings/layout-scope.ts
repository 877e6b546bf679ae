/** Who sees a saved layout. A dashboard opens with the first that fits: mine, template, project, everyone. */
export const layoutScopes = ['mine', 'template', 'project', 'everyone'] as const;
export type LayoutScope = (typeof layoutScopes)[number];
