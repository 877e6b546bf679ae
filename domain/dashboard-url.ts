/** The path of a dashboard in the console. */
export const dashboardUrl = (dimensionId: number): string => `/dashboards/${dimensionId}`;
