import { useAuth } from './hooks.ts';

/** What a person may do, by their role: controls that would be refused are not shown. The platform decides. */
export interface Abilities {
  /** Lists and queries all sessions. */
  listSessions: boolean;
  /** Makes and changes projects. */
  changeProjects: boolean;
  /** Sees, retries and cancels the runs of nodes, and reprocesses. */
  operate: boolean;
  freeze: boolean;
  readReports: boolean;
  writeReports: boolean;
  administrate: boolean;
}

export function abilitiesOf(role: string): Abilities {
  const operate = role === 'Administrator' || role === 'Developer';
  const isStaff = operate || role === 'Instructor';
  return {
    listSessions: isStaff,
    changeProjects: isStaff,
    operate,
    freeze: isStaff,
    readReports: isStaff,
    writeReports: operate,
    administrate: role === 'Administrator',
  };
}

export function useAbilities(): Abilities {
  return abilitiesOf(useAuth().signIn?.user.role ?? '');
}
