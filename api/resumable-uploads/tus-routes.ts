/** What resumable uploads to a node and those to a managed ingest have in common as routes. */
import type { z } from 'zod';
import { tusPieceMedia, tusVersion } from '../../domain/outputs/tus.ts';
import type { Services } from '../services.ts';
import { supported } from './present.ts';
import { offsetHeaders, supportedHeaders } from './schema.ts';

/** Parts that every route has, as the core protocol requires. */
export const ofTus = { replyHeaders: { 'tus-resumable': tusVersion }, methodOverride: true } as const;

const created = 'Begun. When the body was all of it, the upload is finished as by its last piece.';
const announced = {
  'upload-length': 'Bytes of the whole upload.',
  'upload-metadata': 'As it was sent when the upload began.',
} as const;

interface TusPlace<List, One, Creation, Piece, Question, Upload, End> {
  /** Where uploads begin, and the upload itself. */
  readonly paths: { readonly list: string; readonly one: string };
  readonly params: { readonly list: List; readonly one: One };
  readonly headers: { readonly creation: Creation; readonly piece: Piece; readonly question: Question };
  readonly share: 'uploads' | 'ingests';
  /** The audited action of the last byte. */
  readonly audited: string;
  /** Ends summaries: ` to a managed ingest`. */
  readonly target: string;
  readonly uploadSchema: Upload;
  readonly endHeaders: End;
}

function discoverAt<List extends z.ZodType>(path: string, params: List) {
  return {
    method: 'OPTIONS',
    path,
    summary: 'Returns what the server supports of tus',
    params,
    audit: { notHere: 'Changes nothing.' },
    responses: { 204: { description: 'In the headers.', headers: supportedHeaders } },
    handler: ({ services }: { readonly services: Services }) =>
      ({ status: 204, headers: supported(services) }) as const,
  } as const;
}

function removeAt<One extends z.ZodType, Question extends z.ZodType>(
  path: string,
  target: string,
  params: One,
  headers: Question,
) {
  return {
    method: 'DELETE',
    path,
    summary: `Deletes an unfinished resumable upload${target}`,
    description: 'A piece that is still open ends. An upload that has become an output is refused.',
    audit: { notHere: 'No output is touched.' },
    params,
    headers,
    responses: { 204: { description: 'Its bytes are removed.' } },
  } as const;
}

/** The routes of tus at one place, without their ids, rules, refusals and handlers. */
export function tusRoutesAt<
  List extends z.ZodType,
  One extends z.ZodType,
  Creation extends z.ZodType,
  Piece extends z.ZodType,
  Question extends z.ZodType,
  Upload extends z.ZodType,
  const End extends Readonly<Record<string, string>>,
>(place: TusPlace<List, One, Creation, Piece, Question, Upload, End>) {
  const { paths, params, headers, share, audited, target, uploadSchema, endHeaders } = place;
  const audit = { notHere: `When the last byte is stored, the audit shows ${audited}.` } as const;
  const progress = { ...offsetHeaders, ...endHeaders };
  const ofUpload = { path: paths.one, params: params.one } as const;
  const ofBytes = { body: 'stream', bodyMedia: tusPieceMedia, share, audit } as const;
  return {
    discover: discoverAt(paths.list, params.list),
    create: {
      ...ofBytes,
      method: 'POST',
      path: paths.list,
      summary: `Begins a resumable upload${target}`,
      idempotent: 'plain',
      params: params.list,
      headers: headers.creation,
      responses: {
        201: { description: created, headers: { location: 'Address of the upload.', ...progress } },
      },
    },
    proceed: {
      ...ofUpload,
      ...ofBytes,
      method: 'PATCH',
      summary: `Sends the next piece of a resumable upload${target}`,
      headers: headers.piece,
      traced: false,
      responses: { 204: { description: 'Stored.', headers: progress } },
    },
    read: {
      ...ofUpload,
      method: 'GET',
      summary: `Returns how far a resumable upload${target} is`,
      headers: headers.question,
      responses: {
        200: { description: 'The upload.', schema: uploadSchema, headers: { ...announced, ...progress } },
      },
    },
    remove: removeAt(paths.one, target, params.one, headers.question),
  } as const;
}
