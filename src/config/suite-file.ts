import * as z from 'zod';
import { amount, attemptLimits, jsonObject, name, object, scorerEntry, text } from './shapes.ts';

/** Text whose author need not write quotes: what was written is kept, so `007` stays `007`. */
const looseText = z.union([z.string(), z.number().transform(String), z.boolean().transform(String)]);

const message = object({ role: z.enum(['system', 'user', 'assistant']), content: text });
const messages = z.array(message).min(1);

const targetValue = z.union([z.string(), z.number(), z.boolean(), z.record(z.string(), z.unknown())]);

const caseFile = z.union([text, object({ path: name })]);

/** Fields that `defaults` may give for all cases. */
const sharedShape = {
  system: text.optional(),
  choices: z.array(looseText).min(2).optional(),
  tags: z.array(looseText).optional(),
  weight: amount.optional().describe('At least 0; 1 unless given.'),
  cluster: looseText.optional().describe('Cases that are not independent of each other share one.'),
  files: z
    .record(z.string(), caseFile)
    .optional()
    .describe('Path in the session: text, or { path } beside the suite.'),
  setup: text.optional().describe('Shell text, run before the agent starts.'),
  scorers: z.array(scorerEntry).min(1).optional(),
  limits: attemptLimits.optional(),
  metadata: jsonObject.optional(),
  vars: z.record(z.string(), z.unknown()).optional().describe('Values for the {{names}} of the prompt.'),
};

export const caseSchema = object({
  id: looseText.optional().describe('Unique; the position in the suite, from 1, unless given.'),
  input: z.union([text, messages]).optional(),
  target: z
    .union([targetValue, z.null(), z.array(targetValue)])
    .optional()
    .describe('The hidden answer; a list = any of them; null and [] = no target.'),
  ...sharedShape,
  skip: z.boolean().optional(),
});

export const defaultsSchema = object(sharedShape);

const headShape = {
  $schema: z.string().optional(),
  name: name.optional().describe('The name of the file unless given.'),
  version: looseText.nullable().optional(),
  prompt: z
    .union([text, messages])
    .optional()
    .describe('Template with {{names}}, filled from the vars of a case.'),
  defaults: defaultsSchema.optional(),
  scorers: z.array(scorerEntry).min(1).optional(),
};

/** A suite file; `cases` holds cases, paths and globs in any mixture. */
export const suiteFileSchema = object({
  ...headShape,
  cases: z.union([name, z.array(z.union([name, caseSchema]))]),
});

/** A suite file whose cases are checked one by one. */
export const suiteHeadSchema = object({ ...headShape, cases: z.union([name, z.array(z.unknown())]) });

export type CaseEntry = z.output<typeof caseSchema>;
export type SuiteHead = z.output<typeof suiteHeadSchema>;
export type CaseDefaults = z.output<typeof defaultsSchema>;
