import * as z from 'zod';
import { ARTIFACT_LIMITS, type ArtifactsSpec } from '../domain/artifacts.ts';
import { size } from './environment-schema.ts';
import { count, name, object } from './shapes.ts';

const paths = z.array(name).min(1).describe('Globs of files in the working directory.');

/** Files of the agent that are kept with its attempt. */
export const artifactsSchema = z
  .union([
    paths,
    object({
      paths,
      maxFiles: count.max(10_000).default(ARTIFACT_LIMITS.maxFiles),
      maxBytes: size.prefault('256m').describe('Of all together, such as 64m.'),
    }),
  ])
  .describe(
    'Kept when the agent has ended; with evaluation fresh a grader gets them. Unless given: none, with fresh all.',
  );

export type ArtifactsEntry = z.output<typeof artifactsSchema>;

export const toArtifacts = (given: ArtifactsEntry): ArtifactsSpec =>
  'paths' in given ? given : { paths: given, ...ARTIFACT_LIMITS };
