/** All entities, named one by one: nothing is discovered by folder. */
import { PlatformUser } from './platform-user.ts';
import { Project } from './project.ts';

export const entities = [PlatformUser, Project];
