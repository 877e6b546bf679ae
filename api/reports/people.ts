import type { ReportPeople } from '../../store/reports/rows.ts';
import { presentMember } from '../dashboards/catalog.ts';
import { peopleOf } from '../identity/participants.ts';

/** People as the caller may see them. */
export function reportPeople(context: Parameters<typeof peopleOf>[0]): ReportPeople {
  const people = peopleOf(context);
  return {
    prefetch: (identifiers) => people.prefetch(identifiers),
    show: (identifier) => presentMember(identifier, people),
  };
}
