/** What resumable uploads to a node and those to a managed ingest have in common as routes. */
import type { z } from 'zod';
import { tusVersion } from '../../domain/outputs/tus.ts';
import type { Services } from '../services.ts';
import { supported } from './present.ts';
import { offsetHeaders, supportedHeaders } from './schema.ts';

/** In every reply. */
export const replyHeaders = { 'tus-resumable': tusVersion } as const;

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
  const ofPieces = {
    body: 'stream',
    share,
    audit: { notHere: `When the last byte is stored, the audit shows ${audited}.` },
  } as const;
  const progress = { ...offsetHeaders, ...endHeaders };
  return {
    discover: {
      method: 'OPTIONS',
      path: paths.list,
      summary: 'What the server supports of tus',
      params: params.list,
      audit: { notHere: 'Changes nothing.' },
      responses: { 204: { description: 'In the headers.', headers: supportedHeaders } },
      handler: ({ services }: { readonly services: Services }) =>
        ({ status: 204, headers: supported(services) }) as const,
    },
    create: {
      ...ofPieces,
      method: 'POST',
      path: paths.list,
      summary: `Begins a resumable upload${target}`,
      idempotent: 'plain',
      params: params.list,
      headers: headers.creation,
      responses: {
        201: {
          description: 'Begun. When the body was all of it, the upload is finished as by its last piece.',
          headers: { location: 'Address of the upload.', ...progress },
        },
      },
    },
    proceed: {
      ...ofPieces,
      method: 'PATCH',
      path: paths.one,
      summary: `Sends the next piece of a resumable upload${target}`,
      params: params.one,
      headers: headers.piece,
      traced: false,
      responses: { 204: { description: 'Stored.', headers: progress } },
    },
    read: {
      method: 'GET',
      path: paths.one,
      summary: `How far a resumable upload${target} is`,
      params: params.one,
      headers: headers.question,
      responses: {
        200: {
          description: 'The upload.',
          schema: uploadSchema,
          headers: { 'upload-length': 'Bytes of the whole upload.', ...progress },
        },
      },
    },
    remove: {
      method: 'DELETE',
      path: paths.one,
      summary: `Gives a resumable upload${target} up`,
      description: 'A piece that is still open ends. An upload that has become an output is refused.',
      audit: { notHere: 'No output is touched.' },
      params: params.one,
      headers: headers.question,
      responses: { 204: { description: 'Its bytes are removed.' } },
    },
  } as const;
}
