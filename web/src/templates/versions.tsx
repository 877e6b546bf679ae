import { formatExactly, plural } from '../format.ts';
import { Ago } from '../ui/ago.tsx';
import { Paging } from '../ui/paging.tsx';
import { figureColumn, Table } from '../ui/table.tsx';
import { templateAddress } from './address.ts';
import type { SessionTemplateVersions } from './api.ts';

const columns = ['Version', 'Label', 'Created by', 'Created', figureColumn('Nodes'), 'Description'];

/** The versions, newest first: each opens what it changed. */
export function VersionTable(props: {
  templateId: number;
  list: SessionTemplateVersions;
  /** The version whose changes are shown. */
  shown: number;
  onPage: (page: number) => void;
}) {
  const { list, templateId } = props;
  return (
    <>
      <Table caption="Versions" columns={columns}>
        {list.versions.map(({ version, templateVersion, createdBy, createdAt, nodes, description }) => (
          <tr key={version} class={version === props.shown ? 'row-chosen' : ''}>
            <td class="nowrap">
              <a
                class="row-link"
                title={`Created ${formatExactly(createdAt)}`}
                href={templateAddress(templateId, { version, since: null, sinceTemplateId: null })}
                {...(version === props.shown ? { 'aria-current': 'true' } : {})}
              >
                Version {version}
              </a>
            </td>
            <td data-label="Label" class="wrap-anywhere">
              {templateVersion}
            </td>
            <td data-label="Created by">
              {createdBy === null ? 'the platform' : (createdBy.name ?? 'another person')}
            </td>
            <td data-label="Created" class="nowrap">
              <Ago at={createdAt} />
            </td>
            <td data-label="Nodes" class="figure">
              {nodes}
            </td>
            <td data-label="Description" class="wrap-anywhere">
              {description}
            </td>
          </tr>
        ))}
      </Table>
      <Paging
        page={list.page}
        totalPages={Math.max(1, list.totalPages)}
        summary={plural(list.totalCount, 'version', 'versions')}
        onPage={props.onPage}
      />
    </>
  );
}
