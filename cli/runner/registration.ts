/** What `sdp runner dev` has on the platform: manifest, session template and a session, under the author's names. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '../../client/errors.ts';
import type { Session } from '../../client/types.ts';
import { parseDocument, readDocument } from '../cli.ts';
import type { PlatformClient } from '../platform-client.ts';
import { nameOfChanged, namesOf, ownManifest, ownSessionTemplate } from './own-names.ts';

const withdrawMs = 10_000;

/** What is published now. */
export interface Registered {
  readonly runnerTypes: readonly string[];
  readonly nodeTemplates: readonly string[];
  /** Null without a session-template.json. */
  readonly sessionTemplate: { readonly id: number; readonly name: string } | null;
  readonly warnings: readonly string[];
}

export class Registration {
  readonly #platform: PlatformClient;
  readonly #folder: string;
  readonly #suffix: string;
  #published: object | undefined;

  constructor(platform: PlatformClient, folder: string, suffix: string) {
    this.#platform = platform;
    this.#folder = folder;
    this.#suffix = suffix;
  }

  /** @throws ApiError with the faults of a document; Error when a file is missing or no JSON */
  async publish(): Promise<Registered> {
    const manifest = await this.#read('manifest.json');
    const own = ownManifest(manifest, this.#suffix);
    const document = JSON.stringify(own);
    const reply = await this.#platform.call('POST /api/v2/admin/runner-manifests', { document });
    this.#published = own as object;
    const warnings = reply.warnings.filter(({ path }) => path !== '$.feature.version');
    return {
      runnerTypes: namesOf(own, 'runnerTypes'),
      nodeTemplates: namesOf(own, 'nodeTemplates'),
      sessionTemplate: await this.#importTemplate(manifest),
      warnings: warnings.map(({ path, message }) => `${path}: ${message}`),
    };
  }

  /** The document that retires the node templates; undefined before they are published. */
  get withdrawal(): string | undefined {
    if (namesOf(this.#published, 'nodeTemplates').length === 0) return undefined;
    return JSON.stringify({ ...this.#published, nodeTemplates: [] });
  }

  /** Retires the node templates: no new session template can use them. Sessions that have them stay. */
  async withdraw(): Promise<readonly string[]> {
    const names = namesOf(this.#published, 'nodeTemplates');
    const document = this.withdrawal;
    if (document === undefined) return names;
    const signal = AbortSignal.timeout(withdrawMs);
    await this.#platform.call('POST /api/v2/admin/runner-manifests', { document, signal });
    return names;
  }

  async makeSession(template: { readonly id: number }, projectTitle: string): Promise<Session> {
    const projects = await this.#platform.call('GET /projects');
    const project =
      projects.find(({ title }) => title === projectTitle) ??
      (await this.#platform.call('POST /projects', { body: { Title: projectTitle } }));
    const body = { ProjectId: project.id, SessionTemplateId: template.id };
    return await this.#platform.call('POST /session', { body });
  }

  async #importTemplate(manifest: unknown): Promise<Registered['sessionTemplate']> {
    const file = 'session-template.json';
    if (!existsSync(join(this.#folder, file))) return null;
    const template = ownSessionTemplate(await this.#read(file), manifest, this.#suffix);
    const send = async (value: unknown) =>
      await this.#platform.call('POST /api/v2/admin/session-templates', { document: JSON.stringify(value) });
    try {
      return await send(template);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409 || error.retryAfterMs !== null) throw error;
      return await send(nameOfChanged(template));
    }
  }

  async #read(file: string): Promise<unknown> {
    return parseDocument(await readDocument(join(this.#folder, file)), file);
  }
}
