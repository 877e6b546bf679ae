/** What the sidebar shows, and which features are switched on (contract: Dashboard support; decisions 12). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { type NavigationSection, navigationFor, staticSections } from '../../domain/access/navigation.ts';
import { dashboardUrl } from '../../domain/dashboard-url.ts';
import { listConfiguration } from '../../store/administration/configuration.ts';
import type { Database } from '../../store/connection/database.ts';
import { listStaticLinks } from '../../store/dashboards/statics.ts';
import { defineRoute } from '../route.ts';

const tags = ['Dashboards'] as const;
const featurePrefix = 'Features:';
const maxFeatures = 100;

const sectionsSchema = z
  .object({
    sections: z.array(
      z.object({
        title: z.string(),
        code: z.string(),
        order: z.int(),
        items: z.array(
          z.object({
            title: z.string(),
            icon: z.string(),
            url: z.string().meta({ description: 'Path in the console.' }),
            order: z.int(),
            code: z.string(),
          }),
        ),
      }),
    ),
  })
  .meta({
    id: 'NavigationSections',
    example: {
      sections: [
        {
          title: 'Sessions',
          code: 'sessions',
          order: 10,
          items: [{ title: 'Sessions', icon: 'sessions', url: '/sessions', order: 10, code: 'sessions' }],
        },
      ],
    },
  });

async function linkedStatics(database: Database): Promise<NavigationSection[]> {
  const links = await listStaticLinks(database);
  return staticSections(links.map((link) => ({ ...link, url: dashboardUrl(link.dimensionId) })));
}

const statics = defineRoute({
  id: 'getStaticNavigation',
  method: 'GET',
  path: '/api/v2/dashboard/statics/nav',
  summary: 'Lists links to system dashboards',
  description:
    'Only global ones (`scopeKind` 0) with at least one instance that has a dashboard of version `next`.',
  tags,
  access: access.dashboardRead,
  responses: { 200: { description: 'The links by section.', schema: sectionsSchema } },
  async handler({ services }) {
    return { status: 200, body: { sections: await linkedStatics(services.database) } };
  },
});

const navigation = defineRoute({
  id: 'getNavigation',
  method: 'GET',
  path: '/api/v2/dashboard/navigation',
  summary: 'Lists the sections of the sidebar for the caller’s role',
  description: 'Developers also get the links to system dashboards, after the sections.',
  tags,
  access: access.dashboardRead,
  responses: { 200: { description: 'The sections in order.', schema: sectionsSchema } },
  async handler({ principal, services }) {
    const links = principal.role === 'Developer' ? await linkedStatics(services.database) : [];
    return { status: 200, body: { sections: [...navigationFor(principal.role), ...links] } };
  },
});

const featureFlags = defineRoute({
  id: 'getFeatureFlags',
  method: 'GET',
  path: '/api/v2/dashboard/feature-flags',
  summary: 'Returns which features are enabled',
  description:
    `A feature is the configuration entry \`${featurePrefix}<name>\` of type bool. A name without an entry is disabled. ` +
    'Without names, all features of the configuration are returned.',
  tags,
  access: access.dashboardRead,
  query: z.object({
    features: z
      .string()
      .default('')
      .transform((text) =>
        [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== ''),
      )
      .refine((names) => names.length <= maxFeatures, {
        error: `features must name at most ${maxFeatures} features.`,
      })
      .meta({ type: 'string', description: 'Names, separated by commas.', example: 'compare,reports' }),
  }),
  responses: {
    200: {
      description: 'Map of feature name to flag.',
      schema: z
        // Names are data: the schema of a record would treat some of them specially.
        .custom<Readonly<Record<string, boolean>>>((value) => typeof value === 'object' && value !== null)
        .meta({
          id: 'FeatureFlags',
          type: 'object',
          additionalProperties: { type: 'boolean' },
          example: { compare: true, reports: false },
        }),
    },
  },
  async handler({ query, services }) {
    const entries = await listConfiguration(services.database, featurePrefix);
    const flags = new Map(
      entries
        .filter(({ valueType }) => valueType === 3)
        .map(({ name, value }) => [name.slice(featurePrefix.length), value.toLowerCase() === 'true']),
    );
    const names = query.features.length > 0 ? query.features : [...flags.keys()];
    return { status: 200, body: Object.fromEntries(names.map((name) => [name, flags.get(name) ?? false])) };
  },
});

export const navigationRoutes = [statics, navigation, featureFlags];
