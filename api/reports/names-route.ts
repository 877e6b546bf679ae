/** What expressions of reports can name: for people who write them, and for columns that are ticked. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { limits } from '../../domain/limits.ts';
import { channelFields, channelTable } from '../../domain/reports/channel-use.ts';
import { reportFunctions } from '../../domain/reports/report-expression.ts';
import { annotationFields, annotationList, reportFields } from '../../domain/reports/report-names.ts';
import { channelNames } from '../../store/reports/channels.ts';
import { defineRoute } from '../route.ts';

const namesSchema = z
  .object({
    sources: z.array(
      z.object({
        name: z.string(),
        fields: z
          .array(z.string())
          .nullable()
          .meta({ description: 'Null: any name. Of `annotations`, the fields of each.' }),
      }),
    ),
    functions: z
      .array(z.string())
      .meta({ description: '`size(` is called with a value, `.size(` behind one.' }),
    channels: z.array(z.object({ name: z.string(), unit: z.string().nullable(), dashboards: z.int() })).meta({
      description: `At most ${limits.reportChannelNames} channels of the newest ${limits.reportNameDashboards} dashboards, the most frequent first, with the number of dashboards.`,
    }),
    channelFields: z.array(z.string()),
  })
  .meta({
    id: 'ReportNames',
    example: {
      sources: [
        { name: 'dashboard', fields: ['id', 'name', 'version', 'url'] },
        { name: 'metadata', fields: null },
      ],
      functions: ['.size(', 'size('],
      channels: [{ name: 'speed', unit: 'km/h', dashboards: 12 }],
      channelFields: [...channelFields],
    },
  });

const sources = [
  ...Object.entries(reportFields).map(([name, fields]) => ({ name, fields: fields && [...fields] })),
  { name: annotationList, fields: [...annotationFields] },
  { name: channelTable, fields: null },
];

export const namesRoute = defineRoute({
  id: 'listReportNames',
  method: 'GET',
  path: '/api/v2/dashboard/report-names',
  summary: 'Lists the names that expressions of reports know',
  description:
    'Sources with their fields, functions, and channels of the newest dashboards. `/api/v2/session/metadata-keys` lists ' +
    'the paths of metadata.',
  tags: ['Reports'],
  access: access.reportRead,
  responses: { 200: { description: 'The names.', schema: namesSchema } },
  async handler({ services }) {
    const channels = await channelNames(services.reports);
    return {
      status: 200,
      body: { sources, functions: [...reportFunctions()], channels, channelFields: [...channelFields] },
    };
  },
});
