import { useAuth } from './hooks.ts';

/** What a person may do, by their role: controls that would be refused are not shown. The platform decides. */
export interface Abilities {
  /** Lists and queries all sessions. */
  listSessions: boolean;
  /** Makes and changes projects. */
  changeProjects: boolean;
  /** Retries and cancels the runs of nodes, and reprocesses. */
  operate: boolean;
  /** Sees the runs of nodes with their logs, and the configurations of nodes, which they may change. */
  readRuns: boolean;
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
    readRuns: isStaff,
    freeze: isStaff,
    readReports: isStaff,
    writeReports: operate,
    administrate: role === 'Administrator',
  };
}

export function useAbilities(): Abilities {
  return abilitiesOf(useAuth().signIn?.user.role ?? '');
}
