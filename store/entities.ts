/** All entities, named one by one: nothing is discovered by folder. */
import { PlatformUser } from './entities/platform-user.ts';
import { Project } from './entities/project.ts';

export const entities = [PlatformUser, Project];
