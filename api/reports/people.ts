import type { ReportPeople } from '../../store/reports/rows.ts';
import { presentMember } from '../dashboards/catalog.ts';
import { peopleOf } from '../identity/participants.ts';

/** People as the caller may see them. */
export function reportPeople(context: Parameters<typeof peopleOf>[0]): ReportPeople {
  const people = peopleOf(context);
  return {
    async shown(identifiers) {
      await people.prefetch(identifiers);
      const members = await Promise.all(Array.from(identifiers, (id) => presentMember(id, people)));
      return new Map(members.map((member) => [member.id, member]));
    },
  };
}
